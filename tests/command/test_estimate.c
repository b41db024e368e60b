// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a run is said to cost is about what it costs.
 */
#include "command/estimate.h"
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>
#include <math.h>

/* NICs put exactly so many data packets on their links; hops within a fifth: routes differ in length and ACKs are many or few. */
static void check_cost(const char *text) {
    struct laboratory laboratory = laboratory_run(text);
    struct estimate estimate;
    struct error error;
    ck_assert(estimate_run(laboratory.experiment, laboratory.fabric, &estimate, &error));
    uint64_t packets = 0;
    for (uint32_t rank = 0; rank < laboratory.measurement->n_ranks; rank++) {
        packets += laboratory.measurement->links[laboratory.fabric->devices[rank].first_port].packets;
    }
    ck_assert_double_eq(estimate.data_packets, (double)packets); /* counts among them */
    const struct measurement_totals *totals = &laboratory.measurement->totals;
    const double hops = (double)(totals->data_hops + totals->control_hops);
    ck_assert_msg(fabs(estimate.hops / hops - 1.0) < 0.2, "estimated %.0f hops, simulated %.0f", estimate.hops, hops);
    ck_assert_uint_eq(estimate.digest, totals->traffic_digest);
    laboratory_fini(&laboratory);
}

START_TEST(patterns_cost_what_was_estimated) {
    check_cost("name: cost\ntopology: hosts.yaml\ntraffic: {pattern: permutation, bytes: 100 KB}\n"
               "policies: [ecmp+none]\n");
    check_cost("name: cost\ntopology: hosts.yaml\ntraffic: {pattern: all_to_all, bytes: 100 B}\n"
               "policies: [adaptive+none]\n");
}
END_TEST

/* Copies of less than a packet, and of several. */
START_TEST(layers_cost_what_was_estimated) {
    check_cost("name: cost\ntopology: nodes.yaml\nmodel: {hidden: 1024, experts: 64, top_k: 4}\n"
               "traffic: {pattern: moe, tokens_per_gpu: 64, algorithm: direct}\npolicies: [adaptive+none]\n");
    check_cost("name: cost\ntopology: nodes.yaml\nmodel: {hidden: 7168, experts: 64, top_k: 4}\n"
               "traffic: {pattern: moe, tokens_per_gpu: 16, algorithm: two_hop}\npolicies: [ecmp(4)+none]\n");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("estimate");
    TCase *test_case = tcase_create("cost");
    tcase_add_test(test_case, patterns_cost_what_was_estimated);
    tcase_add_test(test_case, layers_cost_what_was_estimated);
    suite_add_tcase(suite, test_case);
    return run_suite(suite);
}
