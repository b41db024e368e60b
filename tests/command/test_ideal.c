// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The ideal time of a flow is what a flow alone on the fabric takes, to the picosecond, under every kind of traffic.
 */
#include "command/ideal.h"
#include "command/measure.h"
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>

static void check_alone(const struct laboratory *laboratory, uint32_t phase) {
    const struct measurement_flow *flow = laboratory_only_flow(laboratory, phase);
    ck_assert_uint_gt(flow->ideal_ps, 0);
    ck_assert_uint_eq(flow->active_ps, flow->ideal_ps);
    ck_assert_double_eq(flow->slowdown, 1.0);
}

static struct laboratory run_single(const char *topology, const char *size) {
    char text[512];
    snprintf(text, sizeof text,
             "name: alone\ntopology: %s\n"
             "traffic: {pattern: single, source: 3, destination: 29, bytes: %s, jitter: 10 ms}\n"
             "policies: [ecmp+none]\n",
             topology, size);
    return laboratory_run(text);
}

/* A message of whole packets, one with a rest, and one that is less than a packet. */
static const char *const sizes[] = {"1 MiB", "1 MB", "100 B"};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

START_TEST(a_message_alone_has_slow_down_1) {
    for (size_t i = 0; i < SIZES; i++) {
        struct laboratory laboratory = run_single("hosts.yaml", sizes[i]);
        check_alone(&laboratory, 0);
        laboratory_fini(&laboratory);
    }
}
END_TEST

/* A byte takes no whole number of picoseconds at 97 % of 200 Gb/s: the carry may be one of them. */
START_TEST(behind_a_slower_nic_and_cut_through_switches_too) {
    for (size_t i = 0; i < SIZES; i++) {
        struct laboratory laboratory = run_single("nodes.yaml", sizes[i]);
        const struct measurement_flow *flow = laboratory_only_flow(&laboratory, 0);
        ck_assert_uint_le(flow->ideal_ps, flow->active_ps);
        ck_assert_uint_le(flow->active_ps, flow->ideal_ps + 1);
        laboratory_fini(&laboratory);
    }
}
END_TEST

/* Two hosts; every token picks expert 0, on rank 0: dispatch flows one way, combine the other. */
static const char *const one_way =
    "name: one-way\ntopology: hosts.yaml\ncluster: {racks: 2, leaf_downlinks: 1, leaf_uplinks: 1, spines: 1}\n"
    "model: {hidden: %s, experts: 2, top_k: 1}\n"
    "traffic: {pattern: moe, tokens_per_gpu: 100, gate: hot_expert, hot_expert: 0, hot_expert_factor: 2, "
    "algorithm: %s, chunk_tokens: 7, jitter: 10 ms, expert_time: 5 us}\n"
    "policies: [ecmp+none]\n";

static void check_one_way(const char *hidden, const char *algorithm) {
    char text[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, one_way, hidden, algorithm);
#pragma GCC diagnostic pop
    struct laboratory laboratory = laboratory_run(text);
    check_alone(&laboratory, MEASURE_PHASE_DISPATCH);
    check_alone(&laboratory, MEASURE_PHASE_COMBINE);
    laboratory_fini(&laboratory);
}

/* Tokens of several packets, and of less than one. */
START_TEST(a_direct_flow_alone_has_slow_down_1) {
    check_one_way("7168", "direct");
    check_one_way("1024", "direct");
}
END_TEST

START_TEST(a_two_hop_flow_alone_has_slow_down_1) {
    check_one_way("7168", "two_hop");
    check_one_way("1024", "two_hop");
}
END_TEST

/* What results/README.md says of them: each packet of one shares the link with an ACK for one of the other. */
START_TEST(flows_that_pass_each_other_are_slowed_by_the_acks_alone) {
    struct laboratory laboratory = laboratory_run(
        "name: passing\ntopology: hosts.yaml\ncluster: {racks: 2, leaf_downlinks: 1, leaf_uplinks: 1, spines: 1}\n"
        "traffic: {pattern: permutation, bytes: 1 MiB}\npolicies: [ecmp+none]\n");
    const struct topology_nic *nic = &laboratory.experiment->topology.nic;
    const double most = 1.0 + (double)nic->control_bytes / (double)(nic->payload_bytes + nic->header_bytes);
    ck_assert_uint_eq(laboratory.measurement->n_flows, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_double_lt(laboratory.measurement->flows[i].slowdown, most);
        ck_assert_double_gt(laboratory.measurement->flows[i].slowdown, 1.0 + 0.9 * (most - 1.0));
    }
    laboratory_fini(&laboratory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("ideal");
    TCase *test_case = tcase_create("alone");
    tcase_add_test(test_case, a_message_alone_has_slow_down_1);
    tcase_add_test(test_case, behind_a_slower_nic_and_cut_through_switches_too);
    tcase_add_test(test_case, a_direct_flow_alone_has_slow_down_1);
    tcase_add_test(test_case, a_two_hop_flow_alone_has_slow_down_1);
    tcase_add_test(test_case, flows_that_pass_each_other_are_slowed_by_the_acks_alone);
    suite_add_tcase(suite, test_case);
    return run_suite(suite);
}
