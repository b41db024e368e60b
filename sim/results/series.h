// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Series of one run: what links and queue pairs did, interval by interval. Names, units and meaning: series_columns.
 */
#ifndef MOEFABRIC_RESULTS_SERIES_H
#define MOEFABRIC_RESULTS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is known of a link in an interval. */
enum series_quantity {
    SERIES_QUEUE_BYTES,
    SERIES_DEEPEST_BYTES,
    SERIES_SENT_BYTES,
    SERIES_PAUSED_PS,
    SERIES_MARKS,
    SERIES_DROPS,
    SERIES_QUANTITIES
};

/** What is known of a queue pair. */
enum series_pair_quantity {
    SERIES_PAIR_ALLOWED_BITS_PER_S,
    SERIES_PAIR_WINDOW_PACKETS,
    SERIES_PAIR_SENT_PACKETS,
    SERIES_PAIR_QUANTITIES
};

/** One quantity as the result file calls it. */
struct series_column {
    const char *name, *units, *long_name;
};

/** By enum series_quantity and series_pair_quantity. */
extern const struct series_column series_columns[SERIES_QUANTITIES];
extern const struct series_column series_pair_columns[SERIES_PAIR_QUANTITIES];

/** A queue pair: number queue_pair of those from source to destination. */
struct series_pair {
    uint32_t source, destination, queue_pair;
};

/** Rows are intervals, columns links or queue pairs. Freed by series_free. */
struct series {
    uint64_t interval_ps, from_ps;
    uint32_t n_intervals;
    bool ended_early; /**< the run went on after the last interval that there was room for */
    uint32_t n_links, n_pairs;
    uint32_t *links;                               /**< [n_links] rows of the links of the run */
    uint64_t *values[SERIES_QUANTITIES];           /**< [n_intervals × n_links]; NULL: not recorded */
    struct series_pair *pairs;                     /**< [n_pairs] */
    uint64_t *pair_values[SERIES_PAIR_QUANTITIES]; /**< [n_intervals × n_pairs] */
};

/** Frees series and all that they own; NULL is allowed. */
void series_free(struct series *series);

#endif
