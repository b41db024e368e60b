// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The list `failures` of a configuration.
 */
#ifndef MOEFABRIC_CONFIG_FAILURE_READER_H
#define MOEFABRIC_CONFIG_FAILURE_READER_H

#include "config/experiment.h"
#include "config/tree.h"

/** Reads the value of `failures`: a list. Mistakes are reported at their place. Whether there is what is to fail is found out later. */
void failure_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors);

#endif
