// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One queue pair whose controller lives on acknowledgements, stepped by hand.
 */
#ifndef MOEFABRIC_TESTS_CONGESTION_ACKNOWLEDGE_H
#define MOEFABRIC_TESTS_CONGESTION_ACKNOWLEDGE_H

#include "congestion/congestion.h"

/** A queue pair and its clock. */
struct acknowledge_pair {
    const struct congestion_controller *controller;
    const struct congestion_parameters *parameters;
    struct congestion_state state;
    uint64_t now_ps;
    uint32_t cumulative;
};

/** Starts a controller on a way, at 1 us. */
static inline struct acknowledge_pair acknowledge_start(const struct congestion_parameters *parameters,
                                                        const struct congestion_way *way) {
    struct acknowledge_pair pair = {
        .controller = congestion_controller_of(parameters->kind), .parameters = parameters, .now_ps = 1000000};
    pair.controller->start(parameters, &pair.state, way->line_bits_per_s, 0, pair.now_ps);
    pair.controller->placed(parameters, &pair.state, way);
    return pair;
}

/** An ACK of so many packets, later_ps after the last call; a window's worth is in flight. */
static inline void acknowledge(struct acknowledge_pair *pair, uint64_t later_ps, uint64_t round_trip_ps,
                               uint32_t packets, bool marked) {
    pair->now_ps += later_ps;
    pair->cumulative += packets;
    const uint32_t window = pair->controller->window(pair->parameters, &pair->state, pair->cumulative);
    const struct congestion_acknowledgement told = {.round_trip_ps = round_trip_ps,
                                                    .packets = packets,
                                                    .in_flight = window,
                                                    .cumulative = pair->cumulative,
                                                    .next_number = pair->cumulative + 1,
                                                    .marked = marked};
    pair->controller->acknowledged(pair->parameters, &pair->state, &told, pair->now_ps);
}

/** Rate and window as they are now. */
static inline uint64_t acknowledge_rate(struct acknowledge_pair *pair) {
    return pair->controller->rate(pair->parameters, &pair->state, pair->now_ps);
}

static inline uint32_t acknowledge_window(const struct acknowledge_pair *pair) {
    return pair->controller->window(pair->parameters, &pair->state, pair->cumulative);
}

#endif
