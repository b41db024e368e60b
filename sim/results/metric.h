// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The rows of a comparison: which numbers of a summary are shown, under which name and unit, and what they mean.
 * A new row is one line in metric.c.
 */
#ifndef MOEFABRIC_RESULTS_METRIC_H
#define MOEFABRIC_RESULTS_METRIC_H

#include "results/summary.h"

#include <stdbool.h>
#include <stddef.h>

enum { METRIC_UNIT_SIZE = 48 };

/** What kind of number a metric is: decides its unit. */
enum metric_quantity {
    METRIC_TIME,      /**< kept in picoseconds */
    METRIC_BYTES,     /**< kept in bytes */
    METRIC_BANDWIDTH, /**< kept in bytes per second, shown in GB/s */
    METRIC_FACTOR,    /**< a multiple of something */
    METRIC_SHARE,     /**< part of 1, shown in per cent */
    METRIC_PACKETS,
    METRIC_PAUSES,
    METRIC_STALLS,
    METRIC_MESSAGES,
    METRIC_PIECES,
    METRIC_POWER,  /**< kept in watts */
    METRIC_COST,   /**< in whatever currency the prices are */
    METRIC_TOKENS, /**< a second */
};

/** When a row is shown; a row that is defined for no policy never is. */
enum metric_visibility {
    METRIC_ALWAYS,
    METRIC_DETAIL, /**< where details are wanted */
    METRIC_IF_ANY, /**< if it is not zero everywhere: what should never happen */
};

/** One metric. */
struct metric {
    const char *id;    /**< in JSON */
    const char *group; /**< first words of the row's name, or of the legend's line for phases; names a legend */
    const char *row;   /**< rest of the row's name; may be empty */
    enum metric_quantity quantity;
    enum metric_visibility visibility;
    size_t offset;       /**< of the double in struct summary or struct summary_phase */
    double quantile;     /**< which one of a sample it is, as a part of 1; 0 = none */
    size_t count_offset; /**< of a quantile: of the uint64_t that counts the sample's values */
};

/** Metrics that stand together. */
struct metric_section {
    const struct metric *metrics;
    size_t count;
    bool
        of_finished; /**< times and rates: not defined for a run that did not finish, whose slowest messages are missing */
    bool of_design; /**< of designs (`moefabric size`), in no summary: not among the rows of a comparison */
    bool
        per_phase; /**< offsets are in struct summary_phase; once for each payload and background phase, rows named after it */
};

/** All sections, in the order of the table. */
extern const struct metric_section metric_sections[];
extern const size_t metric_sections_count;

/** What a group of rows means, in one line. */
const char *metric_legend(const char *group);

/** The metric's value in a summary or, for sections per phase, in a phase of it; NAN = not defined. */
double metric_value(const struct metric *metric, const void *summary);

/**
 * Whether the metric is a quantile of a sample too small for it: less than one value lies beyond it (p99 of fewer than 100 values),
 * so that it is little else than the largest one. Fills the count of values where it is true.
 */
bool metric_is_thin(const struct metric *metric, const void *summary, uint64_t *count);

/** A unit that suits a row whose largest value is this: fills its name, returns how much of the kept unit it is. */
double metric_unit(enum metric_quantity quantity, double largest, char name[METRIC_UNIT_SIZE]);

/** The kept unit, as in JSON: ps, B, B/s, 1, packets … */
const char *metric_kept_unit(enum metric_quantity quantity);

#endif
