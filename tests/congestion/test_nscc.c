// SPDX-License-Identifier: GPL-3.0-or-later
#include "acknowledge.h"
#include "usual.h"

#include "congestion/nscc.h"
#include "run_suite.h"

#include <check.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(100000000000)

/* 100 Gb/s × 12 us = 150,000 bytes = 100 packets: the reference path, A = B = 1, T = 12 us; the largest window is 150 packets. */
enum { PACKET_BYTES = 1500 };

static struct congestion_parameters figures(void) {
    return usual_congestion(CONGESTION_NSCC, LINE);
}

static struct acknowledge_pair start(const struct congestion_parameters *parameters) {
    return acknowledge_start(parameters, &(struct congestion_way){.line_bits_per_s = LINE,
                                                                  .base_round_trip_ps = 12 * US,
                                                                  .packet_bytes = PACKET_BYTES,
                                                                  .switches = 1});
}

/* Brings the window down: lost, and only so many packets acknowledged since quick adapt was looked at. */
static struct acknowledge_pair start_at(const struct congestion_parameters *parameters, uint32_t packets) {
    struct acknowledge_pair pair = start(parameters);
    acknowledge(&pair, US, 12 * US, 1, false);       /* looked at for the first time, ends 24 us later */
    acknowledge(&pair, US, 12 * US, packets, false); /* achieved */
    pair.now_ps += 24 * US;
    pair.controller->lost(parameters, &pair.state, pair.now_ps);
    acknowledge(&pair, 0, 14 * US, 0, false); /* a delay ends the calm, and the period begins anew */
    return pair;
}

START_TEST(starts_with_one_and_a_half_products_at_line_rate) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    ck_assert_uint_eq(acknowledge_window(&pair), 150);
    ck_assert_uint_ge(acknowledge_rate(&pair), LINE);
}
END_TEST

START_TEST(quick_adapt_takes_what_was_acknowledged) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start_at(&parameters, 10);
    ck_assert_uint_eq(acknowledge_window(&pair), 10);
}
END_TEST

START_TEST(quick_adapt_needs_a_loss_or_four_targets_and_little_progress) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start_at(&parameters, 19); /* 150 / 8 = 18.75 */
    ck_assert_uint_eq(acknowledge_window(&pair), 150);
    pair = start(&parameters);
    acknowledge(&pair, US, 12 * US, 1, false);
    acknowledge(&pair, US, 12 * US, 4, false);
    acknowledge(&pair, 30 * US, 60 * US, 1, false); /* a delay of 48 us is not above 4 × 12 us */
    ck_assert_uint_eq(acknowledge_window(&pair), 150);
    acknowledge(&pair, 30 * US, 61 * US, 5, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 5);
    acknowledge(&pair, 300 * US, 100 * US, 5, true); /* what was in flight changes nothing */
    ck_assert_uint_eq(acknowledge_window(&pair), 5);
}
END_TEST

/* Window 10, target 12 us, delay 6 us: 4 MTU × 1/2 a window; 8 packets: + 4 × 0.5 × 8/10 = 1.6 packets, 11.6; again: + 1.38, 12.98. */
START_TEST(proportional_increase_by_hand) {
    struct congestion_parameters parameters = figures();
    parameters.nscc.steady = 0;
    struct acknowledge_pair pair = start_at(&parameters, 10);
    acknowledge(&pair, 0, 18 * US, 7, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 10); /* gathered, not used yet */
    acknowledge(&pair, 0, 18 * US, 1, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 11);
    acknowledge(&pair, 0, 18 * US, 8, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 12);
    acknowledge(&pair, 0, 18 * US, 8, false); /* + 1.23: 14.21 */
    ck_assert_uint_eq(acknowledge_window(&pair), 14);
}
END_TEST

/* Window 10, delay 12 us = the target, no mark: 5 MTU a window: 8 packets give 4 packets more. */
START_TEST(fair_increase_by_hand) {
    struct congestion_parameters parameters = figures();
    parameters.nscc.steady = 0;
    struct acknowledge_pair pair = start_at(&parameters, 10);
    acknowledge(&pair, 0, 24 * US, 8, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 14);
}
END_TEST

/* Calm for more than a window of 10: every packet acknowledged adds a quarter of it. */
START_TEST(fast_increase_after_a_window_without_delay) {
    struct congestion_parameters parameters = figures();
    parameters.nscc.steady = 0;
    parameters.nscc.proportional = 0;
    struct acknowledge_pair pair = start_at(&parameters, 10);
    acknowledge(&pair, 0, 12 * US, 9, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 10);
    acknowledge(&pair, 0, 12 * US, 8, false);
    ck_assert_uint_eq(acknowledge_window(&pair), 12);
    acknowledge(&pair, 0, 13 * US, 8, false); /* a delay of 1 us ends it */
    ck_assert_uint_eq(acknowledge_window(&pair), 12);
}
END_TEST

