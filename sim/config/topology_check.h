// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Do the figures of a topology fit each other?
 */
#ifndef MOEFABRIC_CONFIG_TOPOLOGY_CHECK_H
#define MOEFABRIC_CONFIG_TOPOLOGY_CHECK_H

#include "config/contradiction.h"
#include "config/topology.h"

/** Reports every contradiction within a topology (after the cluster section's overrides). */
void topology_check(const struct topology *topology, const struct contradiction_scope *scope);

/** GPUs of the whole cluster. */
uint64_t topology_check_gpus(const struct topology *topology);

#endif
