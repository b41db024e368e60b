// SPDX-License-Identifier: GPL-3.0-or-later
/* Draws with given shares: the shares are met, and of all laws that meet them it is the one of largest entropy. */
#include "base/hash.h"
#include "base/memory.h"
#include "run_suite.h"
#include "workload/gate_sample.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 512, TOKENS = 200000 };

/* Weights of a given unevenness: exp(steepness × uniform). */
static const struct {
    uint32_t n, top_k;
    double steepness;
} laws[] = {
    {32, 4, 0}, {32, 4, 2},  {256, 8, 1}, {256, 8, 4},  {256, 8, 12}, {8, 2, 3},
    {4, 3, 2},  {16, 15, 1}, {64, 1, 5},  {512, 10, 6}, {8, 8, 1},    {128, 40, 30},
};

static struct gate_sample *make(int which, double *shares) {
    double weights[LARGEST];
    for (uint32_t i = 0; i < laws[which].n; i++) {
        weights[i] =
            exp(laws[which].steepness * hash_unit(hash_draw(hash_stream(3, HASH_PURPOSE_TEST, (uint64_t)which, 0), i)));
    }
    gate_sample_shares(weights, laws[which].n, laws[which].top_k, shares);
    return gate_sample_create(shares, laws[which].n, laws[which].top_k);
}

START_TEST(shares_sum_to_k_and_are_met_to_a_billionth) {
    double shares[LARGEST], sum = 0;
    struct gate_sample *sample = make(_i, shares);
    for (uint32_t i = 0; i < laws[_i].n; i++) {
        ck_assert_double_eq_tol(gate_sample_share(sample, i), shares[i], 1e-9);
        ck_assert(shares[i] >= 0 && shares[i] <= 1);
        sum += shares[i];
    }
    ck_assert_double_eq_tol(sum, laws[_i].top_k, 1e-9);
    gate_sample_free(sample);
}
END_TEST

/* Each expert is in a token's set or not: of n such counts, z² has n - 1 degrees of freedom but for the weak dependence between experts. */
START_TEST(marginal_frequencies_fit_by_chi_square) {
    double shares[LARGEST], statistic = 0;
    uint32_t seen[LARGEST] = {0}, picks[64], tested = 0, repeated = 0;
    struct gate_sample *sample = make(_i, shares);
    for (uint32_t token = 0; token < TOKENS; token++) {
        uint64_t count = 0;
        gate_sample_draw(sample, hash_stream(1, HASH_PURPOSE_TEST, 1, token), &count, picks);
        for (uint32_t i = 0; i < laws[_i].top_k; i++) {
            for (uint32_t j = 0; j < i; j++) {
                repeated += picks[i] == picks[j];
            }
            seen[picks[i]]++;
        }
    }
    ck_assert_uint_eq(repeated, 0);
    for (uint32_t i = 0; i < laws[_i].n; i++) {
        const double variance = TOKENS * shares[i] * (1 - shares[i]);
        if (variance < 25) { // too rare, or too certain, for the normal law
            ck_assert_double_eq_tol(seen[i], TOKENS * shares[i], 8 * sqrt(variance) + 8);
            continue;
        }
        tested++;
        statistic += pow(seen[i] - TOKENS * shares[i], 2) / variance * (1 - shares[i]);
    }
    if (tested > 4) {
        ck_assert_msg(gsl_cdf_chisq_Q(statistic, tested) > 1e-4, "%g with %u", statistic, tested);
        ck_assert_msg(gsl_cdf_chisq_P(statistic, tested) > 1e-6, "%g with %u is too good", statistic, tested);
    }
    gate_sample_free(sample);
}
END_TEST

/* Four experts, two picked: P{a, b} is in proportion to odds a × odds b. */
START_TEST(pairs_have_the_product_of_their_odds) {
    const double odds[] = {0.2, 0.7, 1.5, 4}; /* with these the shares follow by summing over the 6 pairs */
    double all = 0, shares[4] = {0};
    uint32_t seen[4][4] = {{0}}, picks[2];
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            all += odds[a] * odds[b];
            shares[a] += odds[a] * odds[b];
            shares[b] += odds[a] * odds[b];
        }
    }
    for (int a = 0; a < 4; a++) {
        shares[a] /= all;
    }
    struct gate_sample *sample = gate_sample_create(shares, 4, 2);
    for (uint32_t token = 0; token < TOKENS; token++) {
        uint64_t count = 0;
        gate_sample_draw(sample, hash_stream(2, HASH_PURPOSE_TEST, 2, token), &count, picks);
        seen[picks[0] < picks[1] ? picks[0] : picks[1]][picks[0] < picks[1] ? picks[1] : picks[0]]++;
    }
    double statistic = 0;
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            const double expected = TOKENS * odds[a] * odds[b] / all;
            statistic += pow(seen[a][b] - expected, 2) / expected;
        }
    }
    ck_assert_msg(gsl_cdf_chisq_Q(statistic, 5) > 1e-4, "%g", statistic);
    gate_sample_free(sample);
}
END_TEST

START_TEST(what_is_beyond_one_goes_to_the_others) {
    const double weights[] = {90, 6, 3, 1, 0};
    double shares[5];
    gate_sample_shares(weights, 5, 2, shares);
    ck_assert_double_eq(shares[0], 1);
    ck_assert_double_eq_tol(shares[1], 0.6, 1e-12);
    ck_assert_double_eq_tol(shares[3], 0.1, 1e-12);
    ck_assert_double_eq(shares[4], 0);
    struct gate_sample *sample = gate_sample_create(shares, 5, 2);
    for (uint32_t token = 0; token < 1000; token++) {
        uint32_t picks[2];
        uint64_t count = 0;
        gate_sample_draw(sample, hash_stream(2, HASH_PURPOSE_TEST, 3, token), &count, picks);
        ck_assert_uint_eq(picks[0], 0);
        ck_assert(picks[1] >= 1 && picks[1] <= 3);
    }
    gate_sample_free(sample);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("gate_sample");
    TCase *cases = tcase_create("gate_sample");
    const int n = sizeof laws / sizeof laws[0];
    tcase_add_loop_test(cases, shares_sum_to_k_and_are_met_to_a_billionth, 0, n);
    tcase_add_loop_test(cases, marginal_frequencies_fit_by_chi_square, 0, n);
    tcase_add_test(cases, pairs_have_the_product_of_their_odds);
    tcase_add_test(cases, what_is_beyond_one_goes_to_the_others);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
