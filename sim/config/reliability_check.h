// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Do spares, hosts and rates of failures fit the GPUs that train?
 */
#ifndef MOEFABRIC_CONFIG_RELIABILITY_CHECK_H
#define MOEFABRIC_CONFIG_RELIABILITY_CHECK_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** Does anything fail, by published rates or by given ones? */
bool reliability_check_fails(const struct experiment_interruptions *failures);

/** Reports what does not fit in sections training.failures and training.checkpoint. */
void reliability_check(const struct experiment *experiment, const struct contradiction_scope *scope);

#endif
