// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Policies side by side: each metric's mean and range over seeds, and its ratio to the first policy, seed by seed. One policy with
 * one seed is a comparison too: the summary of a run.
 */
#ifndef MOEFABRIC_RESULTS_COMPARISON_H
#define MOEFABRIC_RESULTS_COMPARISON_H

#include "results/interval.h"
#include "results/json.h"
#include "results/metric.h"
#include "results/summary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A metric over the seeds of one policy. Where it is defined for no seed, count is 0 and the rest NAN. */
struct comparison_range {
    double mean, low, high;
    struct interval
        interval; /**< 95 % confidence interval of the mean; NAN with fewer than INTERVAL_LEAST_VALUES seeds */
    uint32_t count;
};

/** One row: a metric (of a phase), for every policy. */
struct comparison_row {
    const struct metric *metric;
    bool of_finished; /**< see metric.h */
    bool per_phase;
    uint32_t phase;
    char name[2 * MEASUREMENT_NAME_SIZE]; /**< "rank time p99", "dispatch busbw" */
    struct comparison_range *ranges;      /**< [n_policies] */
    struct comparison_range *
        ratios; /**< [n_policies] of the ratios to another policy (comparison_reference), seed by seed: seeds share their traffic. count 0 unless that policy's value is above 0 in every seed that both have */
};

/** The rows that are worth showing, in order. */
struct comparison_rows {
    struct comparison_row *rows;
    uint32_t count;
};

/** Policies × seeds. */
struct comparison {
    uint32_t n_policies, n_seeds;
    char (*policies)[MEASUREMENT_NAME_SIZE];
    struct summary **summaries; /**< [policy × n_seeds + seed]; NULL = not run (interrupted) */
};

/** An empty comparison of these policies (names are copied). Freed by comparison_free. */
struct comparison *comparison_create(uint32_t n_policies, const char *const *policies, uint32_t n_seeds);

/** Puts the summary of a run in its place (seed is its number in the list of seeds) and takes it over. */
void comparison_set(struct comparison *comparison, uint32_t policy, uint32_t seed, struct summary *summary);

/**
 * The comparison of runs that are measured already, each (policy, seed) at most once: policies and seeds in the order in which they first
 * occur. The measurements stay the caller's.
 */
struct comparison *comparison_of_runs(struct measurement *const *runs, uint32_t n_runs);

/** Mean, extremes and confidence interval of the values that are defined (not NAN); reorders them. */
struct comparison_range comparison_range_of(double *values, uint32_t n_values);

/** How a run ended, in words. */
const char *comparison_outcome_name(enum measurement_outcome outcome);

/** Any summary that is there, the first policy's and seed's first; NULL if there is none. */
const struct summary *comparison_any(const struct comparison *comparison);

/** Rows that are defined somewhere, with details or without. Freed by comparison_rows_free. */
struct comparison_rows comparison_rows(const struct comparison *comparison, bool detail);

/** The policy that a policy is divided by: under the fluid model the same by packets where it stands beside, else the first. */
uint32_t comparison_reference(const struct comparison *comparison, uint32_t policy);

/** Whether the seeds leave open which of the two policies is larger: the ratio's 95 % confidence interval holds 1 and more. False where there is no interval. */
bool comparison_is_open(const struct comparison_range *ratio);

/** Whether a row is a quantile that some run has too few values for (see metric_is_thin); fills the fewest values of a run where it is. */
bool comparison_row_is_thin(const struct comparison *comparison, const struct comparison_row *row, uint64_t *count);

/** Frees rows. */
void comparison_rows_free(struct comparison_rows *rows);

/** The comparison as one JSON object: every metric with its unit, ranges, each seed's value and ratios, and the explanations. */
void comparison_json(const struct comparison *comparison, struct json *json);

/** Frees a comparison and its summaries; NULL is allowed. */
void comparison_free(struct comparison *comparison);

#endif
