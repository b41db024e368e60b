// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Inside of the mixture-of-experts plan, shared by moe.c (phases), moe_send.c (messages), the algorithms and moe_summary.c (sums). Not for other rooms.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_PLAN_H
#define MOEFABRIC_WORKLOAD_MOE_PLAN_H

#include "workload/moe.h"
#include "workload/moe_algorithm.h"
#include "workload/moe_totals.h"

/** Progress of a rank; written by calls for that rank only. Aligned so that two threads never share a line. */
struct moe_plan_rank {
    struct moe_phase_times times;
    uint32_t counts_left;        /**< deliveries still to come */
    uint32_t left[MOE_PHASES];   /**< the same of each phase */
    uint32_t gather_rounds;      /**< once results are gathered: moe_two_hop.c */
    bool begun[MOE_PHASES];      /**< the phase has begun here */
    uint64_t now_ps;             /**< what is being handled happens then */
    uint64_t handed_ps;          /**< when the NIC has all messages, where handing them over takes time */
    uint64_t summed[MOE_PHASES]; /**< phases that go back: copies in chunks that it has summed up for others … */
    uint64_t kept[MOE_PHASES];   /**< … and its own among them */
} __attribute__((aligned(64)));

struct moe {
    struct moe_counts *counts;
    struct moe_totals *totals[MOE_PHASES]; /**< [n_ranks] each; NULL of backward phases that are not simulated */
    struct experiment_traffic traffic;
    const struct moe_algorithm *algorithm;
    void *state;                /**< of the algorithm */
    bool has_phase[MOE_PHASES]; /**< simulated */
    bool early_pacing;
    bool exchange_counts; /**< and there is a dispatch that needs them */
    uint64_t seed;
    struct kernel kernel;
    uint32_t unit_bytes[MOE_PHASES]; /**< one token copy */
    uint64_t counts_bytes;           /**< one counts message */
    struct moe_plan_rank *ranks;
    uint64_t *grants; /**< [n_ranks × grant_words] bit = local number (direct) or domain (two_hop) of who has granted */
    uint32_t grant_words;
};

/** In place of counts, is the routing map of every rank gathered at every other? */
static inline bool moe_gathers_map(const struct moe *moe) {
    return experiment_algorithm_needs[moe->traffic.algorithm].gathers_map;
}

/**
 * What will be counted, and the gate that draws it, from a resolved model; freed by gate_free. NULL with *error if the gate cannot be. Whether
 * experts and ranks come out even is not looked at. shape->groups is the caller's to free then, unless counts are made of it.
 */
struct gate *moe_prepare(const struct experiment_model *model, const struct experiment_traffic *traffic,
                         const struct moe_placement *placement, uint64_t seed, struct moe_counts_shape *shape,
                         struct error *error);

enum {
    MOE_PLAN_GRANT_BYTES =
        64, /**< a grant says no more than who may send: as small as a frame can be (estimate; IEEE 802.3 has 64 bytes) */
    MOE_PLAN_ACKNOWLEDGE_BYTES =
        64 /**< as a grant (estimate; NCCL's entry of a FIFO of buffers that are free again has 64 bytes, UCX's ATS fewer) */
};

#endif
