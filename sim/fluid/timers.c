// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/timers.h"

#include "base/memory.h"
#include "base/rate.h"

#include <stdbool.h>
#include <stdlib.h>

void timers_grow(struct timers *timers, uint32_t owners) {
    if (owners > timers->capacity) {
        timers->capacity = owners + owners / 2;
        timers->times_ps = memory_resize(timers->times_ps, timers->capacity, sizeof(*timers->times_ps));
        timers->heap = memory_resize(timers->heap, timers->capacity, sizeof(*timers->heap));
        timers->places = memory_resize(timers->places, timers->capacity, sizeof(*timers->places));
    }
    for (; timers->owners < owners; timers->owners++) {
        timers->times_ps[timers->owners] = TIME_NEVER;
        timers->places[timers->owners] = 0;
    }
}

static bool rings_before(const struct timers *timers, uint32_t left, uint32_t right) {
    const uint64_t first_ps = timers->times_ps[left], second_ps = timers->times_ps[right];
    return first_ps != second_ps ? first_ps < second_ps : left < right;
}

static void put(struct timers *timers, uint32_t at, uint32_t owner) {
    timers->heap[at] = owner;
    timers->places[owner] = at + 1;
}

static void settle(struct timers *timers, uint32_t at, uint32_t owner) {
    while (at > 0 && rings_before(timers, owner, timers->heap[(at - 1) / 2])) {
        put(timers, at, timers->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < timers->count; child = 2 * at + 1) {
        child += child + 1 < timers->count && rings_before(timers, timers->heap[child + 1], timers->heap[child]);
        if (!rings_before(timers, timers->heap[child], owner)) {
            break;
        }
        put(timers, at, timers->heap[child]);
        at = child;
    }
    put(timers, at, owner);
}

void timers_set(struct timers *timers, uint32_t owner, uint64_t time_ps) {
    const uint32_t place = timers->places[owner];
    timers->times_ps[owner] = time_ps;
    if (time_ps != TIME_NEVER) {
        settle(timers, place > 0 ? place - 1 : timers->count++, owner);
        return;
    }
    if (place > 0) {
        timers->places[owner] = 0;
        const uint32_t last = timers->heap[--timers->count];
        if (last != owner) {
            settle(timers, place - 1, last);
        }
    }
}

void timers_fini(struct timers *timers) {
    free(timers->times_ps);
    free(timers->heap);
    free(timers->places);
    *timers = (struct timers){0};
}
