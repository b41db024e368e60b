// SPDX-License-Identifier: GPL-3.0-or-later
#include "acknowledge.h"
#include "usual.h"

#include "congestion/hpcc.h"
#include "congestion/telemetry.h"
#include "device/packet.h"
#include "run_suite.h"

#include <check.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(100000000000)

/* 100 Gb/s × 10 us = 125,000 bytes = 125 packets. */
enum { PACKET_BYTES = 1000, CODE_ONE = 6 << 4, CODE_TWO = 7 << 4, CODE_HALF = 5 << 4 };

static struct congestion_parameters figures(double target, uint32_t additive_packets) {
    struct congestion_parameters parameters = usual_congestion(CONGESTION_HPCC, LINE);
    parameters.hpcc.target = target;
    parameters.hpcc.additive_bits_per_s = LINE / 125 * additive_packets;
    return parameters;
}

static struct acknowledge_pair start(const struct congestion_parameters *parameters) {
    return acknowledge_start(parameters, &(struct congestion_way){.line_bits_per_s = LINE,
                                                                  .base_round_trip_ps = 8 * US,
                                                                  .packet_bytes = PACKET_BYTES,
                                                                  .switches = 1});
}

/* An ACK with telemetry; a whole decision if it acknowledges more than had been sent. */
static void tell(struct acknowledge_pair *pair, uint32_t packets, uint8_t telemetry) {
    pair->cumulative += packets;
    const struct congestion_acknowledgement told = {.round_trip_ps = 10 * US,
                                                    .packets = packets,
                                                    .cumulative = pair->cumulative,
                                                    .next_number = pair->cumulative + 1,
                                                    .telemetry = telemetry};
    pair->controller->acknowledged(pair->parameters, &pair->state, &told, pair->now_ps);
}

START_TEST(defaults_are_the_published_figures) {
    const struct hpcc_parameters p = usual_congestion(CONGESTION_HPCC, UINT64_C(25000000000)).hpcc;
    ck_assert_double_eq(p.target, 0.95);
    ck_assert_uint_eq(p.largest_stage, 5);
    ck_assert_uint_eq(p.round_trip_ps, 10 * US);
    ck_assert_uint_eq(p.additive_bits_per_s, 10000000);
}
END_TEST

START_TEST(starts_with_a_base_round_trip_at_line_rate) {
    const struct congestion_parameters parameters = figures(1, 0);
    struct acknowledge_pair pair = start(&parameters);
    ck_assert_uint_eq(acknowledge_window(&pair), 125);
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE);
    tell(&pair, 2, CODE_TWO); /* the first one is only noted */
    tell(&pair, 1, 0);        /* nothing told, nothing done */
    ck_assert_uint_eq(acknowledge_window(&pair), 125);
}
END_TEST

/* U = 2: 125 / 2 + 5 = 67.5. The ACKs of the same round trip start from the same Wc = 67.5: U = 1: 72.5, U = 2: 38.75; the next one, U = 1, from 67.5. */
START_TEST(one_reference_a_round_trip_by_hand) {
    const struct congestion_parameters parameters = figures(1, 5);
    struct acknowledge_pair pair = start(&parameters);
    tell(&pair, 2, CODE_TWO);
    tell(&pair, 2, CODE_TWO);
    ck_assert_uint_eq(acknowledge_window(&pair), 67);
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE * 135 / 250);
    tell(&pair, 0, CODE_ONE);
    ck_assert_uint_eq(acknowledge_window(&pair), 72);
    tell(&pair, 1, CODE_TWO); /* up to what had been sent */
    ck_assert_uint_eq(acknowledge_window(&pair), 38);
    tell(&pair, 2, CODE_ONE);
    ck_assert_uint_eq(acknowledge_window(&pair), 72);
    tell(&pair, 2, CODE_ONE);
    ck_assert_uint_eq(acknowledge_window(&pair), 77);
}
END_TEST

/* U = 1/2, stages 0, 1: additive, 62.5 + 5, + 5; then the window is set by U: 72.5 × 2 + 5 is more than the largest. */
START_TEST(additive_stages_before_the_window_is_set_by_the_utilisation) {
    struct congestion_parameters parameters = figures(1, 5);
    parameters.hpcc.largest_stage = 2;
    struct acknowledge_pair pair = start(&parameters);
    tell(&pair, 2, CODE_TWO);
    tell(&pair, 2, CODE_TWO);
    tell(&pair, 2, CODE_HALF);
    ck_assert_uint_eq(acknowledge_window(&pair), 72);
    tell(&pair, 2, CODE_HALF);
    ck_assert_uint_eq(acknowledge_window(&pair), 77);
    tell(&pair, 2, CODE_HALF);
    ck_assert_uint_eq(acknowledge_window(&pair), 125);
}
END_TEST

