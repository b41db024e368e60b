// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where values stand in files, for mistakes that are found after a configuration was read.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_PLACE_H
#define MOEFABRIC_CONFIG_EXPERIMENT_PLACE_H

#include "base/error.h"

#include <stdbool.h>

/** Where a value stands in a file, for messages about what is found to be wrong later; line 0: nowhere. */
struct experiment_place {
    char file[256];
    unsigned line, column;
};

/** Gives an error that has no place the place of a value, if that value is in a file or override. Always false, for `return`. */
bool experiment_place_blame(const struct experiment_place *place, struct error *error);

#endif
