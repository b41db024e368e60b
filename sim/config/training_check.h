// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What section `training` says in vain: of a model whose step is not made of layers, and of what is never at once.
 */
#ifndef MOEFABRIC_CONFIG_TRAINING_CHECK_H
#define MOEFABRIC_CONFIG_TRAINING_CHECK_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** Reports what contradicts a recommender: its tables are spread over all GPUs and its matrices are on each, so nothing else is shared. */
void training_check(const struct experiment *experiment, const struct contradiction_scope *scope);

/** Is the step made of layers? True where no step is described. */
bool training_check_has_layers(const struct experiment *experiment);

/** Is it the step of a recommender? */
bool training_check_has_tables(const struct experiment *experiment);

/** Keys of `training` that are of layers alone, NULL-terminated; without those that contradict a recommender or need a value of one that does. */
extern const char *const training_check_of_layers[];

/** Does the number of kernels count: are there gaps between them, or does the host launch each? */
bool training_check_counts_kernels(const struct experiment *experiment);

/** Are there any in a layer? */
bool training_check_has_kernels(const struct experiment *experiment);

/** Do computing, exchanges and gradients run at once in a step, any two of them? */
bool training_check_has_contention(const struct experiment *experiment);

/** Do gradients take SMs from computing? */
bool training_check_has_gradient_sms(const struct experiment *experiment);

#endif
