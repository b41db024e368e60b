// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reads result files back: what store.h wrote becomes measurements again. A file is not trusted: it may be damaged, cut short or made by somebody else.
 */
#ifndef MOEFABRIC_RESULTS_LOAD_H
#define MOEFABRIC_RESULTS_LOAD_H

#include "base/error.h"
#include "results/measurement.h"

#include <stdbool.h>
#include <stdint.h>

/** A whole result file in memory. Owns everything; freed by load_free. */
struct load {
    char *title, *program_version;
    char *configuration; /**< resolved, as YAML */
    uint32_t n_runs;
    struct measurement **runs; /**< [n_runs], in the order in which they were stored */
};

/**
 * Reads a result file. Returns NULL and fills *error (exit code 4, naming the dataset at fault) if it cannot be read, is no result file, was
 * written with a newer layout, misses a table, has columns of different lengths or the wrong type, holds numbers out of range (ranks,
 * phases), or would need more than half of the machine's memory. Columns that an older program did not write are 0.
 */
struct load *load_read(const char *path, struct error *error);

/** Whether one of the first `before` runs is under this policy: with n_runs, whether the file has it; with a run's own number, whether it is not the first of its policy. */
bool load_has_policy(const struct load *load, const char *policy, uint32_t before);

/** Frees what load_read returned; NULL is allowed. */
void load_free(struct load *load);

#endif
