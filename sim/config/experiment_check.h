// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Do the values of a configuration fit each other and its topology?
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_CHECK_H
#define MOEFABRIC_CONFIG_EXPERIMENT_CHECK_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** Reports every contradiction of a configuration; those within the topology are topology_check's. */
void experiment_check(const struct experiment *experiment, const struct contradiction_scope *scope);

#endif
