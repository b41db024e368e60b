// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/receiver_credit.h"
#include "run_suite.h"
#include "usual.h"

#include <check.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(100000000000)

enum { PACKET_BYTES = 1250 }; /* 0.1 us */

static const struct congestion_controller *credit;
static struct congestion_state state;

/* 10 us at 100 Gb/s are 100 packets. */
static struct congestion_parameters start(double first_window) {
    struct congestion_parameters parameters = usual_congestion(CONGESTION_RECEIVER_CREDIT, LINE);
    parameters.receiver_credit.first_window = first_window;
    credit = congestion_controller_of(CONGESTION_RECEIVER_CREDIT);
    credit->start(&parameters, &state, LINE, 0, US);
    credit->placed(
        &parameters, &state,
        &(struct congestion_way){
            .line_bits_per_s = LINE, .base_round_trip_ps = 10 * US, .packet_bytes = PACKET_BYTES, .switches = 1});
    return parameters;
}

START_TEST(one_and_a_half_products_go_unasked) {
    const struct congestion_parameters parameters = start(1.5);
    ck_assert_uint_eq(credit->window(&parameters, &state, 0), 150);
    ck_assert_uint_ge(credit->rate(&parameters, &state, US), LINE);
}
END_TEST

/* Packet n may go if n < first + pulled: with a acknowledged, first + pulled - a may be unacknowledged. */
START_TEST(acknowledgements_close_the_window_and_pulls_open_it) {
    const struct congestion_parameters parameters = start(1.5);
    ck_assert_uint_eq(credit->window(&parameters, &state, 40), 110);
    credit->pulled(&parameters, &state, 30);
    ck_assert_uint_eq(credit->window(&parameters, &state, 40), 140);
    credit->pulled(&parameters, &state, 20); /* overtaken by the one before */
    ck_assert_uint_eq(credit->window(&parameters, &state, 40), 140);
}
END_TEST

START_TEST(one_packet_may_always_go) {
    const struct congestion_parameters parameters = start(0);
    ck_assert_uint_eq(credit->window(&parameters, &state, 0), 1);
    ck_assert_uint_eq(credit->window(&parameters, &state, 7), 1);
    credit->pulled(&parameters, &state, 7);
    ck_assert_uint_eq(credit->window(&parameters, &state, 7), 1);
    credit->pulled(&parameters, &state, 9);
    ck_assert_uint_eq(credit->window(&parameters, &state, 7), 3);
}
END_TEST

/* One interval of ten packets, so many of them marked; the next packet ends it. */
static void interval(const struct congestion_parameters *parameters, struct receiver_credit_pace *pace,
                     uint64_t *now_ps, int marked) {
    for (int i = 0; i < 10; i++) {
        receiver_credit_arrived(&parameters->receiver_credit, pace, i < marked, *now_ps);
    }
    *now_ps += 18 * US;
}

/* All marked: g = 0.5, r = 1 - 0.2 × 0.5 = 0.9; again: g = 0.75, r = 0.9 × (1 - 0.45 × 0.5) = 0.6975. None: g = 0.375: × (1 - 0.075 × 0.5); then g = 0.1875: + 0.01, + 0.02, + 0.04. */
START_TEST(pace_follows_marks_by_hand) {
    const struct congestion_parameters parameters = start(1.5);
    struct receiver_credit_pace pace;
    uint64_t now_ps = US;
    receiver_credit_begin(&pace);
    interval(&parameters, &pace, &now_ps, 10);
    ck_assert_double_eq(pace.rate, 1);
    interval(&parameters, &pace, &now_ps, 10);
    ck_assert_double_eq_tol(pace.rate, 0.9, 1e-12);
    interval(&parameters, &pace, &now_ps, 0);
    ck_assert_double_eq_tol(pace.rate, 0.6975, 1e-12);
    interval(&parameters, &pace, &now_ps, 0);
    const double cut = 0.6975 * 0.9625;
    ck_assert_double_eq_tol(pace.rate, cut, 1e-12);
    interval(&parameters, &pace, &now_ps, 0);
    ck_assert_double_eq_tol(pace.rate, cut + 0.01, 1e-12);
    interval(&parameters, &pace, &now_ps, 1);
    ck_assert_double_eq_tol(pace.rate, cut + 0.03, 1e-12);
    interval(&parameters, &pace, &now_ps, 0); /* one mark in ten: a plain step */
    ck_assert_double_eq_tol(pace.rate, cut + 0.04, 1e-12);
}
END_TEST

