// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The results of a sweep in numbers: points, the runs of each, and every metric of every run.
 */
#ifndef MOEFABRIC_RESULTS_SWEEP_TABLE_H
#define MOEFABRIC_RESULTS_SWEEP_TABLE_H

#include "results/comparison.h"
#include "results/metric.h"
#include "results/summary.h"

#include <stdbool.h>
#include <stdint.h>

enum { SWEEP_TABLE_KEY_SIZE = 128, SWEEP_TABLE_METRIC_SIZE = 2 * MEASUREMENT_NAME_SIZE };

/** How far a point has come. Values are stored. */
enum sweep_outcome {
    SWEEP_MISSING = 0, /**< not run yet */
    SWEEP_DONE =
        1, /**< every run has ended in a way that it would end again: finished, stalled, out of simulated time */
    SWEEP_REFUSED = 2, /**< its configuration has a mistake */
    SWEEP_FAILED =
        3, /**< ended by what the machine is or did: wall time, memory, a signal, a file that cannot be written */
};

/** A metric of runs. */
struct sweep_metric {
    char name[SWEEP_TABLE_METRIC_SIZE];  /**< "rank_time.p99"; of a phase "dispatch/busbw" */
    char title[SWEEP_TABLE_METRIC_SIZE]; /**< "rank time p99", "dispatch busbw" */
    const struct metric *metric;
};

/** A run: one policy, one seed. */
struct sweep_run {
    char policy[MEASUREMENT_NAME_SIZE];
    uint64_t seed;
    enum measurement_outcome outcome;
    uint64_t traffic_digest;
    double *values;    /**< [n_values] in kept units, in the order of the table's metrics; NAN = not defined */
    uint32_t n_values; /**< metrics that came to the table later are not defined */
};

/** A point. */
struct sweep_point {
    uint64_t number; /**< in the sweep */
    uint64_t hash;   /**< of its configuration and the program */
    enum sweep_outcome outcome;
    char *error;         /**< why it is not done, in a line; empty if it is */
    char *configuration; /**< resolved, as YAML; empty if it is refused */
    char **values;       /**< [n_axes] as one line of YAML; empty where the point leaves a key alone */
    struct sweep_run *runs;
    uint32_t n_runs; /**< policies × seeds, policy by policy */
};

/** All of it. */
struct sweep_table {
    char *title, *program_version;
    char (*axes)[SWEEP_TABLE_KEY_SIZE]; /**< [n_axes] dotted keys */
    uint32_t n_axes;
    struct sweep_metric *metrics;
    uint32_t n_metrics;
    struct sweep_point *points;
    uint32_t n_points;
};

/** A table without points; texts are copied. Freed by sweep_table_free. */
struct sweep_table *sweep_table_create(const char *title, const char *program_version, uint32_t n_axes,
                                       const char *const *axes);

/** Appends a point without runs, SWEEP_MISSING; values are copied. The pointer holds until the next call. */
struct sweep_point *sweep_table_add_point(struct sweep_table *table, uint64_t number, const char *const *values);

/** Replaces a text of a point by a copy. */
void sweep_table_set_text(char **text, const char *value);

/** Appends a run of a point of the table. */
void sweep_table_add_run(struct sweep_table *table, struct sweep_point *point, const struct summary *summary);

/** Index of a metric by its name, which is added if the program knows it; UINT32_MAX if it does not. */
uint32_t sweep_table_metric(struct sweep_table *table, const char *name);

/** Sets n values of a run; indexes[i] is the metric of values[i], UINT32_MAX = none that is known. */
void sweep_table_set_values(const struct sweep_table *table, struct sweep_run *run, const double *values,
                            const uint32_t *indexes, uint32_t n);

/** Gives outcome, texts and runs of a point of another table to a point of this one; the axes stay. The other is left without runs. */
void sweep_table_absorb(struct sweep_table *table, struct sweep_point *point, const struct sweep_table *other,
                        struct sweep_point *given);

/** A metric of a run; NAN where it is not defined. */
double sweep_table_value(const struct sweep_run *run, uint32_t metric);

/** A metric over the runs [first, end) of a point: mean, extremes, confidence interval. */
struct comparison_range sweep_table_range(const struct sweep_point *point, uint32_t first, uint32_t end,
                                          uint32_t metric);

/** The end of the runs that share the policy of run `first`. */
uint32_t sweep_table_policy_end(const struct sweep_point *point, uint32_t first);

/** How the runs from first to end - 1 ended: finished, or as the first that did not. */
enum measurement_outcome sweep_table_outcome(const struct sweep_point *point, uint32_t first, uint32_t end);

/** The outcome in words. */
const char *sweep_table_outcome_name(enum sweep_outcome outcome);

/** Frees a table; NULL is allowed. */
void sweep_table_free(struct sweep_table *table);

#endif
