// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Placement by affinity: experts that tokens pick together go into one NVLink domain, as far as loads stay even.
 *
 * A graph is cut into parts: a node for each replica, an edge as heavy as tokens pick both experts; the parts are the domains (with a single
 * domain its ranks). That experts are grouped by how often they are picked together, and hot ones replicated: GRACE-MoE, arXiv 2509.25041; the
 * method here is older and plainer: greedy growth, heaviest expert first, each to the part that it has most in common with, then exchanges of pairs between parts as long as
 * they make the cut lighter (Kernighan and Lin, Bell System Technical Journal 49(2), 1970; here each exchange for itself). A part may be loaded
 * up to 5 % above the mean (our choice). How many replicas an expert has is EPLB's rule, and so is the packing of a domain's replicas
 * onto its ranks. Replicas of one expert repel each other: they go to different parts.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_AFFINITY_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_AFFINITY_H

#include "workload/placement_rule.h"

enum { PLACEMENT_AFFINITY_LARGEST_EXPERTS = 4096 }; /**< the edges are kept as a matrix */

/** Fills expert_of_slot[replicas], slots in order of ranks, replicas ÷ ranks on each. */
void placement_affinity(const struct placement_history *history, const struct placement_shape *shape,
                        uint32_t *expert_of_slot);

#endif
