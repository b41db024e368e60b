// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One point: a configuration in all its policies and seeds, from its text to its numbers.
 */
#ifndef MOEFABRIC_COMMAND_SWEEP_POINT_H
#define MOEFABRIC_COMMAND_SWEEP_POINT_H

#include "base/error.h"
#include "config/experiment.h"
#include "results/sweep_table.h"

#include <stdint.h>

/** How to run it. */
struct sweep_point_options {
    unsigned threads;              /**< results do not depend on it */
    _Atomic uint64_t *thousandths; /**< receives how much is done, 0 to 1000; may be NULL */
};

/**
 * What results of an experiment depend on, in 64 bits: its resolved configuration, the files that it reads besides, and the program's
 * version and commit. Fills *resolved (to be freed) with the configuration's text.
 */
uint64_t sweep_point_hash(const struct experiment *experiment, char **resolved);

/**
 * Simulates an experiment and gives its runs to a point of a table, with outcome and error. What cannot start is SWEEP_REFUSED; SIGINT and its like
 * leave the point SWEEP_MISSING, without runs; limits of wall time and memory make it SWEEP_FAILED. Prints nothing.
 */
void sweep_point_simulate(const struct experiment *experiment, const struct sweep_point_options *options,
                          struct sweep_table *table, struct sweep_point *point);

/** An error in one line: place (the file's name without its folder), message, hint. Returns buffer. */
char *sweep_point_error(const struct error *error, char *buffer, size_t size);

#endif