/* 2 of 10 trimmed on the way: 1 - 0.2, and no step up though nothing is marked; 5 of 10 at the own port change nothing, and the 5 that came whole are all marked. */
START_TEST(pace_follows_trims_on_the_way_by_hand) {
    const struct congestion_parameters parameters = start(1.5);
    struct receiver_credit_pace pace;
    uint64_t now_ps = US;
    receiver_credit_begin(&pace);
    for (int i = 0; i < 10; i++) {
        i < 2 ? receiver_credit_trimmed(&parameters.receiver_credit, &pace, false, now_ps)
              : receiver_credit_arrived(&parameters.receiver_credit, &pace, false, now_ps);
    }
    now_ps += 18 * US;
    for (int i = 0; i < 10; i++) {
        i < 5 ? receiver_credit_trimmed(&parameters.receiver_credit, &pace, true, now_ps)
              : receiver_credit_arrived(&parameters.receiver_credit, &pace, true, now_ps);
    }
    ck_assert_double_eq_tol(pace.rate, 0.8, 1e-12);
    now_ps += 18 * US;
    interval(&parameters, &pace, &now_ps, 0); /* g = 0.5: × (1 - 0.2 × 0.5) */
    ck_assert_double_eq_tol(pace.rate, 0.8 * 0.9, 1e-12);
    interval(&parameters, &pace, &now_ps, 0); /* g = 0.25: + 0.01 */
    ck_assert_double_eq_tol(pace.rate, 0.8 * 0.9 + 0.01, 1e-12);
}
END_TEST

START_TEST(pace_is_line_rate_where_it_does_not_adapt) {
    struct congestion_parameters parameters = start(1.5);
    struct receiver_credit_pace pace;
    uint64_t now_ps = US;
    parameters.receiver_credit.adapts_pace = false;
    receiver_credit_begin(&pace);
    for (int i = 0; i < 5; i++) {
        interval(&parameters, &pace, &now_ps, 10);
        receiver_credit_trimmed(&parameters.receiver_credit, &pace, false, now_ps);
    }
    ck_assert_double_eq(pace.rate, 1);
}
END_TEST

START_TEST(pace_stays_within_its_bounds) {
    const struct congestion_parameters parameters = start(1.5);
    struct receiver_credit_pace pace;
    uint64_t now_ps = US;
    receiver_credit_begin(&pace);
    for (int i = 0; i < 50; i++) {
        interval(&parameters, &pace, &now_ps, 10);
    }
    ck_assert_double_eq(pace.rate, 0.01);
    for (int i = 0; i < 50; i++) {
        interval(&parameters, &pace, &now_ps, 0);
    }
    ck_assert_double_eq(pace.rate, 1);
}
END_TEST

/* 5,000 bytes at 100 Gb/s: 0.4 us; at half of it: 0.8 us. */
START_TEST(the_gap_is_what_was_asked_for_at_the_pace) {
    struct receiver_credit_pace pace;
    receiver_credit_begin(&pace);
    ck_assert_uint_eq(receiver_credit_gap_ps(&pace, 4 * PACKET_BYTES, LINE), 400000);
    pace.rate = 0.5;
    ck_assert_uint_eq(receiver_credit_gap_ps(&pace, 4 * PACKET_BYTES, LINE), 800000);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("receiver_credit");
    TCase *tests = tcase_create("receiver_credit");
    tcase_add_test(tests, one_and_a_half_products_go_unasked);
    tcase_add_test(tests, acknowledgements_close_the_window_and_pulls_open_it);
    tcase_add_test(tests, one_packet_may_always_go);
    tcase_add_test(tests, pace_follows_marks_by_hand);
    tcase_add_test(tests, pace_follows_trims_on_the_way_by_hand);
    tcase_add_test(tests, pace_is_line_rate_where_it_does_not_adapt);
    tcase_add_test(tests, pace_stays_within_its_bounds);
    tcase_add_test(tests, the_gap_is_what_was_asked_for_at_the_pace);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
