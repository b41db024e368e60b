// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A folder of CSV files that appears under its name when all of them are complete.
 */
#ifndef MOEFABRIC_RESULTS_CSV_FOLDER_H
#define MOEFABRIC_RESULTS_CSV_FOLDER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** What is written. */
struct csv_folder {
    const char *(*name)(size_t file);                              /**< without .csv */
    void (*write)(const void *context, size_t file, FILE *stream); /**< errors of the stream are seen afterwards */
    const void *context;
    size_t n_files;
};

/**
 * Makes the folder. False, with *error set (exit code 4) and nothing left behind, if it exists already or cannot be written.
 */
bool csv_folder_write(const struct csv_folder *folder, const char *path, struct error *error);

#endif
