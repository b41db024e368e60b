// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whether the rows of a measurement that came from a file agree with each other.
 */
#ifndef MOEFABRIC_RESULTS_LOAD_CHECK_H
#define MOEFABRIC_RESULTS_LOAD_CHECK_H

#include "results/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Checks that every number which names a row of another table names one that is there, that times are in order, and that kinds are
 * known: what the code that sums up measurements relies on. False, with one sentence in reason, at the first that does not.
 */
bool load_check(const struct measurement *measurement, char *reason, size_t reason_size);

#endif
