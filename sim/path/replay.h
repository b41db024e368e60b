// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What hashing alone does to equal flows: their loads on a switch's uplinks, without packets or time.
 */
#ifndef MOEFABRIC_PATH_REPLAY_H
#define MOEFABRIC_PATH_REPLAY_H

#include <stddef.h>
#include <stdint.h>

/** One flow (queue pair) as its packets' headers name it. */
struct replay_flow {
    uint32_t source, destination; /**< endpoints */
    uint16_t entropy;             /**< of its queue pair */
};

/** Loads of the uplinks. k = flows / uplinks is the load of each if they were spread evenly. */
struct replay_load {
    uint32_t max_load;     /**< flows on the fullest uplink; max_load / k is the slow-down of the slowest flow */
    uint32_t idle_uplinks; /**< without a flow */
    double
        mean_share; /**< mean over flows of rate / demand: every flow demands 1/k of an uplink, flows of an uplink share it evenly */
};

/**
 * Sends every flow through `ecmp_choose_port` at a switch with this seed (`ecmp_switch_seed`), to n_uplinks candidates,
 * and counts. n_flows and n_uplinks ≥ 1. A mean over many seeds is the balls-into-bins law that hashing obeys.
 */
struct replay_load replay_max_load(uint64_t switch_seed, const struct replay_flow *flows, size_t n_flows,
                                   uint16_t n_uplinks);

#endif
