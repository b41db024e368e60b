// SPDX-License-Identifier: GPL-3.0-or-later
/* Which flow was slow, and the sentence that says why. Flows of sample.c: 0: 0→2 counts, 1: 0→2, 2: 0→3, 3: 1→2, 4: 1→3 (dispatch), 5: 2→0, 6: 3→1 (combine). */
#include "results/explanation.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct measurement *measurement;

static void make(void) {
    measurement = sample_measurement("ecmp", 1, 1, false);
}

static void drop(void) {
    measurement_free(measurement);
}

START_TEST(slowest_flow_is_the_one_that_takes_longest) {
    ck_assert_uint_eq(explanation_slowest_flow(measurement, MEASUREMENT_NONE), 5); /* 120 µs */
    ck_assert_uint_eq(explanation_slowest_flow(measurement, 0), 4);                /* 110 µs */
    ck_assert_uint_eq(explanation_slowest_flow(measurement, 3), 5);
}
END_TEST

START_TEST(no_payload_means_no_slowest_flow) {
    for (uint32_t phase = 0; phase < measurement->n_phases; phase++) {
        measurement->phases[phase].kind = MEASUREMENT_PHASE_CONTROL;
    }
    ck_assert_uint_eq(explanation_slowest_flow(measurement, MEASUREMENT_NONE), EXPLANATION_NO_FLOW);
}
END_TEST

START_TEST(sentence_names_the_hottest_link_and_who_shares_it) {
    const uint64_t near[] = {4, 6},
                   far[] = {0, 1, 2, 3, 4, 5}; /* 0 and 5, 6 were not under way with 4, from 5 to 115 µs */
    const struct explanation_link links[] = {{"leaf0:up17", near, 2}, {"leaf1:down3", far, 6}};
    explanation_add_flow(measurement, "slowest flow", 4, links, 2);
    ck_assert_str_eq(measurement->explanations[1].text,
                     "slowest flow gpu1 → gpu3 (dispatch, 4 MB) took 110 us, 1.4 × its unloaded time: "
                     "shares leaf1:down3 with 3 other flows (gpu0 → gpu2, gpu0 → gpu3, gpu1 → gpu2)");
}
END_TEST

START_TEST(few_large_flows_weigh_more_than_many_small_ones) {
    const uint64_t small[] = {1, 2}, large[] = {3};
    const struct explanation_link links[] = {{"leaf0:up17", small, 2}, {"leaf1:down3", large, 1}};
    measurement->flows[3].bytes = measurement->flows[1].bytes + measurement->flows[2].bytes + 1;
    explanation_add_flow(measurement, "slowest flow", 4, links, 2);
    ck_assert_ptr_nonnull(strstr(measurement->explanations[1].text, "shares leaf1:down3 with 1 other flow ("));
    measurement->flows[3].bytes -= 2;
    explanation_add_flow(measurement, "slowest flow", 4, links, 2);
    ck_assert_ptr_nonnull(strstr(measurement->explanations[2].text, "shares leaf0:up17 with 2 other flows ("));
}
END_TEST

START_TEST(a_sharer_of_another_phase_is_named_with_it) {
    const uint64_t flows[] = {2, 3};
    const struct explanation_link link = {"leaf1:down3", flows, 2};
    const uint32_t phase = measurement->flows[3].phase;
    measurement->flows[3].phase = phase == 0 ? 1 : 0;
    explanation_add_flow(measurement, "slowest flow", 4, &link, 1);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "(gpu0 → gpu3, gpu1 → gpu2 (%s))",
             measurement->phases[measurement->flows[3].phase].name);
    ck_assert_msg(strstr(measurement->explanations[1].text, wanted) != NULL, "%s", measurement->explanations[1].text);
    measurement->flows[3].phase = phase;
}
END_TEST

START_TEST(many_sharers_are_counted_not_listed) {
    const uint64_t flows[] = {1, 1, 1, 2, 2, 3, 3};
    const struct explanation_link link = {"leaf1:down3", flows, 7};
    explanation_add_flow(measurement, "slowest victim", 4, &link, 1);
    ck_assert_ptr_nonnull(strstr(measurement->explanations[1].text, "with 7 other flows ("));
    ck_assert_ptr_nonnull(strstr(measurement->explanations[1].text, " and 3 more)"));
}
END_TEST

START_TEST(a_flow_alone_is_said_to_be_alone) {
    const uint64_t flows[] = {4};
    const struct explanation_link link = {"leaf1:down3", flows, 1};
    explanation_add_flow(measurement, "slowest flow", 4, &link, 1);
    ck_assert_ptr_nonnull(
        strstr(measurement->explanations[1].text, "no other flow is known to have been on its links meanwhile"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("explanation");
    TCase *flows = tcase_create("flows");
    tcase_add_checked_fixture(flows, make, drop);
    tcase_add_test(flows, slowest_flow_is_the_one_that_takes_longest);
    tcase_add_test(flows, no_payload_means_no_slowest_flow);
    tcase_add_test(flows, sentence_names_the_hottest_link_and_who_shares_it);
    tcase_add_test(flows, few_large_flows_weigh_more_than_many_small_ones);
    tcase_add_test(flows, a_sharer_of_another_phase_is_named_with_it);
    tcase_add_test(flows, many_sharers_are_counted_not_listed);
    tcase_add_test(flows, a_flow_alone_is_said_to_be_alone);
    suite_add_tcase(suite, flows);
    return run_suite(suite);
}
