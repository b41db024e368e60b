// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a placement costs, for tokens whose choices are known: counted as plans count (workload/moe_counts.h) under each algorithm, one micro-batch apart
 * from the other, and turned into time by costs of a copy. A placement that differs little from the last one is counted anew only where tokens
 * pick an expert that has moved: a search tries thousands.
 *
 * The time of a micro-batch is the sum of its phases: dispatch, experts, combine; each is as long as its slowest rank, and a rank's dispatch (combine) as the
 * slower of its NIC and its NVLink ports, each as the fuller of its two directions. Latency and queues are left out.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_TRAFFIC_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_TRAFFIC_H

#include "workload/gate.h"
#include "workload/placement_rule.h"

#include <stdbool.h>
#include <stdint.h>

/** Choices of all tokens of one expert-parallel group, in micro-batches. Owns its arrays. */
struct placement_tokens {
    uint32_t batches, sources; /**< sources: ranks of the group */
    uint32_t tokens;           /**< of a source and micro-batch */
    uint32_t top_k, experts;
    uint32_t *picks;          /**< [batches × sources × tokens × top_k] */
    uint64_t *replica_stream; /**< [batches × sources × tokens] which replica, of several (placement_near.h) */
};

/** How to draw them. */
struct placement_tokens_draw {
    const struct gate *gate;
    const uint32_t *global_rank; /**< [sources] rank in the whole run */
    uint32_t batches, sources, tokens, top_k, experts;
    bool history;         /**< earlier tokens (placement_history.h), else those of runs */
    const uint64_t *seed; /**< [batches] of the tokens */
};

/** Draws; freed by placement_tokens_free. */
struct placement_tokens *placement_tokens_create(const struct placement_tokens_draw *draw);

/** Frees it; NULL is allowed. */
void placement_tokens_free(struct placement_tokens *tokens);

/** Time of one token copy on the ports of a rank, and in its experts; 0 where there is no such phase. */
struct placement_costs {
    double nic_dispatch_ps, nic_combine_ps;
    double nvlink_dispatch_ps, nvlink_combine_ps; /**< on all NVLink ports of a GPU together */
    double expert_ps;                             /**< of a (token, expert) pair */
};

/** Slowest ranks of one micro-batch, or means over several. */
struct placement_figures {
    double imbalance;         /**< (token, expert) pairs: fullest rank ÷ mean */
    double nic_ps, nvlink_ps; /**< dispatch and combine of the slowest */
    double expert_ps;
    double fabric_copies; /**< token copies over the fabric in dispatch, mean of a rank */
    double time_ps;       /**< of the three phases */
};

struct placement_traffic;

/**
 * Counts tokens under placements of a shape, whose ranks sit as layout says; nothing is placed yet. tokens and layout are borrowed, shape and costs copied. Freed by
 * placement_traffic_free.
 */
struct placement_traffic *placement_traffic_create(const struct placement_shape *shape,
                                                   const struct placement_layout *layout,
                                                   const struct placement_tokens *tokens,
                                                   const struct placement_costs *costs,
                                                   enum experiment_algorithm algorithm, bool even);

/** Frees it; NULL is allowed. */
void placement_traffic_free(struct placement_traffic *traffic);

/** Counts under this placement from now on. */
void placement_traffic_place(struct placement_traffic *traffic, const struct placement *placement);

/** Figures of a micro-batch. */
struct placement_figures placement_traffic_figures(const struct placement_traffic *traffic, uint32_t batch);

/** Means of the figures over all micro-batches. */
struct placement_figures placement_traffic_means(const struct placement_traffic *traffic);

/**
 * What a search makes small: the mean time of a micro-batch, and 5 % of what it would be if every rank were as slow as their root mean square. The
 * second part tells placements apart whose slowest rank is the same (its weight is our choice).
 */
double placement_traffic_energy(const struct placement_traffic *traffic);

#endif
