// SPDX-License-Identifier: GPL-3.0-or-later
#include "acknowledge.h"
#include "usual.h"

#include "congestion/timely.h"
#include "run_suite.h"

#include <check.h>

#define US UINT64_C(1000000)
#define MBPS UINT64_C(1000000)
#define LINE (UINT64_C(10000) * MBPS)

static struct congestion_parameters figures(void) {
    return usual_congestion(CONGESTION_TIMELY, LINE);
}

static struct acknowledge_pair start(const struct congestion_parameters *parameters) {
    return acknowledge_start(
        parameters, &(struct congestion_way){
                        .line_bits_per_s = LINE, .base_round_trip_ps = 20 * US, .packet_bytes = 1000, .switches = 1});
}

/* One decision: an ACK that acknowledges more than had been sent at the last one. */
static uint64_t decide(struct acknowledge_pair *pair, uint64_t round_trip_ps) {
    acknowledge(pair, round_trip_ps, round_trip_ps, 2, false);
    return acknowledge_rate(pair);
}

START_TEST(defaults_are_the_published_figures) {
    const struct timely_parameters p = figures().timely;
    ck_assert_double_eq(p.weight, 0.875);
    ck_assert_double_eq(p.decrease, 0.8);
    ck_assert_uint_eq(p.low_ps, 50 * US);
    ck_assert_uint_eq(p.high_ps, 500 * US);
    ck_assert_uint_eq(p.least_round_trip_ps, 20 * US);
    ck_assert_uint_eq(p.additive_bits_per_s, 10 * MBPS);
    ck_assert_uint_eq(p.hyper_bits_per_s, 50 * MBPS);
    ck_assert_uint_eq(p.hyper_stages, 5);
    ck_assert_uint_eq(p.minimum_bits_per_s, 100 * MBPS);
}
END_TEST

START_TEST(first_round_trip_is_only_noted) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    ck_assert_uint_eq(decide(&pair, 900 * US), LINE);
    ck_assert_uint_eq(acknowledge_window(&pair), CONGESTION_UNLIMITED);
}
END_TEST

/*
 * By hand: 900 us after 900 us: above high, 10,000 × (1 - 0.8 × (1 - 500/900)) = 6,444.4 Mb/s. Then 100 us: difference = 0.875 × -800
 * = -700 us, gradient < 0: + 10. Then 104 us: 0.125 × -700 + 0.875 × 4 = -84 us: + 10. 104 + 20: 0.125 × -84 + 0.875 × 20 = 7 us,
 * gradient 0.35: × (1 - 0.28).
 */
START_TEST(decisions_follow_the_rule_by_hand) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    decide(&pair, 900 * US);
    const uint64_t cut = decide(&pair, 900 * US);
    ck_assert_uint_eq(cut / MBPS, 6444);
    ck_assert_uint_eq(decide(&pair, 100 * US), cut + 10 * MBPS);
    ck_assert_uint_eq(decide(&pair, 104 * US), cut + 20 * MBPS);
    const double expected = (double)(cut + 20 * MBPS) * 0.72;
    ck_assert_double_eq_tol((double)decide(&pair, 124 * US), expected, 2);
}
END_TEST

START_TEST(hyper_step_after_five_increases_in_a_row) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    decide(&pair, 900 * US);
    uint64_t rate = decide(&pair, 900 * US);
    for (int i = 0; i < 5; i++) {
        rate += 10 * MBPS;
        ck_assert_uint_eq(decide(&pair, 30 * US), rate);
    }
    ck_assert_uint_eq(decide(&pair, 30 * US), rate + 50 * MBPS);
    ck_assert_uint_eq(decide(&pair, 30 * US), rate + 100 * MBPS);
    const uint64_t cut = decide(&pair, 900 * US);
    ck_assert_uint_lt(cut, rate);
    ck_assert_uint_eq(decide(&pair, 30 * US), cut + 10 * MBPS);
}
END_TEST

START_TEST(one_decision_a_round_trip) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    decide(&pair, 900 * US);
    decide(&pair, 900 * US);
    const uint64_t rate = acknowledge_rate(&pair);
    acknowledge(&pair, US, 900 * US, 1, false); /* up to what had been sent then, not more */
    ck_assert_uint_eq(acknowledge_rate(&pair), rate);
    acknowledge(&pair, US, 900 * US, 1, false);
    ck_assert_uint_lt(acknowledge_rate(&pair), rate);
}
END_TEST

START_TEST(rate_stays_between_minimum_and_line_and_ignores_losses) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    for (int i = 0; i < 100; i++) {
        decide(&pair, 5000 * US);
    }
    ck_assert_uint_eq(acknowledge_rate(&pair), 100 * MBPS);
    for (int i = 0; i < 1000; i++) {
        decide(&pair, 20 * US);
        pair.controller->lost(&parameters, &pair.state, pair.now_ps);
    }
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE);
}
END_TEST

START_TEST(an_ack_without_a_round_trip_decides_nothing) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    decide(&pair, 900 * US);
    acknowledge(&pair, US, 0, 50, false);
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE);
    ck_assert_uint_lt(decide(&pair, 900 * US), LINE);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("timely");
    TCase *tests = tcase_create("timely");
    tcase_add_test(tests, defaults_are_the_published_figures);
    tcase_add_test(tests, first_round_trip_is_only_noted);
    tcase_add_test(tests, decisions_follow_the_rule_by_hand);
    tcase_add_test(tests, hyper_step_after_five_increases_in_a_row);
    tcase_add_test(tests, one_decision_a_round_trip);
    tcase_add_test(tests, rate_stays_between_minimum_and_line_and_ignores_losses);
    tcase_add_test(tests, an_ack_without_a_round_trip_decides_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
