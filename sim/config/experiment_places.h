// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which values of a configuration remember where they stand: one table, of keys and of members of struct experiment.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_PLACES_H
#define MOEFABRIC_CONFIG_EXPERIMENT_PLACES_H

#include "config/experiment.h"
#include "config/tree.h"

/** The place of a node or key, in a file or override. */
struct experiment_place experiment_places_of(const struct tree_place *place);

/** Notes where the values of the table stand in a configuration that has been read. */
void experiment_places_take(const struct tree_node *root, struct experiment *experiment);

/** Forgets where values stand, and with what file a topology was read: what is left is the same wherever it is written. */
void experiment_places_forget(struct experiment *experiment);

#endif
