// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The result file: one HDF5 file for a run or a whole comparison. Layout: results/README.md.
 *
 * The same measurements give the same bytes: no times, hosts or paths go in (they are in provenance.h's file),
 * HDF5's own time stamps are off, rows are in id order. The file appears under its name only when it is complete.
 */
#ifndef MOEFABRIC_RESULTS_STORE_H
#define MOEFABRIC_RESULTS_STORE_H

#include "base/error.h"
#include "results/measurement.h"

#include <stdbool.h>

/** Version of the layout; grows when a reader of the old one would be misled. Stored as the attribute schema_version. */
enum { STORE_SCHEMA_VERSION = 1 };

/** What holds for all runs of a file. Texts are UTF-8 and stay the caller's. */
struct store_header {
    const char *title;           /**< one line: what was simulated */
    const char *program_version; /**< of moefabric */
    const char *configuration;   /**< the resolved configuration, whole */
};

/** A result file being written. */
struct store;

/**
 * Starts a result file, before anything is simulated, so that a path that cannot be written is known at once.
 * Returns NULL and fills *error (exit code 4) if not; else the caller ends it with store_commit or store_discard.
 */
struct store *store_open(const char *path, const struct store_header *header, struct error *error);

/** Adds a finished measurement as group /runs/NNN_policy_seedS, NNN from 000 in order of calls. On failure (exit code 4) the only thing left is store_discard. */
bool store_add_run(struct store *store, const struct measurement *measurement, struct error *error);

/** Completes the file, flushes it to the disk and renames it to its path. On failure (exit code 4) an older file there is untouched. Frees store either way. */
bool store_commit(struct store *store, struct error *error);

/** Gives up: nothing is left under the path or beside it. Frees store; NULL is allowed. */
void store_discard(struct store *store);

#endif
