// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What will happen, by time. What happens at one time is in the order of its kinds, then in that in which it was noted: a run is the same
 * every time.
 */
#ifndef MOEFABRIC_FLUID_EVENTS_H
#define MOEFABRIC_FLUID_EVENTS_H

#include <stdint.h>

/** One event; what a, b and c mean is up to the kind. */
struct event {
    uint64_t time_ps;
    uint64_t order; /**< kind in the high 8 bits, then when it was noted */
    uint32_t a, b, c;
};

/** Zero-initialise; freed by events_fini. */
struct events {
    struct event *heap;
    uint32_t count, capacity;
    uint64_t noted;
};

/** Notes an event of a kind (0 … 255). */
void events_add(struct events *events, uint64_t time_ps, unsigned kind, uint32_t a, uint32_t b, uint32_t c);

/** Removes and returns the first; there must be one. */
struct event events_take(struct events *events);

/** Time of the first, TIME_NEVER if there is none. */
static inline uint64_t events_time_ps(const struct events *events) {
    return events->count > 0 ? events->heap[0].time_ps : UINT64_MAX;
}

/** Kind of an event. */
static inline unsigned events_kind(const struct event *event) {
    return (unsigned)(event->order >> 56);
}

/** Frees what it holds. */
void events_fini(struct events *events);

#endif
