// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/heap.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct heap_entry *a, const struct heap_entry *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->tie < b->tie;
}

void heap_push(struct heap *heap, uint64_t time_ps, uint64_t tie, uint32_t value) {
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 16;
        heap->entries = memory_resize(heap->entries, heap->capacity, sizeof(*heap->entries));
    }
    const struct heap_entry entry = {.time_ps = time_ps, .tie = tie, .value = value};
    uint32_t at = heap->count++;
    while (at > 0 && before(&entry, &heap->entries[(at - 1) / 2])) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->entries[at] = entry;
}

struct heap_entry heap_pop(struct heap *heap) {
    const struct heap_entry top = heap->entries[0];
    const struct heap_entry last = heap->entries[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child])) {
            child++;
        }
        if (!before(&heap->entries[child], &last)) {
            break;
        }
        heap->entries[at] = heap->entries[child];
        at = child;
    }
    if (heap->count > 0) {
        heap->entries[at] = last;
    }
    return top;
}

void heap_fini(struct heap *heap) {
    free(heap->entries);
    *heap = (struct heap){0};
}
