// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Mistakes that are found after a configuration was read, at the place of the value that makes them.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_PLACE_H
#define MOEFABRIC_CONFIG_EXPERIMENT_PLACE_H

#include "base/error.h"
#include "config/experiment.h"

/** Gives an error that has no place the place of a value, if that value is in a file or override. Always false, for `return`. */
bool experiment_place_blame(const struct experiment_place *place, struct error *error);

#endif
