// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/interval.h"

#include "base/memory.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { RESAMPLES = 4000 };
static const double tail_share = 0.025; /* 95 % lie between the two tails */

static bool all_equal(const double *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (values[i] != values[0]) {
            return false;
        }
    }
    return true;
}

/** Means of RESAMPLES samples drawn from the values with replacement, in order; the caller frees them. */
static double *resampled_means(const double *values, size_t count) {
    double *means = memory_allocate(RESAMPLES, sizeof *means);
    gsl_rng *draws = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < RESAMPLES; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < count; j++) {
            sum += values[gsl_rng_uniform_int(draws, count)];
        }
        means[i] = sum / (double)count;
    }
    gsl_rng_free(draws);
    gsl_sort(means, 1, RESAMPLES);
    return means;
}

/** Efron's z0: the normal quantile of the share of resampled means below the mean itself; those equal to it count half. */
static double bias_of(const double *means, double mean) {
    double below = 0.0;
    for (size_t i = 0; i < RESAMPLES; i++) {
        below += means[i] < mean ? 1.0 : means[i] == mean ? 0.5 : 0.0;
    }
    const double share = fmin(fmax(below, 1.0), RESAMPLES - 1.0) / RESAMPLES;
    return gsl_cdf_ugaussian_Pinv(share);
}

/** Efron's a by the jackknife. Leaving out value i moves the mean by (mean - value) ÷ (n - 1), so a is the values' own skewness ÷ (6 √n). */
static double acceleration_of(const double *values, size_t count, double mean) {
    double squares = 0.0, cubes = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double distance = values[i] - mean;
        squares += distance * distance;
        cubes += distance * distance * distance;
    }
    return cubes / (6.0 * pow(squares, 1.5));
}

/** The resampled mean at the corrected place of a tail. */
static double bound(const double *means, double bias, double acceleration, double tail) {
    const double shifted = bias + gsl_cdf_ugaussian_Pinv(tail);
    const double place = gsl_cdf_ugaussian_P(bias + shifted / (1.0 - acceleration * shifted));
    return gsl_stats_quantile_from_sorted_data(means, 1, RESAMPLES, place);
}

struct interval interval_of_mean(const double *values, size_t count) {
    if (count < INTERVAL_LEAST_VALUES) {
        return (struct interval){.low = NAN, .high = NAN};
    }
    if (all_equal(values, count)) {
        return (struct interval){.low = values[0], .high = values[0]};
    }
    const double mean = gsl_stats_mean(values, 1, count);
    double *means = resampled_means(values, count);
    const double bias = bias_of(means, mean), acceleration = acceleration_of(values, count, mean);
    const struct interval interval = {.low = bound(means, bias, acceleration, tail_share),
                                      .high = bound(means, bias, acceleration, 1.0 - tail_share)};
    free(means);
    return interval;
}
