// SPDX-License-Identifier: GPL-3.0-or-later
/* Quantiles and summaries against values worked out by hand from the sample of sample.c. */
#include "results/summary.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>

static const double tolerance = 1e-9;

START_TEST(quantiles_interpolate_between_neighbours) {
    double values[] = {40, 10, 30, 20, 50}; /* positions 0 … 4 after sorting */
    const struct summary_quantiles quantiles = summary_quantiles(values, 5);
    ck_assert_uint_eq(quantiles.count, 5);
    ck_assert_double_eq_tol(quantiles.mean, 30, tolerance);
    ck_assert_double_eq_tol(quantiles.p50, 30, tolerance);
    ck_assert_double_eq_tol(quantiles.p90, 46, tolerance);   /* position 3.6 */
    ck_assert_double_eq_tol(quantiles.p99, 49.6, tolerance); /* position 3.96 */
    ck_assert_double_eq_tol(quantiles.p999, 49.96, tolerance);
    ck_assert_double_eq_tol(quantiles.max, 50, tolerance);
}
END_TEST

START_TEST(quantiles_of_many_are_their_ranks) {
    double values[1001];
    for (int i = 0; i < 1001; i++) {
        values[i] = 1000 - i;
    }
    const struct summary_quantiles quantiles = summary_quantiles(values, 1001);
    ck_assert_double_eq_tol(quantiles.p50, 500, tolerance);
    ck_assert_double_eq_tol(quantiles.p90, 900, tolerance);
    ck_assert_double_eq_tol(quantiles.p99, 990, tolerance);
    ck_assert_double_eq_tol(quantiles.p999, 999, tolerance);
}
END_TEST

START_TEST(an_empty_sample_has_no_quantiles) {
    const struct summary_quantiles quantiles = summary_quantiles(NULL, 0);
    ck_assert_uint_eq(quantiles.count, 0);
    ck_assert(isnan(quantiles.mean) && isnan(quantiles.p50) && isnan(quantiles.max));
}
END_TEST

static struct summary *summarise_sample(void) {
    struct measurement *measurement = sample_measurement("ecmp", 7, 1, false);
    struct summary *summary = summary_create(measurement);
    measurement_free(measurement);
    return summary;
}

START_TEST(control_messages_are_left_out_of_times) {
    struct summary *summary = summarise_sample();
    ck_assert_uint_eq(summary->message_time_ps.count, 8); /* nine messages, one of them a count */
    ck_assert_double_eq_tol(summary->message_time_ps.p50, 40e6, tolerance);
    ck_assert_double_eq_tol(summary->message_time_ps.max, 110e6, tolerance);
    ck_assert_double_eq_tol(summary->slowdown.max, 1.5, tolerance); /* 781 with the count */
    summary_free(summary);
}
END_TEST

START_TEST(victims_are_the_flows_to_other_than_the_hot_rank) {
    struct summary *summary = summarise_sample();
    ck_assert_uint_eq(summary->hot_rank, 3);
    ck_assert_double_eq_tol(summary->hot_load, 8.0 / 2.5, tolerance); /* 8 of the 10 MB of dispatch, four ranks */
    ck_assert_uint_eq(summary->hot_phase, 1);
    ck_assert_double_eq_tol(summary->hot_time_ps, 115e6, tolerance);
    ck_assert_double_eq_tol(summary->hot_ideal_ps, 20e6, tolerance);
    ck_assert_uint_eq(summary->slowdown.count, 6);
    ck_assert_uint_eq(summary->victim_slowdown.count, 4); /* 1, 1.5, 1, 1: position 2.97 between 1 and 1.5 */
    ck_assert_double_eq_tol(summary->victim_slowdown.p99, 1.485, tolerance);
    summary_free(summary);
}
END_TEST

START_TEST(what_the_fabric_counts_is_left_out_where_nothing_crossed_it) {
    struct measurement *measurement = sample_measurement("ecmp", 7, 1, false);
    measurement->totals.sent_bytes = 0;
    struct summary *summary = summary_create(measurement);
    ck_assert(isnan(summary->worst_queue_bytes) && isnan(summary->marks) && isnan(summary->pauses));
    ck_assert(isnan(summary->paused_ps) && isnan(summary->retransmitted) && isnan(summary->out_of_order));
    ck_assert_double_eq_tol(summary->rank_time_ps.max, 300e6, tolerance);
    summary_free(summary);
    measurement_free(measurement);
}
END_TEST

