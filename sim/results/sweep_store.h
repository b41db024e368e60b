// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The result file of a sweep, or of one point of it: the same layout (results/README.md, "Sweeps").
 */
#ifndef MOEFABRIC_RESULTS_SWEEP_STORE_H
#define MOEFABRIC_RESULTS_SWEEP_STORE_H

#include "base/error.h"
#include "results/sweep_table.h"

#include <stdbool.h>

/** Version of the layout; grows when a reader of the old one would be misled. */
enum { SWEEP_STORE_VERSION = 1 };

/**
 * Writes a table. The same table gives the same bytes; the file appears under its name only when it is complete, and an older one is
 * then replaced. False with *error (exit code 4) and nothing left behind if it cannot be written.
 */
bool sweep_store_write(const struct sweep_table *table, const char *path, struct error *error);

#endif
