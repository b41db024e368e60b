// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The list `background` of a configuration.
 */
#ifndef MOEFABRIC_CONFIG_BACKGROUND_READER_H
#define MOEFABRIC_CONFIG_BACKGROUND_READER_H

#include "config/contradiction.h"
#include "config/experiment.h"
#include "config/tree.h"

/** Reads the value of `background`: a list. Mistakes are reported at their place. */
void background_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors);

/** Reports what contradicts itself, the others or a cluster of so many GPUs; gpus > 0. */
void background_reader_check(const struct experiment *experiment, uint64_t gpus,
                             const struct contradiction_scope *scope);

/** Peers of a GPU in all of it together, at most: they need queue pairs. */
uint64_t background_reader_peers(const struct experiment *experiment);

#endif
