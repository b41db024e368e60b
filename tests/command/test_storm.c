// SPDX-License-Identifier: GPL-3.0-or-later
/* PFC storms are found from the counters of links: who started them, how far they spread, and that others are not called so. */
#include "command/storm.h"
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

#define TRAFFIC "traffic: {pattern: all_to_all, bytes: 60 KB}\npolicies: [ecmp+none]\ntransport: {window: 100 KB}\n"

static bool tells(const struct measurement *measurement, const char *words) {
    for (uint32_t i = 0; i < measurement->n_explanations; i++) {
        if (strstr(measurement->explanations[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

START_TEST(pauses_of_switches_alone_are_no_storm) {
    struct laboratory laboratory = laboratory_run("name: calm\ntopology: hosts.yaml\n" TRAFFIC);
    const struct storm storm = storm_find(laboratory.fabric, laboratory.measurement);
    uint64_t pauses = 0;
    for (uint32_t l = 0; l < laboratory.fabric->n_links; l++) {
        pauses += laboratory.measurement->links[l].pauses;
    }
    ck_assert_uint_gt(pauses, 0);
    ck_assert_uint_eq(storm.root, FABRIC_NONE);
    ck_assert(!tells(laboratory.measurement, "storm") && !tells(laboratory.measurement, "held its leaf back"));
    laboratory_fini(&laboratory);
}
END_TEST

START_TEST(a_receiver_that_stops_is_the_root_of_a_tree_that_reaches_other_leaves) {
    struct laboratory laboratory =
        laboratory_run("name: storm\ntopology: hosts.yaml\n" TRAFFIC
                       "failures: [{what: gpu9, action: stop_receive, at: 5 us, for: 1 ms}]\n"
                       "limits: {simulated_time: 100 ms}\n");
    const struct fabric *fabric = laboratory.fabric;
    const struct storm storm = storm_find(fabric, laboratory.measurement);
    ck_assert_int_eq(laboratory.measurement->outcome, MEASUREMENT_FINISHED);
    ck_assert_uint_eq(storm.root, fabric->links[fabric->devices[9].first_port].reverse);
    ck_assert_uint_eq(storm.receivers, 1);
    ck_assert_uint_ge(storm.hops, 2); /* its leaf's spines, and leaves behind them */
    ck_assert_uint_gt(storm.nics, 8); /* more than those of its own leaf */
    ck_assert_uint_gt(storm.links, storm.nics);
    ck_assert(tells(laboratory.measurement, "PFC storm: the NIC of gpu9 held its leaf back"));
    laboratory_fini(&laboratory);
}
END_TEST

START_TEST(a_receiver_whose_pauses_its_leaf_absorbs_is_told_of_without_a_storm) {
    struct laboratory laboratory = laboratory_run(
        "name: small\ntopology: hosts.yaml\npolicies: [ecmp+none]\n"
        "traffic: {pattern: single, source: 3, destination: 9, bytes: 1100 KB}\ntransport: {window: 1070 KB}\n"
        "failures: [{what: gpu9, action: stop_receive, at: 0 s, for: 150 us}]\nlimits: {simulated_time: 100 ms}\n");
    const struct storm storm = storm_find(laboratory.fabric, laboratory.measurement);
    ck_assert_uint_ne(storm.root, FABRIC_NONE);
    ck_assert_uint_eq(storm.links, 0);
    ck_assert(tells(laboratory.measurement, "pauses went no further"));
    laboratory_fini(&laboratory);
}
END_TEST

/* A NIC of two planes has two links: both pause, and both are held back, but it is one NIC. */
START_TEST(a_nic_of_several_planes_is_one_nic) {
    struct laboratory laboratory = laboratory_run(
        "name: planes\npolicies: [adaptive+none]\n"
        "topology:\n"
        "  name: two-planes\n"
        "  racks: 8\n"
        "  nvlink: {gpus: 1}\n"
        "  nic: {planes: 2, rate: 100 Gb/s, receive_buffer: 200 KB}\n"
        "  leaf: {ports: 8, port_rate: 100 Gb/s, lossless_pool: 200 KB, headroom: 100 KB}\n"
        "  fabric: {leaf_downlinks: 4, leaf_uplinks: 4, spines: 2}\n"
        "traffic: {pattern: all_to_all, bytes: 500 KB}\n"
        "failures: [{what: gpu5, action: stop_receive, at: 5 us, for: 1 ms}]\nlimits: {simulated_time: 100 ms}\n");
    const struct fabric *fabric = laboratory.fabric;
    const struct storm storm = storm_find(fabric, laboratory.measurement);
    uint32_t paused_into_nics = 0, paused_from_nics = 0;
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const bool paused = laboratory.measurement->links[l].paused_ps > 0;
        paused_into_nics += paused && fabric->devices[fabric->links[l].head_device].kind == FABRIC_ENDPOINT;
        paused_from_nics += paused && fabric->devices[fabric->links[l].tail_device].kind == FABRIC_ENDPOINT;
    }
    ck_assert_uint_eq(paused_into_nics, 2);
    ck_assert_uint_eq(storm.receivers, 1);
    ck_assert_uint_gt(paused_from_nics, 8);
    ck_assert_uint_ge(storm.nics, 4);
    ck_assert_uint_le(storm.nics, 8);
    ck_assert(tells(laboratory.measurement, "the NIC of gpu5 held its leaf back: "));
    laboratory_fini(&laboratory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("storm");
    TCase *tests = tcase_create("storm");
    tcase_add_test(tests, pauses_of_switches_alone_are_no_storm);
    tcase_add_test(tests, a_receiver_that_stops_is_the_root_of_a_tree_that_reaches_other_leaves);
    tcase_add_test(tests, a_receiver_whose_pauses_its_leaf_absorbs_is_told_of_without_a_storm);
    tcase_add_test(tests, a_nic_of_several_planes_is_one_nic);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
