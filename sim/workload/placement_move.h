// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What it takes to get from one placement to another: weights of experts that a rank does not hold yet come from a rank that does, within its NVLink
 * domain if there is one, else over the fabric; of several from the one that has sent least.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_MOVE_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_MOVE_H

#include "workload/placement.h"
#include "workload/placement_layout.h"

/** Experts on the move, of one layer and one expert-parallel group. */
struct placement_move {
    uint32_t over_nvlink, over_fabric; /**< all ranks together */
    uint32_t most_nvlink, most_fabric; /**< of one rank in one direction */
};

/** Moves from one placement to another of the same experts and ranks, which sit as layout says. */
struct placement_move placement_move_count(const struct placement *from, const struct placement *to,
                                           const struct placement_layout *layout);

#endif
