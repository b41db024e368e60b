// SPDX-License-Identifier: GPL-3.0-or-later
/* Confidence intervals of means over seeds. */
#include "results/interval.h"
#include "run_suite.h"

#include <check.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

START_TEST(few_values_have_no_interval) {
    const double values[] = {1, 2, 3, 4};
    const struct interval interval = interval_of_mean(values, 4);
    ck_assert(isnan(interval.low) && isnan(interval.high));
}
END_TEST

START_TEST(equal_values_leave_no_doubt) {
    const double values[] = {7, 7, 7, 7, 7};
    const struct interval interval = interval_of_mean(values, 5);
    ck_assert_double_eq(interval.low, 7.0);
    ck_assert_double_eq(interval.high, 7.0);
}
END_TEST

START_TEST(same_values_give_the_same_bounds) {
    const double values[] = {1, 2, 4, 8, 16, 32};
    const struct interval one = interval_of_mean(values, 6), two = interval_of_mean(values, 6);
    ck_assert_double_eq(one.low, two.low);
    ck_assert_double_eq(one.high, two.high);
}
END_TEST

START_TEST(scaling_and_shifting_values_scales_and_shifts_the_interval) {
    const double values[] = {1, 2, 4, 8, 16, 32}, moved[] = {12, 14, 18, 26, 42, 74}; /* 10 + 2 × */
    const struct interval one = interval_of_mean(values, 6), two = interval_of_mean(moved, 6);
    ck_assert_double_eq_tol(two.low, 10.0 + 2.0 * one.low, 1e-9);
    ck_assert_double_eq_tol(two.high, 10.0 + 2.0 * one.high, 1e-9);
}
END_TEST

/* A long tail to the right: the bounds lie further from the mean on that side. The plain percentile bootstrap shifts less. */
START_TEST(a_skewed_sample_has_a_skewed_interval) {
    const double values[] = {1, 1, 1, 2, 2, 2, 3, 3, 4, 31};
    const struct interval interval = interval_of_mean(values, 10);
    ck_assert_double_gt(interval.high - 5.0, 1.5 * (5.0 - interval.low));
    ck_assert_double_lt(interval.low, 5.0);
}
END_TEST

/** In how many of 800 samples of this size, drawn from a distribution of mean 1, the interval holds 1. */
static double coverage(size_t size, bool exponential) {
    enum { TRIALS = 800 };
    gsl_rng *draws = gsl_rng_alloc(gsl_rng_ranlxs0);
    double *values = calloc(size, sizeof *values);
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < size; i++) {
            values[i] = exponential ? gsl_ran_exponential(draws, 1.0) : 1.0 + gsl_ran_gaussian(draws, 0.3);
        }
        const struct interval interval = interval_of_mean(values, size);
        held += interval.low <= 1.0 && interval.high >= 1.0;
    }
    free(values);
    gsl_rng_free(draws);
    return (double)held / TRIALS;
}

/* What the header says of it. 800 trials have a standard error of 0.9 to 1.3 points. */
START_TEST(it_covers_the_mean_as_often_as_its_header_says) {
    const double five = coverage(5, false), twenty = coverage(20, false), skewed = coverage(40, true);
    ck_assert_msg(five > 0.79 && five < 0.88, "of 5 values: %.3f", five);
    ck_assert_msg(twenty > 0.89 && twenty < 0.96, "of 20 values: %.3f", twenty);
    ck_assert_msg(skewed > 0.90 && skewed < 0.96, "of 40 exponential values: %.3f", skewed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("interval");
    TCase *cases = tcase_create("interval");
    tcase_add_test(cases, few_values_have_no_interval);
    tcase_add_test(cases, equal_values_leave_no_doubt);
    tcase_add_test(cases, same_values_give_the_same_bounds);
    tcase_add_test(cases, scaling_and_shifting_values_scales_and_shifts_the_interval);
    tcase_add_test(cases, a_skewed_sample_has_a_skewed_interval);
    tcase_add_test(cases, it_covers_the_mean_as_often_as_its_header_says);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
