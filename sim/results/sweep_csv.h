// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The result of a sweep as plain text: a folder of CSV files, or JSON.
 */
#ifndef MOEFABRIC_RESULTS_SWEEP_CSV_H
#define MOEFABRIC_RESULTS_SWEEP_CSV_H

#include "base/error.h"
#include "results/json.h"
#include "results/sweep_table.h"

#include <stdbool.h>

/** Makes a new folder with points.csv (a point a row) and runs.csv (a run a row: what its point sets, policy, seed, every metric in its kept unit). As export_csv. */
bool sweep_csv_export(const struct sweep_table *table, const char *folder, struct error *error);

/** One object: axes, metrics with units, points with their outcome, values and, for each policy, means and intervals over seeds. */
void sweep_csv_json(const struct sweep_table *table, struct json *json);

#endif
