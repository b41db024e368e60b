// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The placement that a configuration asks for: by rule, learnt from earlier tokens, or from a file.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_CHOOSE_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_CHOOSE_H

#include "base/error.h"
#include "config/experiment.h"
#include "config/placement_file.h"
#include "workload/moe_placement.h"
#include "workload/placement_rule.h"

/** The expert-parallel group of a configuration; model resolved (workload/model.h). A group that is not made of whole domains counts as one domain. */
struct placement_shape placement_choose_shape(const struct experiment_model *model,
                                              const struct experiment_traffic *traffic,
                                              const struct experiment_placement *given,
                                              const struct moe_placement *ranks);

/**
 * Sets *placement, freed by placement_free; NULL = contiguous, as plans do without one. False with *error if a file cannot be read or does not fit, or the
 * configuration contradicts itself. seed: of the run. The traffic of a run is not looked at, only tokens before it.
 */
bool placement_choose(const struct experiment *experiment, const struct moe_placement *ranks, uint64_t seed,
                      struct placement **placement, struct error *error);

/** A layer of a file that fits; freed by placement_free. */
struct placement *placement_choose_layer(const struct placement_file *file, const struct placement_file_fit *fit);

#endif