START_TEST(a_packet_stays_and_losses_change_nothing) {
    const struct congestion_parameters parameters = figures(0.95, 0);
    struct acknowledge_pair pair = start(&parameters);
    for (int i = 0; i < 100; i++) {
        tell(&pair, 2, UINT8_MAX);
        pair.controller->lost(&parameters, &pair.state, pair.now_ps);
    }
    ck_assert_uint_eq(acknowledge_window(&pair), 1);
    ck_assert_uint_eq(acknowledge_rate(&pair), LINE / 125);
}
END_TEST

/*
 * T = 10 us, packets of 1 us back to back, a queue of 2 us: U' = 0.9 U + 0.2 × 0.1 + 0.1, which tends to 1.2: a full port with a queue of
 * a fifth of T.
 */
START_TEST(utilisation_of_a_port_is_rate_and_queue) {
    struct telemetry_port port = {0};
    double mean = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        const uint8_t code = telemetry_tell(&port, 2 * US, US, i * US, 10 * US);
        mean += i > 10000 ? telemetry_utilisation(code) / 10000 : 0;
    }
    ck_assert_double_eq_tol(port.utilisation, 1.2, 1e-9);
    ck_assert_double_eq_tol(mean, 1.2, 0.002); /* rounding is right in the mean */
}
END_TEST

/* First packet: T has passed, nothing was sent: queue / T. After 5 us: half of that, half of the queue's share, and the packet before. */
START_TEST(utilisation_follows_the_rule_by_hand) {
    struct telemetry_port port = {0};
    telemetry_tell(&port, 2 * US, US, 100 * US, 10 * US);
    ck_assert_double_eq_tol(port.utilisation, 0.2, 1e-12);
    telemetry_tell(&port, 4 * US, US, 105 * US, 10 * US);
    ck_assert_double_eq_tol(port.utilisation, 0.1 + 0.2 + 0.1, 1e-12);
    telemetry_tell(&port, US, US, 205 * US, 10 * US); /* a long pause: all is forgotten but the packet before */
    ck_assert_double_eq_tol(port.utilisation, 0.1 + 0.1, 1e-12);
}
END_TEST

START_TEST(codes_grow_with_what_they_stand_for) {
    ck_assert_double_eq(telemetry_utilisation(0), 0);
    ck_assert_double_eq(telemetry_utilisation(CODE_ONE), 1);
    for (unsigned code = 2; code <= UINT8_MAX; code++) {
        const double more = telemetry_utilisation((uint8_t)code) / telemetry_utilisation((uint8_t)(code - 1));
        ck_assert_double_gt(more, 1.03);
        ck_assert_double_le(more, 1.0625);
    }
}
END_TEST

START_TEST(extremes_have_codes) {
    struct telemetry_port port = {0};
    ck_assert_uint_eq(telemetry_tell(&port, 0, US, US, 10 * US), 1);
    ck_assert_uint_eq(telemetry_tell(&port, UINT64_MAX, US, 100 * US, 10 * US), UINT8_MAX);
}
END_TEST

START_TEST(a_number_of_24_bits_is_the_nearest_one) {
    static const uint32_t nears[] = {0, 5, (1u << 24) - 1, 1u << 24, (1u << 24) + 7, 3000000000u};
    for (size_t i = 0; i < sizeof nears / sizeof *nears; i++) {
        for (int32_t apart = -5; apart <= 5; apart++) {
            const uint32_t number = nears[i] + (uint32_t)apart;
            const uint32_t field = packet_number_telling(number, 200);
            ck_assert_uint_eq(packet_number_near(field, nears[i]), number);
            ck_assert_uint_eq(packet_telemetry(field), 200);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hpcc");
    TCase *tests = tcase_create("hpcc");
    tcase_add_test(tests, defaults_are_the_published_figures);
    tcase_add_test(tests, starts_with_a_base_round_trip_at_line_rate);
    tcase_add_test(tests, one_reference_a_round_trip_by_hand);
    tcase_add_test(tests, additive_stages_before_the_window_is_set_by_the_utilisation);
    tcase_add_test(tests, a_packet_stays_and_losses_change_nothing);
    tcase_add_test(tests, utilisation_of_a_port_is_rate_and_queue);
    tcase_add_test(tests, utilisation_follows_the_rule_by_hand);
    tcase_add_test(tests, codes_grow_with_what_they_stand_for);
    tcase_add_test(tests, extremes_have_codes);
    tcase_add_test(tests, a_number_of_24_bits_is_the_nearest_one);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
