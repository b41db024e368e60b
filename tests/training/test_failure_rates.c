// SPDX-License-Identifier: GPL-3.0-or-later
/* Published rates give back what was published, for the clusters on which they were counted. */
#include "fixture.h"
#include "run_suite.h"
#include "training/failure_rates.h"

#define HOUR_S 3600.0
#define DAY_S 86400.0

/* 2,048 hosts of 8 GPUs, 16 GPUs a leaf: Meta's cluster (arXiv:2407.21783, section 3.3.1). */
static struct topology cluster(void) {
    return fixture_nodes(2048, 16);
}

static double expected(const struct failure_part *part, double seconds) {
    return (double)part->count * part->per_s * seconds;
}

START_TEST(counts_of_llama_3_come_back) {
    const struct topology topology = cluster();
    const struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_LLAMA3, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 16384);
    ck_assert_double_eq_tol(expected(&parts[FAILURE_GPU], 54 * DAY_S), 268, 1e-6);
    ck_assert_double_eq_tol(expected(&parts[FAILURE_NIC], 54 * DAY_S), 7, 1e-6);
    ck_assert_double_eq_tol(expected(&parts[FAILURE_HOST], 54 * DAY_S), 46, 1e-6);
    ck_assert_double_eq_tol(expected(&parts[FAILURE_SOFTWARE], 54 * DAY_S), 63, 1e-6);
}
END_TEST

/* Links and switches have rates of another cluster: with those above the leaves they bracket the 35 that were counted. */
START_TEST(network_of_llama_3_is_predicted_from_another_cluster) {
    const struct topology topology = cluster();
    struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_LLAMA3, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 16384);
    double network = 0;
    for (int i = FAILURE_HOST_LINK; i <= FAILURE_SPINE; i++) {
        network += parts[i].interrupts ? expected(&parts[i], 54 * DAY_S) : 0;
    }
    ck_assert_double_ge(network, 35.0 / 2.5);
    ck_assert_double_le(network, 35);
    failures.reroute = false;
    failure_rates_fill(parts, &failures, &topology, 16384);
    network = 0;
    for (int i = FAILURE_HOST_LINK; i <= FAILURE_SPINE; i++) {
        network += parts[i].interrupts ? expected(&parts[i], 54 * DAY_S) : 0;
    }
    ck_assert_double_ge(network, 34);
    ck_assert_double_le(network, 35 * 1.5);
}
END_TEST

/* arXiv:2410.21680: mean times to failure projected from RSC-1's rate, 1.8 h on 16,384 GPUs and 0.23 h on 131,072. */
START_TEST(projections_of_rsc_1_come_back) {
    const struct topology topology = cluster();
    const struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_RSC1, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 16384);
    ck_assert_double_eq_tol(1 / failure_rates_sum(parts) / HOUR_S, 1.8, 0.05);
    failure_rates_fill(parts, &failures, &topology, 131072);
    ck_assert_double_eq_tol(1 / failure_rates_sum(parts) / HOUR_S, 0.23, 0.005);
}
END_TEST

START_TEST(a_given_time_between_failures_wins) {
    const struct topology topology = cluster();
    const struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_NONE, .gpu_mtbf_s = 1000 * HOUR_S, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 500);
    ck_assert_double_eq_tol(1 / failure_rates_sum(parts), 2 * HOUR_S, 1e-6);
}
END_TEST

START_TEST(parts_above_the_leaves_are_in_proportion) {
    struct topology topology = cluster(); // 1,024 leaves of 16 uplinks, 16 spines
    const struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_LLAMA3, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 8192);
    ck_assert_uint_eq(parts[FAILURE_FABRIC_LINK].count, 8192);
    ck_assert_uint_eq(parts[FAILURE_SPINE].count, 8);
    topology.spine.ports = 2048; // 32,768 links of two clusters fill 16 spines
    failure_rates_fill(parts, &failures, &topology, 32768);
    ck_assert_uint_eq(parts[FAILURE_FABRIC_LINK].count, 32768);
    ck_assert_uint_eq(parts[FAILURE_SPINE].count, 16);
}
END_TEST

START_TEST(planes_keep_links_from_interrupting) {
    struct topology topology = cluster();
    topology.nic.planes = 2;
    const struct experiment_interruptions failures = {
        .rates = EXPERIMENT_FAILURE_SOURCE_LLAMA3, .reroute = true, .host_gpus = 8};
    struct failure_part parts[FAILURE_COMPONENTS];
    failure_rates_fill(parts, &failures, &topology, 1024);
    ck_assert(!parts[FAILURE_HOST_LINK].interrupts && !parts[FAILURE_LEAF].interrupts);
    ck_assert_uint_eq(parts[FAILURE_HOST_LINK].count, 2048);
    ck_assert_uint_eq(parts[FAILURE_LEAF].count, 128);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("failure_rates");
    TCase *cases = tcase_create("failure_rates");
    tcase_add_test(cases, counts_of_llama_3_come_back);
    tcase_add_test(cases, network_of_llama_3_is_predicted_from_another_cluster);
    tcase_add_test(cases, projections_of_rsc_1_come_back);
    tcase_add_test(cases, a_given_time_between_failures_wins);
    tcase_add_test(cases, parts_above_the_leaves_are_in_proportion);
    tcase_add_test(cases, planes_keep_links_from_interrupting);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
