// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How far a mean over seeds can be trusted.
 */
#ifndef MOEFABRIC_RESULTS_INTERVAL_H
#define MOEFABRIC_RESULTS_INTERVAL_H

#include <stddef.h>

/** With fewer values than this no interval is given: resamples of so few repeat each other (of 4 there are 35, of 5 126). */
enum { INTERVAL_LEAST_VALUES = 5 };

/** Two bounds in the unit of the values; both NAN where there is no interval. */
struct interval {
    double low, high;
};

/**
 * The 95 % confidence interval of the mean of `count` values: bootstrap with 4,000 resamples, bias-corrected and accelerated (Efron,
 * "Better bootstrap confidence intervals", J. Am. Stat. Assoc. 82, 1987). The draws are the same at every call: same values, same
 * bounds. Values that are all equal give that value twice. With few values the interval covers the mean somewhat less often than
 * 95 %: of 5 normal ones in about 83 % of cases, of 20 in 92 %.
 */
struct interval interval_of_mean(const double *values, size_t count);

#endif
