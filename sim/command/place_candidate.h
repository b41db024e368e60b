// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Placements that are compared by `place`, and what they cost.
 */
#ifndef MOEFABRIC_COMMAND_PLACE_CANDIDATE_H
#define MOEFABRIC_COMMAND_PLACE_CANDIDATE_H

#include "fabric/fabric.h"
#include "workload/placement_site.h"

enum {
    PLACE_CANDIDATES = EXPERIMENT_PLACEMENT_KINDS + 1
}; /**< kinds but file, the configuration's own, what was found */

/** One placement. */
struct place_candidate {
    const char *name;
    struct placement *placement;     /**< owned */
    struct placement_figures learnt; /**< means over the micro-batches that it was made for */
    struct placement_figures unseen; /**< means over others */
    double *times_ps;                /**< owned: [unseen micro-batches] */
};

/** All of them, in the order in which they are shown. Zero-initialise; ends with place_candidates_free. */
struct place_candidates {
    struct place_candidate list[PLACE_CANDIDATES];
    uint32_t count, batches; /**< batches: unseen ones */
};

/** Time of one byte on all NIC ports, and on all NVLink ports, of a GPU together; 0 where there are none. */
struct place_byte_times {
    double nic_ps, nvlink_ps;
};

/** Those of the fabric's first endpoint. */
struct place_byte_times place_candidate_byte_times(const struct fabric *fabric);

/** Time of a copy on the ports of the fabric's first endpoint, wire bytes included, and in experts. */
struct placement_costs place_candidate_costs(const struct experiment *experiment, const struct placement_site *site,
                                             const struct fabric *fabric);

/** Adds a placement, which the list then owns. Returns its place in the list. */
struct place_candidate *place_candidate_add(struct place_candidates *candidates, const char *name,
                                            struct placement *placement);

/** Adds every placement by rule that is possible, learnt from these tokens. */
void place_candidate_add_rules(struct place_candidates *candidates, const struct placement_site *site,
                               const struct placement_tokens *tokens);

/** Fills `learnt` of all. */
void place_candidate_learn(struct place_candidates *candidates, struct placement_traffic *traffic);

/** Fills `unseen` and times_ps of all. */
void place_candidate_try(struct place_candidates *candidates, struct placement_traffic *traffic, uint32_t batches);

/** The one of this name, or NULL. */
const struct place_candidate *place_candidate_find(const struct place_candidates *candidates, const char *name);

/** Frees all. */
void place_candidates_free(struct place_candidates *candidates);

#endif
