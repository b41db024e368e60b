// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Passes of workload texts on fabrics: times by hand where nothing is in anybody's way, and never below the least.
 */
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>

/*
 * 1 MiB between two hosts of a leaf at 100 Gb/s: 256 packets of 4096 + 64 B, 332,800 ps each, the last of which the leaf stores and forwards, over two
 * links of 700 ns.
 */
#define MEBIBYTE_PS (257 * UINT64_C(332800) + 2 * UINT64_C(700000))
#define CONTROL_PS 5120 /* 64 B */

static const char *const hosts =
    "name: steps\ntopology: hosts.yaml\ncluster: {racks: 4, leaf_downlinks: 4, leaf_uplinks: 4, spines: 2}\n"
    "traffic: {pattern: workload_text, workload: x.txt}\n"
    "transport: {acknowledge: 1 MiB}\npolicies: [ecmp+none]\n";

/* A pass takes what it takes by hand, and for each message in a row at most an ACK or two that is sent before it. */
static void check_time(const char *workload, uint64_t time_ps, uint64_t messages) {
    struct laboratory laboratory = laboratory_run_workload(hosts, workload);
    const struct measurement *measurement = laboratory.measurement;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const uint64_t finish_ps = measurement->rank_phases[rank].finish_ps;
        ck_assert_uint_ge(finish_ps, time_ps);
        ck_assert_uint_le(finish_ps, time_ps + messages * 2 * CONTROL_PS);
    }
    ck_assert_uint_ge(measurement->totals.simulated_ps, time_ps);
    ck_assert_str_eq(measurement->phases[0].name, "pass");
    ck_assert_uint_le(measurement->phases[0].ideal_ps, time_ps);
    laboratory_fini(&laboratory);
}

/* Four hosts: an all-reduce of 4 MiB is six steps of 1 MiB, one after the other; compute before and after it counts in full. */
START_TEST(a_ring_takes_as_many_messages_in_a_row_as_it_has_steps) {
    check_time("DISTRIBUTED_INFERENCE\n1\na -1 1000 ALLREDUCE 4194304 0 NONE 0 0 NONE 0 0\n", 1000000 + 6 * MEBIBYTE_PS,
               6);
    check_time("DISTRIBUTED_INFERENCE\n1\na -1 0 REDUCESCATTER 4194304 0 NONE 0 0 NONE 0 0\n", 3 * MEBIBYTE_PS, 3);
    check_time("DISTRIBUTED_INFERENCE\n1\na -1 0 ALLGATHER 1048576 0 NONE 0 0 NONE 0 0\n", 3 * MEBIBYTE_PS, 3);
    check_time("MODEL\n1\na -1 0 ALLREDUCE 4194304 5000 NONE 0 7000 NONE 0 0\n", 6 * MEBIBYTE_PS + 12000000, 6);
}
END_TEST

/* Two layers: the gradients of the second are on their way while the first is computed, which takes as long. */
START_TEST(gradients_are_on_their_way_while_other_layers_compute) {
    check_time("DATA\n2\na -1 0 NONE 0 0 NONE 0 600000 NONE 0 0\nb -1 0 NONE 0 0 NONE 0 1000 ALLREDUCE 4194304 0\n",
               601000000, 0);
}
END_TEST

/* All four send 1 MiB to each other: three messages through every port, whose packets meet others for the same port now and then. */
START_TEST(an_all_to_all_fills_every_port) {
    struct laboratory laboratory =
        laboratory_run_workload(hosts, "DISTRIBUTED_INFERENCE\n1\na -1 0 ALLTOALL 4194304 0 NONE 0 0 NONE 0 0\n");
    const uint64_t finish_ps = laboratory.measurement->rank_phases[0].finish_ps;
    const uint64_t least_ps = 3 * 256 * UINT64_C(332800) + 2 * 700000;
    ck_assert_uint_ge(finish_ps, least_ps);
    ck_assert_uint_le(finish_ps, least_ps + least_ps / 20);
    ck_assert_uint_ge(finish_ps, laboratory.measurement->phases[0].ideal_ps);
    laboratory_fini(&laboratory);
}
END_TEST

/* Nodes of four GPUs, under every kind of group: never below the least, and close to it where nothing waits for small messages. */
START_TEST(no_pass_is_faster_than_its_least_time) {
    static const char nodes[] =
        "name: steps\ntopology: nodes.yaml\ncluster: {racks: 4}\n"
        "traffic: {pattern: workload_text, workload: x.txt, jitter: %s}\npolicies: [adaptive+none]\n";
    static const char workload[] =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 16\n3\n"
        "a -1 5 ALLGATHER 200000 6 REDUCESCATTER 200000 7 ALLREDUCE_DP_EP 900000 1\n"
        "b -1 5 ALLTOALL_EP 800000 6 ALLTOALL_EP 800000 7 ALLGATHER 900000 1\n"
        "c -1 5 ALLREDUCE 300000 6 ALLREDUCE_EP 100000 7 REDUCESCATTER 900000 1\n";
    const char *const jitters[] = {"0 s", "50 us"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, nodes, jitters[i]);
        struct laboratory laboratory = laboratory_run_workload(text, workload);
        const struct measurement *measurement = laboratory.measurement;
        for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
            const struct measurement_rank_phase *row = &measurement->rank_phases[rank];
            ck_assert_uint_ge(row->finish_ps, measurement->phases[0].ideal_ps);
            ck_assert_uint_ge(row->finish_ps - row->start_ps, row->ideal_ps);
        }
        ck_assert_uint_le(measurement->rank_phases[0].finish_ps,
                          2 * measurement->phases[0].ideal_ps + (i == 0 ? 0 : 50000000));
        laboratory_fini(&laboratory);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("steps");
    TCase *tests = tcase_create("passes");
    tcase_add_test(tests, a_ring_takes_as_many_messages_in_a_row_as_it_has_steps);
    tcase_add_test(tests, gradients_are_on_their_way_while_other_layers_compute);
    tcase_add_test(tests, an_all_to_all_fills_every_port);
    tcase_add_test(tests, no_pass_is_faster_than_its_least_time);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
