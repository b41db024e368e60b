// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which replica of an expert a token goes to.
 *
 * nearest: a replica on the token's own rank if there is one, else one in its NVLink domain, else any. The same order as in SGLang
 * (sgl-project/sglang, srt/eplb/expert_location.py: same GPU, same node, then shares among the ranks). even: any replica, as EPLB assumes when it
 * adds up loads. Among several that are equally near a hash of the token and the expert decides, so that they share the load evenly and two plans
 * with the same seed agree.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_NEAR_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_NEAR_H

#include "workload/placement.h"

/** The replicas that tokens of one rank may go to, for every expert. */
struct placement_near {
    const struct placement *placement; /**< borrowed */
    uint32_t *rank;  /**< [replicas] local ranks: of expert e from placement->first[e] on, count[e] of them */
    uint32_t *count; /**< [experts] */
};

/** Room for a placement; ends with placement_near_fini. */
void placement_near_init(struct placement_near *near, const struct placement *placement);

/** Frees what it holds. */
void placement_near_fini(struct placement_near *near);

/** The replicas of one expert that tokens of a rank may go to: fills ranks (room for all its replicas), returns how many. */
uint32_t placement_near_of(const struct placement *placement, uint32_t expert, uint32_t source,
                           const uint32_t *domain_of_rank, bool even, uint32_t *ranks);

/** Finds them for all experts. domain_of_rank[ranks]: NVLink domain of each local rank. even: all replicas. */
void placement_near_find(struct placement_near *near, uint32_t source, const uint32_t *domain_of_rank, bool even);

/** Stream of draws of one token; source is its rank in the whole run. */
static inline uint64_t placement_near_stream(uint64_t seed, uint32_t source, uint32_t token) {
    return hash_stream(seed, HASH_PURPOSE_REPLICA, source, token);
}

/** Which of several equally near replicas of an expert a token goes to. */
static inline uint32_t placement_near_choose(uint64_t stream, uint32_t expert, uint32_t count) {
    return count > 1 ? hash_below(hash_draw(stream, expert), count) : 0;
}

/** The local rank that a token of the source goes to for an expert. */
static inline uint32_t placement_near_rank(const struct placement_near *near, uint64_t stream, uint32_t expert) {
    return near->rank[near->placement->first[expert] + placement_near_choose(stream, expert, near->count[expert])];
}

#endif
