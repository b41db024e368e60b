// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What routing says of the ports of a switch beyond whether they lead to a leaf: the capacity that each has behind it, over time. Part
 * of failure_plan.h.
 *
 * Weights depend on the rates of the links between switches (0 where they are down) and on nothing else: times at which these are the
 * same share them. Switches for which all ports weigh the same take no room but for one number a leaf.
 */
#ifndef MOEFABRIC_FABRIC_FAILURE_WEIGHTS_H
#define MOEFABRIC_FABRIC_FAILURE_WEIGHTS_H

#include "fabric/failure_plan.h"

struct failure_weights;

/** Links between switches whose state changes, and all times at which one does (ascending; 0 is the first). */
struct failure_weights_history {
    const uint32_t *links;
    uint32_t n_links;
    const uint64_t *times;
    uint32_t n_times;
};

/** Weights that follow a history after convergence_ps. The plan is asked for states; it and the fabric must outlive them. */
struct failure_weights *failure_weights_create(const struct failure_plan *plan, const struct fabric *fabric,
                                               const struct failure_weights_history *history, uint64_t convergence_ps);

/** Frees weights; NULL is allowed. */
void failure_weights_free(struct failure_weights *weights);

/** See failure_plan_weights. */
const uint32_t *failure_weights_at(const struct failure_weights *weights, uint64_t time_ps, uint32_t ordinal,
                                   uint32_t leaf);

/** Bytes of memory that they hold; of NULL too. */
size_t failure_weights_bytes(const struct failure_weights *weights);

#endif
