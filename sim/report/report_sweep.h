// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The result of a sweep as one web page: a small chart for each metric that matters, along any of the swept keys, and the table of points.
 */
#ifndef MOEFABRIC_REPORT_REPORT_SWEEP_H
#define MOEFABRIC_REPORT_REPORT_SWEEP_H

#include "base/error.h"
#include "results/sweep_table.h"

#include <stdbool.h>

/** Writes the page, as report_write. */
bool report_sweep_write(const struct sweep_table *table, const char *path, struct error *error);

#endif
