// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_heap.h"

#include "base/memory.h"

#include <stdlib.h>

static bool before(const struct reference_step *a, const struct reference_step *b) {
    const uint64_t key_a[] = {a->time_ps, a->device, (uint64_t)a->phase, a->tie, a->place, a->pushed};
    const uint64_t key_b[] = {b->time_ps, b->device, (uint64_t)b->phase, b->tie, b->place, b->pushed};
    for (size_t i = 0; i < sizeof key_a / sizeof *key_a; i++) {
        if (key_a[i] != key_b[i]) {
            return key_a[i] < key_b[i];
        }
    }
    return false;
}

static void exchange(struct reference_heap *heap, size_t i, size_t j) {
    const struct reference_step step = heap->steps[i];
    heap->steps[i] = heap->steps[j];
    heap->steps[j] = step;
}

void reference_heap_push(struct reference_heap *heap, const struct reference_step *step) {
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity * 2 + 64;
        heap->steps = memory_resize(heap->steps, heap->capacity, sizeof *heap->steps);
    }
    size_t i = heap->count++;
    heap->steps[i] = *step;
    heap->steps[i].pushed = heap->pushes++;
    while (i > 0 && before(&heap->steps[i], &heap->steps[(i - 1) / 2])) {
        exchange(heap, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sink(struct reference_heap *heap) {
    size_t i = 0;
    while (2 * i + 1 < heap->count) {
        size_t child = 2 * i + 1;
        if (child + 1 < heap->count && before(&heap->steps[child + 1], &heap->steps[child])) {
            child++;
        }
        if (!before(&heap->steps[child], &heap->steps[i])) {
            return;
        }
        exchange(heap, i, child);
        i = child;
    }
}

bool reference_heap_pop(struct reference_heap *heap, struct reference_step *step) {
    if (heap->count == 0) {
        return false;
    }
    *step = heap->steps[0];
    heap->steps[0] = heap->steps[--heap->count];
    sink(heap);
    return true;
}

void reference_heap_free(struct reference_heap *heap) {
    free(heap->steps);
    *heap = (struct reference_heap){0};
}
