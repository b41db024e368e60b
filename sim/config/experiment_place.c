// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_place.h"

#include <stdio.h>

bool experiment_place_blame(const struct experiment_place *place, struct error *error) {
    if (error->file[0] == '\0' && place->line > 0) {
        snprintf(error->file, sizeof error->file, "%s", place->file);
        error->line = place->line;
        error->column = place->column;
    }
    return false;
}
