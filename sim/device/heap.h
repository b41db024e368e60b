// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A small binary heap of (time, tie) keys inside one device: departures, timers, paced queue pairs.
 */
#ifndef MOEFABRIC_DEVICE_HEAP_H
#define MOEFABRIC_DEVICE_HEAP_H

#include <stdint.h>

/** One entry: handled by time, then by tie. */
struct heap_entry {
    uint64_t time_ps;
    uint64_t tie;
    uint32_t value; /**< free for the owner */
};

/** Zero-initialise; freed by heap_fini. */
struct heap {
    struct heap_entry *entries;
    uint32_t count, capacity;
};

/** Adds an entry. */
void heap_push(struct heap *heap, uint64_t time_ps, uint64_t tie, uint32_t value);

/** Removes and returns the earliest entry; the heap must not be empty. */
struct heap_entry heap_pop(struct heap *heap);

/** Frees the entries. */
void heap_fini(struct heap *heap);

/** Time of the earliest entry, UINT64_MAX if there is none. */
static inline uint64_t heap_time_ps(const struct heap *heap) {
    return heap->count ? heap->entries[0].time_ps : UINT64_MAX;
}

#endif
