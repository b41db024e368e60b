// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Looks for a better placement by simulated annealing (GSL, gsl_siman_solve; Kirkpatrick, Gelatt and Vecchi, Science 220, 1983).
 *
 * A step exchanges the experts of two slots on different ranks, or, where there are redundant experts, puts another expert into a slot whose
 * expert has a replica elsewhere; that other one is an expert of a random token, so loaded experts are tried more often. The temperature falls from
 * 1 % of the first energy to a thousandth of that. All draws follow from the seed (gsl_rng_mt19937).
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_SEARCH_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_SEARCH_H

#include "workload/placement_traffic.h"

#include <stdbool.h>
#include <stdint.h>

/** What a search takes. */
struct placement_search {
    const struct placement_shape *shape;
    const struct placement_tokens *tokens;
    struct placement_traffic *traffic; /**< of these tokens; left at some placement of the search */
    uint32_t steps;                    /**< about as many placements are tried */
    uint64_t seed;
    bool (*stop)(void *context, uint32_t steps,
                 double energy); /**< asked at every step; true ends the search with the best so far. NULL = never */
    void *context;
};

/** The best placement found, never one with more energy than start; freed by placement_free. start has replicas ÷ ranks slots on every rank. */
struct placement *placement_search_run(const struct placement_search *search, const struct placement *start);

#endif
