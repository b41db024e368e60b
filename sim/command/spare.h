// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A file that is written never takes the place of one that it is made from.
 */
#ifndef MOEFABRIC_COMMAND_SPARE_H
#define MOEFABRIC_COMMAND_SPARE_H

#include "base/error.h"

#include <stdbool.h>

struct experiment;

/** Are both names of one file, over links and folders too? A file that is not there yet is known by its folder and its name. NULL is no file. */
bool spare_is_same(const char *left, const char *right);

/** Refuses an empty name, and one of input itself (exit code 2). `option` is how the output was given, for example "--output". */
bool spare_file(const char *input, const char *output, const char *option, struct error *error);

/**
 * The same for all that a run is made from: the configuration, its topology, and the files of matrix, gate and placement.
 * `configuration` is its path as given.
 */
bool spare_inputs(const char *configuration, const struct experiment *experiment, const char *output,
                  const char *option, struct error *error);

#endif
