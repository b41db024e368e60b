// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where ranks sit: consecutive ranks fill NVLink domains of one size, one rank a GPU; and where experts sit on ranks.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_PLACEMENT_H
#define MOEFABRIC_WORKLOAD_MOE_PLACEMENT_H

#include "workload/placement.h"
#include "workload/traffic.h"

#include <stdint.h>

/** The ranks of a run, as the fabric places them (fabric_endpoint.domain and index_in_domain). */
struct moe_placement {
    uint32_t n_ranks;
    uint32_t ranks_per_domain;       /**< divides n_ranks; 1 = no NVLink, all traffic takes the fabric */
    const struct placement *experts; /**< on ranks of a group; NULL = contiguous. Borrowed while a plan is made */
    bool even_replicas; /**< a token's replica is any of its expert's; else one of the nearest (placement_near.h) */
};

/** NVLink domain of a rank. */
static inline uint32_t moe_placement_domain(const struct moe_placement *placement, uint32_t rank) {
    return rank / placement->ranks_per_domain;
}

/** How two different ranks reach each other: NVLink within a domain, the fabric between domains. */
static inline enum traffic_route moe_placement_route(const struct moe_placement *placement, uint32_t from,
                                                     uint32_t to) {
    return moe_placement_domain(placement, from) == moe_placement_domain(placement, to) ? TRAFFIC_NVLINK
                                                                                        : TRAFFIC_FABRIC;
}

#endif