START_TEST(bandwidths_follow_their_definitions) {
    struct summary *summary = summarise_sample();
    const struct summary_phase *dispatch = &summary->phases[1];
    ck_assert_double_eq_tol(dispatch->time_ps, 100e6, tolerance);
    ck_assert_double_eq_tol(dispatch->ideal_share, 0.8, tolerance);
    ck_assert_double_eq_tol(dispatch->algbw, 100e9, 1.0);         /* 40 MB ÷ 4 ranks ÷ 100 µs */
    ck_assert_double_eq_tol(dispatch->busbw, 75e9, 1.0);          /* × 3 ÷ 4 */
    ck_assert_double_eq_tol(dispatch->rdma_logical, 50e9, 1.0);   /* 20 MB */
    ck_assert_double_eq_tol(dispatch->nvl_received, 75e9, 1.0);   /* 30 MB */
    ck_assert_double_eq_tol(dispatch->fabric_payload, 25e9, 1.0); /* 10 MB crossed */
    ck_assert(isnan(summary->phases[2].algbw) && isnan(summary->phases[2].rdma_logical));
    ck_assert(isnan(summary->phases[0].ideal_share));
    summary_free(summary);
}
END_TEST

START_TEST(network_counts_are_summed_and_the_worst_ethernet_queue_named) {
    struct summary *summary = summarise_sample();
    ck_assert_double_eq_tol(summary->worst_queue_bytes, 140000, tolerance); /* the deeper one is NVLink */
    ck_assert_str_eq(summary->worst_queue, "leaf1:up17");
    ck_assert_double_eq_tol(summary->marks, 21, tolerance);
    ck_assert_double_eq_tol(summary->pauses, 3, tolerance);
    ck_assert_double_eq_tol(summary->paused_ps, 4.5e6, tolerance);
    ck_assert_double_eq_tol(summary->retransmitted, 6, tolerance);
    ck_assert_double_eq_tol(summary->out_of_order, 8, tolerance);
    ck_assert_double_eq_tol(summary->reordering, 15, tolerance); /* largest, not sum */
    summary_free(summary);
}
END_TEST

START_TEST(ranks_are_timed_from_first_start_to_last_finish) {
    struct summary *summary = summarise_sample();
    ck_assert_double_eq_tol(summary->rank_time_ps.max, 300e6, tolerance); /* rank 3: 0 to 200 + 100 µs */
    ck_assert_double_eq_tol(summary->rank_time_ps.p50, 262.5e6, tolerance);
    summary_free(summary);
}
END_TEST

START_TEST(a_run_without_traffic_is_not_a_number_but_no_crash) {
    const struct measurement_shape shape = {.n_ranks = 2, .n_phases = 1};
    struct measurement *measurement = measurement_create(&shape);
    measurement_finish(measurement, NULL, NULL);
    struct summary *summary = summary_create(measurement);
    ck_assert(isnan(summary->message_time_ps.p50) && isnan(summary->hot_time_ps) && isnan(summary->phases[0].time_ps));
    ck_assert_uint_eq(summary->hot_rank, MEASUREMENT_NONE);
    ck_assert_double_eq(summary->undelivered, 0.0);
    summary_free(summary);
    measurement_free(measurement);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("summary");
    TCase *quantiles = tcase_create("quantiles");
    tcase_add_test(quantiles, quantiles_interpolate_between_neighbours);
    tcase_add_test(quantiles, quantiles_of_many_are_their_ranks);
    tcase_add_test(quantiles, an_empty_sample_has_no_quantiles);
    suite_add_tcase(suite, quantiles);
    TCase *runs = tcase_create("runs");
    tcase_add_test(runs, control_messages_are_left_out_of_times);
    tcase_add_test(runs, victims_are_the_flows_to_other_than_the_hot_rank);
    tcase_add_test(runs, what_the_fabric_counts_is_left_out_where_nothing_crossed_it);
    tcase_add_test(runs, bandwidths_follow_their_definitions);
    tcase_add_test(runs, network_counts_are_summed_and_the_worst_ethernet_queue_named);
    tcase_add_test(runs, ranks_are_timed_from_first_start_to_last_finish);
    tcase_add_test(runs, a_run_without_traffic_is_not_a_number_but_no_crash);
    suite_add_tcase(suite, runs);
    return run_suite(suite);
}
