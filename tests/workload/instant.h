// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A driver without devices: each message is delivered latency_ps after it may start, in order of (time, order of sending).
 * It shows what a plan sends, and whether it comes to an end.
 */
#ifndef MOEFABRIC_TESTS_WORKLOAD_INSTANT_H
#define MOEFABRIC_TESTS_WORKLOAD_INSTANT_H

#include "workload/traffic.h"

#include <stdint.h>

/** One message as it was sent and delivered. */
struct instant_message {
    struct traffic_message message;
    uint32_t source;
    uint64_t posted_ps;    /**< when the plan gave it out */
    uint64_t delivered_ps; /**< when it arrived */
};

/** All messages of a run in order of giving out; freed by instant_free. */
struct instant_run {
    struct instant_message *messages;
    uint32_t count, capacity;
};

/** Runs a plan to its end. Every message takes latency_ps plus, if spread_ps > 0, a hashed 0 … spread_ps-1 (so that orders vary with seed). */
struct instant_run instant_run(const struct traffic *traffic, uint64_t latency_ps, uint64_t spread_ps, uint64_t seed);

/** Frees the messages of a run. */
void instant_free(struct instant_run *run);

#endif
