// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From the sections `congestion` of an experiment to the figures that controllers run with.
 */
#ifndef MOEFABRIC_COMMAND_SETUP_CONGESTION_H
#define MOEFABRIC_COMMAND_SETUP_CONGESTION_H

#include "base/error.h"
#include "config/experiment.h"
#include "congestion/congestion.h"

/**
 * The figures of all controllers, of which policy->congestion is the one that acts. Steps that are given for a NIC of a certain
 * rate are scaled to the line that a context has: of the topology's NIC, of all its planes where they share one.
 * False with *error if a controller or a profile is unknown.
 */
bool setup_congestion(const struct experiment *experiment, const struct experiment_policy *policy,
                      struct congestion_parameters *congestion, struct error *error);

#endif
