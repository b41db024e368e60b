// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a search for placements needs to know of a configuration: one expert-parallel group, its gate and its tokens.
 *
 * All groups have the same placement and the same gate, so the first stands for all; where groups of a job lie differently on domains, groups_alike says so. Earlier tokens, for learning, are those of
 * placement_history.h, in micro-batches. Tokens of runs are exactly those that a run with that seed has, under the popularity of the site's seed.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_SITE_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_SITE_H

#include "base/error.h"
#include "config/experiment.h"
#include "workload/moe_placement.h"
#include "workload/placement_traffic.h"

/** One group. Ends with placement_site_fini. */
struct placement_site {
    struct experiment_model model; /**< resolved */
    struct placement_shape
        shape; /**< replicas: with the redundant experts of the configuration, whatever its placement */
    struct gate *gate;
    uint32_t *global_rank;          /**< [shape.ranks] numbers among the GPUs of the job, as plans draw tokens by */
    uint32_t tokens;                /**< of a rank and micro-batch */
    struct placement_layout layout; /**< of the group; shape.layout points here where it is needed */
    enum experiment_algorithm algorithm;
    bool even;
    bool groups_alike; /**< all groups lie on domains as the first one does */
    uint64_t seed, traffic_seed;
};

/** Prepares it; seed: of the run whose popularity of experts counts. False with *error if the configuration contradicts itself. */
bool placement_site_init(struct placement_site *site, const struct experiment *experiment,
                         const struct moe_placement *ranks, uint64_t seed, struct error *error);

/** Frees what it holds. */
void placement_site_fini(struct placement_site *site);

/** Earlier tokens, in micro-batches that no run has. NULL with *error if they are too many for memory. */
struct placement_tokens *placement_site_history(const struct placement_site *site, uint32_t batches,
                                                struct error *error);

/** Tokens of runs with seeds first_seed, first_seed + 1, …. NULL with *error if they are too many for memory. */
struct placement_tokens *placement_site_runs(const struct placement_site *site, uint64_t first_seed, uint32_t batches,
                                             struct error *error);

/** A placement by rule, from these tokens; kinds that do not learn have no redundant experts. NULL where such a placement cannot be: experts that ranks do not divide. */
struct placement *placement_site_rule(const struct placement_site *site, enum experiment_placement_kind kind,
                                      const struct placement_tokens *tokens);

#endif
