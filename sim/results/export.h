// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A result as plain text tables: a folder of CSV files, or one JSON document.
 */
#ifndef MOEFABRIC_RESULTS_EXPORT_H
#define MOEFABRIC_RESULTS_EXPORT_H

#include "base/error.h"
#include "results/json.h"
#include "results/load.h"

#include <stdbool.h>

/**
 * Makes a new folder with runs.csv (a run a row: outcome and sums), one file for each table of results/README.md (all runs under each
 * other: policy, seed, number of the row, then the columns under their names, which carry the units) and counters.csv (export_counters.h).
 * Fields with commas or quotes are quoted as in RFC 4180; lines end in LF; numbers have as many digits as bring the same value back.
 * The folder appears under its name when all files are complete. False, with *error set (exit code 4) and nothing left behind, if it exists
 * already or cannot be written.
 */
bool export_csv(const struct load *load, const char *folder, struct error *error);

/** The same tables as one object: title, program_version, configuration, and runs, each with its tables as arrays, a column each. */
void export_json(const struct load *load, struct json *json);

#endif
