// SPDX-License-Identifier: GPL-3.0-or-later
#include "acknowledge.h"
#include "usual.h"

#include "congestion/swift.h"
#include "run_suite.h"

#include <check.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(100000000000)

enum { PACKET_BYTES = 1250 }; /* 0.1 us at 100 Gb/s */

static struct congestion_parameters figures(void) {
    return usual_congestion(CONGESTION_SWIFT, LINE);
}

/* Target 30 us without scaling: 20 us, and two switches of 5 us each. */
static struct congestion_parameters round_figures(double first_window) {
    struct congestion_parameters parameters = figures();
    parameters.swift.hop_ps = 5 * US;
    parameters.swift.scaling_range_ps = 0;
    parameters.swift.first_window = first_window;
    return parameters;
}

static struct acknowledge_pair start(const struct congestion_parameters *parameters) {
    return acknowledge_start(parameters, &(struct congestion_way){.line_bits_per_s = LINE,
                                                                  .base_round_trip_ps = 10 * US,
                                                                  .packet_bytes = PACKET_BYTES,
                                                                  .switches = 2});
}

START_TEST(starts_with_what_an_idle_round_trip_takes) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    ck_assert_uint_eq(acknowledge_window(&pair), 100); /* 10 us of 0.1 us each */
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE);
}
END_TEST

/* cwnd 10, ten packets in one ACK: + 1 × 10 / 10. Then 11 ACKs of one: 11 + 11 × about 1/11.5, which is 11.96, and one more. */
START_TEST(one_packet_more_each_round_trip_below_the_target) {
    const struct congestion_parameters parameters = round_figures(10);
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, US, 30 * US - 1, 10, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 11);
    for (int i = 0; i < 11; i++) {
        acknowledge(&pair, US, 20 * US, 1, false);
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 11);
    acknowledge(&pair, US, 20 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 12);
}
END_TEST

/* Delay 40 us, target 30 us: 100 × (1 - 0.8 × 10/40) = 80. 300 us: 1 - 0.8 × 270/300 = 0.28 is limited to 0.5: 40. */
START_TEST(cut_in_proportion_to_the_excess_and_by_half_at_most) {
    const struct congestion_parameters parameters = round_figures(100);
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, 50 * US, 40 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 80);
    acknowledge(&pair, 300 * US, 300 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 40);
}
END_TEST

START_TEST(one_cut_a_round_trip) {
    const struct congestion_parameters parameters = round_figures(100);
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, 50 * US, 40 * US, 1, false);
    acknowledge(&pair, 40 * US - 1, 40 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 80);
    acknowledge(&pair, 1, 40 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 64);
}
END_TEST

/* fs between windows of 0.25 and 4: a = 60 us / (2 - 1/2) = 40 us, b = -20 us. Window 1: + 20 us. */
START_TEST(small_windows_have_a_higher_target) {
    struct congestion_parameters parameters = round_figures(1);
    parameters.swift.scaling_range_ps = 60 * US;
    parameters.swift.scaling_least_window = 0.25;
    parameters.swift.scaling_most_window = 4;
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, 60 * US, 50 * US - 1000, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 2); /* below 50 us */
    pair = start(&parameters);
    acknowledge(&pair, 60 * US, 50 * US + 1000, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 1);
    ck_assert_uint_lt(acknowledge_rate(&pair), LINE); /* above: below one packet */
}
END_TEST

/* Half a window of 1: one packet each 2 × 40 us: 10,000 bits / 80 us = 125 Mb/s, less the cut of 0.8 × 10/40 before. */
START_TEST(below_one_packet_the_rate_paces) {
    const struct congestion_parameters parameters = round_figures(0.625);
    struct acknowledge_pair pair = start(&parameters);
    ck_assert_uint_eq(acknowledge_rate(&pair), 625000000); /* 10,000 bits × 0.625 / 10 us */
    acknowledge(&pair, 50 * US, 40 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 1);
    ck_assert_double_eq_tol((double)acknowledge_rate(&pair), 125e6, 2);
    acknowledge(&pair, 10 * US, 20 * US, 1, false); /* + 1 whole packet: 1.5 */
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE);
}
END_TEST

START_TEST(losses_halve_once_a_round_trip_and_reset_after_five) {
    const struct congestion_parameters parameters = round_figures(100);
    struct acknowledge_pair pair = start(&parameters);
    pair.now_ps += 50 * US;
    for (int i = 0; i < 4; i++) {
        pair.controller->lost(&parameters, &pair.state, pair.now_ps);
        ck_assert_uint_eq(acknowledge_window(&pair), 50);
    }
    pair.controller->lost(&parameters, &pair.state, pair.now_ps);
    ck_assert_uint_eq(acknowledge_window(&pair), 1);
    ck_assert_uint_eq(acknowledge_rate(&pair), 1000000); /* 0.001 packets of 10,000 bits each 10 us */
}
END_TEST

START_TEST(an_ack_between_them_parts_losses) {
    const struct congestion_parameters parameters = round_figures(100);
    struct acknowledge_pair pair = start(&parameters);
    for (int i = 0; i < 20; i++) {
        pair.controller->lost(&parameters, &pair.state, pair.now_ps);
        acknowledge(&pair, 1, 0, 1, false); /* without a round trip too */
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 100);
}
END_TEST

START_TEST(window_stays_within_its_bounds) {
    struct congestion_parameters parameters = round_figures(100);
    parameters.swift.most_window = 103;
    struct acknowledge_pair pair = start(&parameters);
    for (int i = 0; i < 1000; i++) {
        acknowledge(&pair, US, 20 * US, 1, false);
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 103);
    for (int i = 0; i < 100; i++) {
        acknowledge(&pair, 1000 * US, 1000 * US, 1, false);
    }
    ck_assert_uint_eq(acknowledge_rate(&pair), 10000); /* 0.001 packets a millisecond */
}
END_TEST

int main(void) {
    Suite *suite = suite_create("swift");
    TCase *tests = tcase_create("swift");
    tcase_add_test(tests, starts_with_what_an_idle_round_trip_takes);
    tcase_add_test(tests, one_packet_more_each_round_trip_below_the_target);
    tcase_add_test(tests, cut_in_proportion_to_the_excess_and_by_half_at_most);
    tcase_add_test(tests, one_cut_a_round_trip);
    tcase_add_test(tests, small_windows_have_a_higher_target);
    tcase_add_test(tests, below_one_packet_the_rate_paces);
    tcase_add_test(tests, losses_halve_once_a_round_trip_and_reset_after_five);
    tcase_add_test(tests, an_ack_between_them_parts_losses);
    tcase_add_test(tests, window_stays_within_its_bounds);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
