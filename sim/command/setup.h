// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From an experiment and one of its policies to the figures that devices run with.
 */
#ifndef MOEFABRIC_COMMAND_SETUP_H
#define MOEFABRIC_COMMAND_SETUP_H

#include "base/error.h"
#include "config/experiment.h"
#include "device/parameters.h"

/** Fills all figures. False with *error if a name is unknown (a policy, a controller, a profile). */
bool setup_network(const struct experiment *experiment, const struct experiment_policy *policy, uint64_t seed,
                   struct network_parameters *parameters, struct error *error);

/** The kind of a path policy by its name. False with *error if there is none. */
bool setup_find_path(const char *name, enum path_kind *kind, struct error *error);

/** The path parameters of a policy, as if it were of this kind. */
struct path_parameters setup_path(const struct experiment *experiment, const struct experiment_policy *policy,
                                  enum path_kind kind);

#endif
