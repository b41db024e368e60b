// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Timers, of which each owner has one that it may set anew. Of those that end at one time that of the owner with the lower number is first.
 */
#ifndef MOEFABRIC_FLUID_TIMERS_H
#define MOEFABRIC_FLUID_TIMERS_H

#include <stdint.h>

/** One timer an owner, numbered from 0. Zero-initialise; freed by timers_fini. */
struct timers {
    uint64_t *times_ps; /**< [owner] TIME_NEVER: not set */
    uint32_t *heap;     /**< owners whose timer is set */
    uint32_t *places;   /**< [owner] place in the heap, plus 1; 0: none */
    uint32_t count, owners, capacity;
};

/** Makes room for so many owners in all; new ones have no timer set. */
void timers_grow(struct timers *timers, uint32_t owners);

/** Sets the timer of an owner; TIME_NEVER: takes it off. */
void timers_set(struct timers *timers, uint32_t owner, uint64_t time_ps);

/** The owner of the first timer; there must be one. */
static inline uint32_t timers_first(const struct timers *timers) {
    return timers->heap[0];
}

/** Time of the first, TIME_NEVER if none is set. */
static inline uint64_t timers_time_ps(const struct timers *timers) {
    return timers->count > 0 ? timers->times_ps[timers->heap[0]] : UINT64_MAX;
}

/** Frees what it holds. */
void timers_fini(struct timers *timers);

#endif
