// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Series of a run as text: a line for each interval, link or queue pair, and quantity.
 */
#ifndef MOEFABRIC_RESULTS_SERIES_CSV_H
#define MOEFABRIC_RESULTS_SERIES_CSV_H

#include "base/error.h"
#include "results/measurement.h"

/** Writes the series of a measurement to a file, whole or not at all. False with *error (exit code 4). */
bool series_csv_write(const struct measurement *measurement, const char *path, struct error *error);

#endif
