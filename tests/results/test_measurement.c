// SPDX-License-Identifier: GPL-3.0-or-later
/* Messages become flows and a rack matrix, whatever the order in which they were added. */
#include "results/measurement.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <signal.h>
#include <string.h>

START_TEST(messages_are_in_id_order_however_they_were_added) {
    struct measurement *forward = sample_measurement("ecmp", 1, 1, false);
    struct measurement *backward = sample_measurement("ecmp", 1, 1, true);
    ck_assert_uint_eq(forward->n_messages, 9);
    ck_assert_uint_eq(forward->n_flows, backward->n_flows);
    for (uint64_t i = 0; i < forward->n_messages; i++) {
        ck_assert_uint_eq(forward->messages[i].tag, backward->messages[i].tag);
    }
    for (uint64_t i = 0; i < forward->n_flows; i++) {
        ck_assert_mem_eq(&forward->flows[i], &backward->flows[i], sizeof forward->flows[i]);
    }
    measurement_free(forward);
    measurement_free(backward);
}
END_TEST

START_TEST(overlapping_messages_of_a_flow_count_once_and_gaps_not_at_all) {
    struct measurement *measurement = sample_measurement("ecmp", 1, 1, false);
    const struct measurement_flow *flow = &measurement->flows[5]; /* 2 → 0: 120-160, 150-190, 300-350 µs */
    ck_assert_uint_eq(flow->source, 2);
    ck_assert_uint_eq(flow->destination, 0);
    ck_assert_uint_eq(flow->messages, 3);
    ck_assert_uint_eq(flow->bytes, 6000000);
    ck_assert_uint_eq(flow->first_posted_ps, 120000000);
    ck_assert_uint_eq(flow->last_completed_ps, 350000000);
    ck_assert_uint_eq(flow->active_ps, 120000000);
    ck_assert_uint_eq(flow->ideal_ps, 120000000);
    ck_assert_double_eq(flow->slowdown, 1.0);
    measurement_free(measurement);
}
END_TEST

START_TEST(a_flow_with_an_undelivered_message_is_unfinished) {
    const struct measurement_shape shape = {.n_ranks = 2, .n_phases = 1};
    struct measurement *measurement = measurement_create(&shape);
    measurement_add_message(measurement,
                            &(struct measurement_message){.destination = 1, .tag = 1, .bytes = 5, .completed_ps = 9});
    measurement_add_message(measurement, &(struct measurement_message){.destination = 1, .tag = 0, .bytes = 6});
    measurement_finish(measurement, NULL, NULL);
    ck_assert_uint_eq(measurement->n_flows, 1);
    ck_assert_uint_eq(measurement->flows[0].bytes, 11);
    ck_assert_uint_eq(measurement->flows[0].last_completed_ps, 0);
    ck_assert_uint_eq(measurement->flows[0].active_ps, 0);
    ck_assert_double_eq(measurement->flows[0].slowdown, 0.0);
    measurement_free(measurement);
}
END_TEST

START_TEST(rack_matrix_sums_payload_by_racks) {
    struct measurement *measurement = sample_measurement("ecmp", 1, 1, false);
    ck_assert_uint_eq(measurement->rack_bytes[0], 0);
    ck_assert_uint_eq(measurement->rack_bytes[1], 10000064);
    ck_assert_uint_eq(measurement->rack_bytes[2], 8000000);
    ck_assert_uint_eq(measurement->rack_bytes[3], 0);
    measurement_free(measurement);
}
END_TEST

START_TEST(two_messages_with_one_id_are_a_bug) {
    const struct measurement_shape shape = {.n_ranks = 2, .n_phases = 1};
    struct measurement *measurement = measurement_create(&shape);
    measurement_add_message(measurement, &(struct measurement_message){.destination = 1, .tag = 1});
    measurement_add_message(measurement, &(struct measurement_message){.destination = 1, .tag = 1});
    measurement_finish(measurement, NULL, NULL); /* aborts */
}
END_TEST

START_TEST(long_explanations_are_cut_between_characters) {
    struct measurement *measurement = sample_measurement("ecmp", 1, 1, false);
    char arrows[MEASUREMENT_EXPLANATION_SIZE * 3 + 1] = "";
    for (size_t i = 0; i < MEASUREMENT_EXPLANATION_SIZE; i++) {
        memcpy(&arrows[3 * i], "→", 3);
    }
    measurement_explain(measurement, "ab%s", arrows);
    const char *text = measurement->explanations[1].text;
    const size_t length = strlen(text);
    ck_assert_uint_lt(length, MEASUREMENT_EXPLANATION_SIZE);
    ck_assert_uint_ge(length, MEASUREMENT_EXPLANATION_SIZE - 6);
    ck_assert_uint_eq((length - 2) % 3, 0);
    measurement_free(measurement);
}
END_TEST

START_TEST(more_racks_than_a_matrix_can_hold_have_none) {
    const struct measurement_shape shape = {
        .n_ranks = MEASUREMENT_RACKS + 1, .n_racks = MEASUREMENT_RACKS + 1, .n_phases = 1};
    struct measurement *measurement = measurement_create(&shape);
    const struct measurement_message message = {
        .source = MEASUREMENT_RACKS, .destination = 0, .bytes = 1000, .posted_ps = 1, .completed_ps = 2};
    measurement->endpoints[0].rack = 0;
    measurement->endpoints[MEASUREMENT_RACKS].rack = MEASUREMENT_RACKS;
    measurement_add_message(measurement, &message);
    measurement_finish(measurement, NULL, NULL);
    ck_assert_uint_eq(measurement->n_racks, 0);
    ck_assert_uint_eq(measurement->n_flows, 1);
    measurement_free(measurement);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("measurement");
    TCase *flows = tcase_create("flows");
    tcase_add_test(flows, messages_are_in_id_order_however_they_were_added);
    tcase_add_test(flows, overlapping_messages_of_a_flow_count_once_and_gaps_not_at_all);
    tcase_add_test(flows, a_flow_with_an_undelivered_message_is_unfinished);
    tcase_add_test(flows, rack_matrix_sums_payload_by_racks);
    tcase_add_test(flows, more_racks_than_a_matrix_can_hold_have_none);
    tcase_add_test_raise_signal(flows, two_messages_with_one_id_are_a_bug, SIGABRT);
    tcase_add_test(flows, long_explanations_are_cut_between_characters);
    suite_add_tcase(suite, flows);
    return run_suite(suite);
}
