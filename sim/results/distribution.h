// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The values that quantiles are of: which messages, flows and ranks of a run count, in one place for tables and charts.
 */
#ifndef MOEFABRIC_RESULTS_DISTRIBUTION_H
#define MOEFABRIC_RESULTS_DISTRIBUTION_H

#include "results/measurement.h"

#include <stddef.h>
#include <stdint.h>

/** Values, growing. Zero-initialise; freed by distribution_free. */
struct distribution {
    double *values;
    size_t count, capacity;
};

/** Appends one value. */
void distribution_add(struct distribution *distribution, double value);

/** Appends the times of delivered payload messages, posted to delivered (ps). */
void distribution_add_message_times(struct distribution *distribution, const struct measurement *measurement);

/** Appends the active times of finished payload flows (ps). */
void distribution_add_flow_times(struct distribution *distribution, const struct measurement *measurement);

/** Appends the slow-downs of finished payload flows where they are known, of those that do not go to one rank (MEASUREMENT_NONE: all). */
void distribution_add_slowdowns(struct distribution *distribution, const struct measurement *measurement,
                                uint32_t except);

/** Appends of each rank the time from its first start to its last finish over all phases but background's (ps); a rank that finished nothing is left out. */
void distribution_add_rank_times(struct distribution *distribution, const struct measurement *measurement);

/** Frees the values. */
void distribution_free(struct distribution *distribution);

#endif
