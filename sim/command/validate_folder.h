// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where tables of published values are.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_FOLDER_H
#define MOEFABRIC_COMMAND_VALIDATE_FOLDER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/** Paths of files, in order of their names. Ends with validate_folder_free. */
struct validate_folder {
    char **paths;
    uint32_t n_paths;
};

/**
 * The files *.yaml of a folder, or the file itself. path NULL: the folder configs/validation of the current folder, of the nearest
 * folder above it that has one, or of the source that the program was built from. False with *error if there is nothing to read.
 */
bool validate_folder_list(const char *path, struct validate_folder *folder, struct error *error);

/** Frees the paths. */
void validate_folder_free(struct validate_folder *folder);

#endif
