// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What controllers that live on acknowledgements alone do when they are told of anything else: nothing.
 */
#ifndef MOEFABRIC_CONGESTION_UNUSED_H
#define MOEFABRIC_CONGESTION_UNUSED_H

#include "congestion/congestion.h"

/** `announced` of a controller that has no use for shares. */
static inline void unused_announced(const struct congestion_parameters *parameters, struct congestion_state *state,
                                    uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)share;
    (void)now_ps;
}

/** `notified` or `lost` of a controller that does not act on it. */
static inline void unused_told(const struct congestion_parameters *parameters, struct congestion_state *state,
                               uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)now_ps;
}

/** `trimmed` of a controller that does not act on it. */
static inline void unused_trimmed(const struct congestion_parameters *parameters, struct congestion_state *state,
                                  uint32_t in_flight, uint64_t now_ps) {
    (void)in_flight;
    unused_told(parameters, state, now_ps);
}

/** `probed` of a controller that sends no probes. */
static inline void unused_probed(const struct congestion_parameters *parameters, struct congestion_state *state,
                                 uint64_t round_trip_ps, uint64_t now_ps) {
    (void)round_trip_ps;
    unused_told(parameters, state, now_ps);
}

/** `sent` of a controller that does not count bytes. */
static inline void unused_sent(const struct congestion_parameters *parameters, struct congestion_state *state,
                               uint32_t size_bytes, uint64_t now_ps) {
    (void)size_bytes;
    unused_told(parameters, state, now_ps);
}

#endif
