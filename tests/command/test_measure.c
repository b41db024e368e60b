// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a run counted becomes rows: times of ranks, phases and bytes.
 */
#include "command/measure.h"
#include "laboratory.h"
#include "results/summary.h"
#include "run_suite.h"

#include <check.h>

/* The receiver's time does not begin before there is anything for it: of ideal is 100 %, whenever the sender starts. */
START_TEST(a_late_flow_takes_no_longer_than_an_early_one) {
    struct laboratory laboratory = laboratory_run(
        "name: late\ntopology: hosts.yaml\n"
        "traffic: {pattern: single, source: 3, destination: 29, bytes: 1 MB, jitter: 10 ms}\npolicies: [ecmp+none]\n");
    const struct measurement_flow *flow = laboratory_only_flow(&laboratory, 0);
    const struct measurement_rank_phase *row = &laboratory.measurement->rank_phases[29];
    ck_assert_uint_gt(flow->first_posted_ps, 0);
    ck_assert_uint_eq(row->start_ps, flow->first_posted_ps);
    ck_assert_uint_eq(row->finish_ps, flow->last_completed_ps);
    struct summary *summary = summary_create(laboratory.measurement);
    ck_assert_double_eq(summary->phases[0].time_ps, (double)flow->active_ps);
    ck_assert_double_eq(summary->phases[0].ideal_share, 1.0);
    ck_assert_double_eq(summary->rank_time_ps.max, (double)flow->active_ps);
    summary_free(summary);
    laboratory_fini(&laboratory);
}
END_TEST

/* A rank may have everything before it starts itself: its time is then nothing, not less. */
START_TEST(no_rank_ends_before_it_starts) {
    struct laboratory laboratory =
        laboratory_run("name: jitter\ntopology: hosts.yaml\n"
                       "traffic: {pattern: permutation, bytes: 10 KB, jitter: 10 ms}\npolicies: [ecmp+none]\n");
    const struct measurement *measurement = laboratory.measurement;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        ck_assert_uint_ge(measurement->rank_phases[rank].finish_ps, measurement->rank_phases[rank].start_ps);
    }
    laboratory_fini(&laboratory);
}
END_TEST

/* A permutation by hand: each rank sends one message, and every byte is counted once where it leaves and where it arrives. */
START_TEST(bytes_are_the_same_in_messages_flows_endpoints_and_links) {
    struct laboratory laboratory =
        laboratory_run("name: bytes\ntopology: hosts.yaml\n"
                       "traffic: {pattern: permutation, bytes: 10000 B}\npolicies: [ecmp+none]\n");
    const struct measurement *measurement = laboratory.measurement;
    ck_assert_uint_eq(measurement->n_messages, 32);
    ck_assert_uint_eq(measurement->n_flows, 32);
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        ck_assert_uint_eq(measurement->endpoints[rank].fabric_sent_bytes, 10000);
        ck_assert_uint_eq(measurement->endpoints[rank].fabric_received_bytes, 10000);
        /* 3 packets of at most 4096 B with 64 B of header, and 3 ACKs of 64 B */
        const uint32_t link = laboratory.fabric->devices[rank].first_port;
        ck_assert_uint_eq(measurement->links[link].packets, 3);
        ck_assert_uint_eq(measurement->links[link].control_packets, 3);
        ck_assert_uint_eq(measurement->links[link].bytes, 10000 + 3 * 64 + 3 * 64);
    }
    laboratory_fini(&laboratory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("measure");
    TCase *test_case = tcase_create("rows");
    tcase_add_test(test_case, a_late_flow_takes_no_longer_than_an_early_one);
    tcase_add_test(test_case, no_rank_ends_before_it_starts);
    tcase_add_test(test_case, bytes_are_the_same_in_messages_flows_endpoints_and_links);
    suite_add_tcase(suite, test_case);
    return run_suite(suite);
}
