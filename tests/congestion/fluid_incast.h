// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Several senders into one port, with bytes as a fluid: shows what a controller does in a closed loop, without a network.
 */
#ifndef MOEFABRIC_TESTS_CONGESTION_FLUID_INCAST_H
#define MOEFABRIC_TESTS_CONGESTION_FLUID_INCAST_H

#include "congestion/congestion.h"

#include <stdbool.h>
#include <stdint.h>

enum { FLUID_SENDERS_LIMIT = 64 };

/** One experiment. All senders start at time 0 and have work for ever. */
struct fluid_incast {
    const struct congestion_parameters *parameters;
    unsigned senders;            /**< at most FLUID_SENDERS_LIMIT */
    uint64_t line_bits_per_s;    /**< of every sender and of the port */
    uint32_t share_fxp20;        /**< announced to each at the start; 0 = nothing */
    uint64_t base_round_trip_ps; /**< half of it before the queue, half after */
    uint64_t queue_limit_bytes;  /**< where the fabric would pause senders; UINT64_MAX = never */
    bool marking; /**< ECN at Kmin 150 000, Kmax 1 500 000 bytes, Pmax 1 (Cumulus Linux, lossless RoCE) */
    uint64_t end_ps;
};

/** What came out. */
struct fluid_outcome {
    uint64_t offered_bits_per_s; /**< sum of the rates at the end */
    uint64_t peak_queue_bytes;
    double used_share; /**< of what the port could send */
};

/** Runs the experiment in steps of 50 ns. */
struct fluid_outcome fluid_incast_run(const struct fluid_incast *incast);

#endif
