// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Settings that are given but change nothing, because another setting says that what they tune is not there.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_UNUSED_H
#define MOEFABRIC_CONFIG_EXPERIMENT_UNUSED_H

#include "config/experiment.h"
#include "config/tree.h"

/**
 * Appends a note for each setting of the file or the command line that has no effect (`traffic.zipf_exponent` under another gate, a
 * controller's figures that no policy names, …). Of a configuration with its topology written out, such as those in result files,
 * which give every key, only what differs from the default is noted.
 */
void experiment_unused(const struct experiment *experiment, const struct tree_node *root, struct error_list *notes);

#endif