/* The mean delay is the last one here. 36 us: 1 - 0.8 × 24/36 = 0.467 is limited to one half. 18 us: 1 - 0.8 × 6/18 = 0.733: 55. */
START_TEST(decrease_on_marks_by_the_mean_delay) {
    struct congestion_parameters parameters = figures();
    parameters.nscc.steady = 0;
    parameters.nscc.delay_weight = 1;
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, 13 * US, 48 * US, 20, true);
    ck_assert_uint_eq(acknowledge_window(&pair), 75);
    acknowledge(&pair, 12 * US, 30 * US, 20, true); /* no more than one a round trip */
    ck_assert_uint_eq(acknowledge_window(&pair), 75);
    acknowledge(&pair, 1, 30 * US, 20, true);
    ck_assert_uint_eq(acknowledge_window(&pair), 55);
}
END_TEST

/* 0.0125 of 36 us is far from the target of 12 us: one late packet is no congestion yet. */
START_TEST(the_mean_delay_is_slow) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, 13 * US, 48 * US, 20, true);
    ck_assert_uint_eq(acknowledge_window(&pair), 150);
}
END_TEST

START_TEST(marks_without_delay_change_nothing) {
    struct congestion_parameters parameters = figures();
    parameters.nscc.steady = 0;
    struct acknowledge_pair pair = start_at(&parameters, 10);
    for (int i = 0; i < 100; i++) {
        acknowledge(&pair, US, 20 * US, 1, true);
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 10);
}
END_TEST

START_TEST(steady_increase_once_a_round_trip) {
    struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start_at(&parameters, 10);
    for (int i = 0; i < 7; i++) { /* marks without delay: nothing else acts; 7 × 0.15 packets */
        acknowledge(&pair, 13 * US, 20 * US, 1, true);
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 11);
}
END_TEST

/* Outside of quick adapt's turn a trimmed packet costs a packet of window, down to one. */
START_TEST(a_trimmed_packet_costs_a_packet_of_window) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start_at(&parameters, 10);
    for (uint32_t window = 9; window > 1; window--) {
        pair.controller->trimmed(&parameters, &pair.state, window, pair.now_ps);
        ck_assert_uint_eq(acknowledge_window(&pair), window);
    }
    pair.controller->trimmed(&parameters, &pair.state, 1, pair.now_ps);
    pair.controller->trimmed(&parameters, &pair.state, 1, pair.now_ps);
    ck_assert_uint_eq(acknowledge_window(&pair), 1);
}
END_TEST

/* In quick adapt's turn the window becomes what was acknowledged, 4 packets, and the 6 in flight change nothing more. */
START_TEST(a_trimmed_packet_lets_the_window_collapse_once) {
    const struct congestion_parameters parameters = figures();
    struct acknowledge_pair pair = start(&parameters);
    acknowledge(&pair, US, 12 * US, 1, false);
    acknowledge(&pair, US, 12 * US, 4, false);
    pair.now_ps += 24 * US;
    for (int i = 0; i < 1 + 6; i++) {
        pair.controller->trimmed(&parameters, &pair.state, 6, pair.now_ps);
        ck_assert_uint_eq(acknowledge_window(&pair), 4);
    }
    pair.controller->trimmed(&parameters, &pair.state, 0, pair.now_ps);
    ck_assert_uint_eq(acknowledge_window(&pair), 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("nscc");
    TCase *tests = tcase_create("nscc");
    tcase_add_test(tests, starts_with_one_and_a_half_products_at_line_rate);
    tcase_add_test(tests, quick_adapt_takes_what_was_acknowledged);
    tcase_add_test(tests, quick_adapt_needs_a_loss_or_four_targets_and_little_progress);
    tcase_add_test(tests, proportional_increase_by_hand);
    tcase_add_test(tests, fair_increase_by_hand);
    tcase_add_test(tests, fast_increase_after_a_window_without_delay);
    tcase_add_test(tests, decrease_on_marks_by_the_mean_delay);
    tcase_add_test(tests, the_mean_delay_is_slow);
    tcase_add_test(tests, marks_without_delay_change_nothing);
    tcase_add_test(tests, steady_increase_once_a_round_trip);
    tcase_add_test(tests, a_trimmed_packet_costs_a_packet_of_window);
    tcase_add_test(tests, a_trimmed_packet_lets_the_window_collapse_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
