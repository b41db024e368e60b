// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Expert placement: on which ranks of an expert-parallel group the replicas of each expert sit.
 *
 * Ranks are local numbers 0 … ranks-1 within the group; every group of a run has the same placement. An expert has at least one replica. A
 * rank may hold any number of replicas, two of the same expert too (what EPLB may do): each counts as one replica of its own.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_H

#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

/** A placement. Immutable once made; owner of its arrays. */
struct placement {
    uint32_t experts, ranks;
    uint32_t replicas;      /**< of all experts together, >= experts */
    uint32_t largest_slots; /**< most replicas that one rank holds */
    uint32_t *first;        /**< [experts + 1] replicas of expert e are first[e] … first[e + 1] - 1 */
    uint32_t *rank;         /**< [replicas] local rank of each, ascending within an expert */
};

/** From pairs of expert and local rank, in any order; every expert must be among them. Freed by placement_free. */
struct placement *placement_create(uint32_t experts, uint32_t ranks, uint32_t replicas, const uint32_t *expert_of,
                                   const uint32_t *rank_of);

/** From slots: slot s, of replicas ÷ ranks on each rank, holds expert_of_slot[s] and sits on rank s ÷ (slots of a rank). */
struct placement *placement_create_slots(uint32_t experts, uint32_t ranks, uint32_t replicas,
                                         const uint32_t *expert_of_slot);

/** A copy with arrays of its own. */
struct placement *placement_copy(const struct placement *placement);

/** Frees a placement; NULL is allowed. */
void placement_free(struct placement *placement);

/** Replicas of an expert. */
static inline uint32_t placement_replicas_of(const struct placement *placement, uint32_t expert) {
    return placement->first[expert + 1] - placement->first[expert];
}

/** Replicas that a rank holds. */
uint32_t placement_slots_of(const struct placement *placement, uint32_t rank);

/** Adds to rank_load[ranks] what each rank gets of load[experts] if the replicas of an expert share its load evenly (as EPLB assumes). */
void placement_spread_load(const struct placement *placement, const double *load, double *rank_load);

/** Largest ÷ mean of loads of ranks; 1 if all are 0. */
double placement_imbalance(const double *rank_load, uint32_t ranks);

/** A hash of the placement: 0 never stands for one. */
uint64_t placement_digest(const struct placement *placement);

#endif
