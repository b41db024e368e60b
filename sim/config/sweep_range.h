// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Values from … to … of a swept key, with units. Part of sweep.h.
 */
#ifndef MOEFABRIC_CONFIG_SWEEP_RANGE_H
#define MOEFABRIC_CONFIG_SWEEP_RANGE_H

#include "config/key.h"
#include "config/tree.h"

#include <stdbool.h>
#include <stdint.h>

/** A range: value i is from + i × step, or from × factor^i. In base units of the key. */
struct sweep_range {
    double from, step;
    double factor; /**< 0: steps are added */
    uint64_t count;
};

/** Reads {from, to, step}, {from, to, factor} or {from, to, count} for a key. False with the mistakes appended to *errors. */
bool sweep_range_read(const struct tree_node *node, const struct key *key, struct sweep_range *range,
                      struct error_list *errors);

/** Value i as a node of the tree, at the range's place; NULL, with the mistake reported, if it is no whole number where the key needs one. */
struct tree_node *sweep_range_value(struct tree *tree, const struct tree_node *node, const struct key *key,
                                    const struct sweep_range *range, uint64_t i, struct error_list *errors);

#endif
