// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The section `sweep` (or the design space of section `size`) of a configuration as a list of points: which keys each of them sets, and to what.
 *
 * A sweep is a product of dimensions: every key of `grid` is one, `zip` is one, `list` is one, in the order of the file. Point numbers
 * count from 0, the last dimension changes fastest. The same text gives the same points on every machine.
 */
#ifndef MOEFABRIC_CONFIG_SWEEP_H
#define MOEFABRIC_CONFIG_SWEEP_H

#include "config/tree.h"

#include <stdbool.h>
#include <stdint.h>

enum { SWEEP_DIMENSIONS = 32, SWEEP_AXES = 32 };

/** One key set to one value. Texts and nodes belong to the tree. */
struct sweep_setting {
    const char *key; /**< dotted */
    struct tree_place key_place;
    struct tree_node *value;
};

/** Settings that take turns. */
struct sweep_dimension {
    uint64_t n_positions;
    const struct tree_entry *axis;  /**< of `grid`: the key and its values; NULL for `zip` and `list` */
    const struct tree_node *source; /**< `zip` or `list` */
};

/** All points. Everything belongs to the tree that it was read from. */
struct sweep {
    struct tree *tree;
    struct sweep_dimension dimensions[SWEEP_DIMENSIONS];
    uint32_t n_dimensions;
    const char *axes[SWEEP_AXES]; /**< every key that some point sets, in the order of the file */
    uint32_t n_axes;
    uint64_t n_points; /**< 0: there is no sweep */
};

/**
 * Reads the section, of this name. Unknown keys, a key swept twice, an axis without values, values of unequal number under `zip`, and more points than
 * `limit` allows are appended to *errors, all of them, and false is returned; with `all`, values that their key cannot take and points that are there twice, too, which takes as
 * long as there are values. Without it those of a point are found when the point is read.
 */
bool sweep_read(struct tree *tree, const struct tree_node *section, const char *name, bool all, struct sweep *sweep,
                struct error_list *errors);

/** Settings of a point (below n_points): calls back for each. A value of a range that is no whole number where one is needed is appended to *errors. */
void sweep_visit(const struct sweep *sweep, uint64_t point,
                 void (*visit)(void *context, const struct sweep_setting *setting), void *context,
                 struct error_list *errors);

#endif
