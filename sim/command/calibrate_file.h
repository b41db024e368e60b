// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A topology file with some figures changed, everything else as it stands there, comments too.
 */
#ifndef MOEFABRIC_COMMAND_CALIBRATE_FILE_H
#define MOEFABRIC_COMMAND_CALIBRATE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/** One figure. */
struct calibrate_change {
    const char *section, *key; /**< e.g. nvlink, usable_fraction */
    char value[64];            /**< as YAML, with its comment */
};

/** Writes the file `to`. False with *error if one of them cannot be read or written, or has a section in one line ({…}). */
bool calibrate_file_write(const char *from, const char *to, const struct calibrate_change *changes, size_t n,
                          struct error *error);

#endif
