// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reads what sweep_store.h wrote. A file is not trusted.
 */
#ifndef MOEFABRIC_RESULTS_SWEEP_LOAD_H
#define MOEFABRIC_RESULTS_SWEEP_LOAD_H

#include "base/error.h"
#include "results/sweep_table.h"

#include <stdbool.h>

/** Whether a file claims to be the result of a sweep; false also if it cannot be read. */
bool sweep_load_is_sweep(const char *path);

/** Reads a table, to be freed by sweep_table_free. NULL with *error (may be NULL; exit code 4) if the file is no such result, is damaged or newer. */
struct sweep_table *sweep_load_read(const char *path, struct error *error);

#endif
