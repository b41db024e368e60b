// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/events.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static bool happens_before(const struct event *left, const struct event *right) {
    return left->time_ps != right->time_ps ? left->time_ps < right->time_ps : left->order < right->order;
}

void events_add(struct events *events, uint64_t time_ps, unsigned kind, uint32_t a, uint32_t b, uint32_t c) {
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? 2 * events->capacity : 1024;
        events->heap = memory_resize(events->heap, events->capacity, sizeof(*events->heap));
    }
    const struct event event = {
        .time_ps = time_ps, .order = (uint64_t)kind << 56 | events->noted++, .a = a, .b = b, .c = c};
    uint32_t at = events->count++;
    while (at > 0 && happens_before(&event, &events->heap[(at - 1) / 2])) {
        events->heap[at] = events->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    events->heap[at] = event;
}

struct event events_take(struct events *events) {
    REQUIRE(events->count > 0, "no event is left");
    const struct event first = events->heap[0], moved = events->heap[--events->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < events->count; child = 2 * at + 1) {
        child += child + 1 < events->count && happens_before(&events->heap[child + 1], &events->heap[child]);
        if (!happens_before(&events->heap[child], &moved)) {
            break;
        }
        events->heap[at] = events->heap[child];
        at = child;
    }
    events->heap[at] = moved;
    return first;
}

void events_fini(struct events *events) {
    free(events->heap);
    *events = (struct events){0};
}
