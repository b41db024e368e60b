// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Policies that hardly do what they are for are noted, at their places, and only those.
 */
#include "config/experiment_doubt.h"
#include "config/experiment_file.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct experiment experiment;
static struct error_list notes, errors;

static void read_configuration(const char *const *overrides, size_t n) {
    notes = (struct error_list){0};
    const bool good =
        experiment_read_noting("configs/permutation-paths.yaml", overrides, n, &experiment, &notes, &errors);
    experiment_report(stderr, &errors);
    ck_assert(good);
}

static unsigned count_notes(const char *words) {
    unsigned n = 0;
    for (unsigned i = 0; i < notes.count; i++) {
        n += strstr(notes.errors[i].message, words) != NULL;
    }
    return n;
}

START_TEST(spray_is_noted_where_nics_cannot_place_packets) {
    read_configuration((const char *const[]){"topology.nic.out_of_order=false"}, 1);
    ck_assert_uint_eq(notes.count, 5);
    ck_assert_uint_eq(count_notes("nic.out_of_order: false"), 5);
    ck_assert_uint_eq(count_notes("`ecmp+none`"), 0);
    ck_assert_uint_eq(count_notes("`flowlet+none`"), 0);
    ck_assert_uint_eq(count_notes("`spray_random+none`"), 1);
    ck_assert_uint_gt(notes.errors[0].line, 8); /* the policy's own place, not that of the list */
    ck_assert_uint_gt(notes.errors[1].column, notes.errors[0].column);
}
END_TEST

START_TEST(spray_is_not_noted_on_one_leaf_or_with_placement) {
    read_configuration(NULL, 0);
    ck_assert_uint_eq(notes.count, 0);
    const char *const one_leaf[] = {"topology.nic.out_of_order=false", "cluster.racks=16", "cluster.spines=0",
                                    "cluster.leaf_uplinks=0"};
    read_configuration(one_leaf, 4);
    ck_assert_uint_eq(notes.count, 0);
}
END_TEST

START_TEST(hashing_is_noted_on_infiniband) {
    const char *const overrides[] = {"topology=hgx-h100-quantum2.yaml",
                                     "policies=[d_mod_k+none, adaptive+none, ecmp+none]", "cluster.racks=8"};
    read_configuration(overrides, 3);
    ck_assert_uint_eq(count_notes("InfiniBand switches do not hash"), 1);
    ck_assert_uint_eq(count_notes("`ecmp+none`"), 1);
}
END_TEST

/* 150,000 B at 400 Gb/s are 3 us; a packet of 4160 B is 83.2 ns. */
START_TEST(skew_is_what_queues_at_the_marking_threshold_take) {
    struct topology topology = {.nic = {.payload_bytes = 4096, .header_bytes = 64}};
    topology.leaf.port_rate_bits_per_s = topology.spine.port_rate_bits_per_s = UINT64_C(400000000000);
    topology.leaf.ecn_minimum_bytes = topology.spine.ecn_minimum_bytes = 150000;
    ck_assert_uint_eq(experiment_doubt_skew_ps(&topology), 0);
    topology.fabric.spines = 4;
    ck_assert_uint_eq(experiment_doubt_skew_ps(&topology), 2 * 83200);
    topology.leaf.ecn = true;
    ck_assert_uint_eq(experiment_doubt_skew_ps(&topology), 3000000 + 83200);
    topology.spine.ecn = true;
    ck_assert_uint_eq(experiment_doubt_skew_ps(&topology), 2 * 3000000);
    topology.fabric.super_spines = 2;
    ck_assert_uint_eq(experiment_doubt_skew_ps(&topology), 4 * 3000000);
}
END_TEST

START_TEST(flowlet_gaps_below_the_skew_are_noted) {
    const char *overrides[] = {"policies=flowlet+none", "path.flowlet_gap=167 ns"};
    read_configuration(overrides, 2);
    ck_assert_uint_eq(count_notes("overtake"), 0);
    overrides[1] = "path.flowlet_gap=166 ns";
    read_configuration(overrides, 2);
    ck_assert_uint_eq(count_notes("a gap of 166 ns (path.flowlet_gap)"), 1);
    overrides[0] = "policies=ecmp+none";
    read_configuration(overrides, 2);
    ck_assert_uint_eq(count_notes("overtake"), 0);
}
END_TEST

/* The file has an ACK only every 16 KiB, its topology no marks. */
START_TEST(controllers_without_what_they_live_on_are_noted) {
    const char *const overrides[] = {"policies=[ecmp+swift, ecmp+nscc, ecmp+hpcc, ecmp+receiver_credit, ecmp+timely]",
                                     "transport.acknowledge=4 KB", "topology.leaf.ecn=true",
                                     "topology.leaf.ecn_minimum=100 KB", "topology.leaf.ecn_maximum=400 KB"};
    read_configuration(overrides, 1);
    ck_assert_uint_eq(count_notes("policy `"), 5);
    ck_assert_uint_eq(count_notes("an ACK only every 16 KiB"), 3);
    ck_assert_uint_eq(count_notes("`ecmp+timely`"), 0);
    read_configuration(overrides, 2);
    ck_assert_uint_eq(count_notes("policy `"), 2);
    ck_assert_uint_eq(count_notes("`ecmp+nscc`: nscc cuts its window on marked packets only"), 1);
    ck_assert_uint_eq(count_notes("`ecmp+receiver_credit`"), 1);
    read_configuration(overrides, 5);
    ck_assert_uint_eq(count_notes("policy `"), 0);
}
END_TEST

START_TEST(selective_repeat_is_noted_where_nothing_is_lost) {
    const char *overrides[4] = {"transport.recovery=selective_repeat", "policies=ecmp+none", "topology.leaf.pfc=true"};
    read_configuration(overrides, 3);
    ck_assert_uint_eq(count_notes("selective repeat changes next to nothing"), 1);
    static const char *const lossy[] = {"topology.leaf.headroom=20 KB", "topology.spine.headroom=20 KB",
                                        "topology.nic.receive_rate=100 Gb/s", "topology.leaf.watchdog=true",
                                        "failures=[{what: spine0, action: down, at: 1 us}]"};
    for (size_t i = 0; i < sizeof lossy / sizeof lossy[0]; i++) {
        overrides[3] = lossy[i];
        read_configuration(overrides, 4);
        ck_assert_msg(count_notes("selective repeat changes next to nothing") == 0, "%s", lossy[i]);
    }
    read_configuration(overrides, 2); /* no pauses */
    ck_assert_uint_eq(count_notes("selective repeat changes next to nothing"), 0);
    const char *const infiniband[] = {overrides[0], "policies=d_mod_k+none", "topology=hgx-h100-quantum2.yaml",
                                      "cluster.racks=8"};
    read_configuration(infiniband, 4); /* credits */
    ck_assert_uint_eq(count_notes("this fabric is lossless (fabric.link_layer)"), 1);
}
END_TEST

START_TEST(buffers_that_credits_cannot_count_are_noted) {
    const char *overrides[] = {"policies=d_mod_k+none", "topology=hgx-h100-quantum2.yaml", "cluster.racks=8",
                               "topology.infiniband.buffer=128 KiB"};
    read_configuration(overrides, 4);
    ck_assert_uint_eq(count_notes("credits of a virtual lane"), 0);
    overrides[3] = "topology.infiniband.buffer=131073 B";
    read_configuration(overrides, 4);
    ck_assert_uint_eq(count_notes("credits of a virtual lane count up to 128 KiB"), 1);
}
END_TEST

int main(void) {
    if (chdir(SOURCE_DIRECTORY) != 0) {
        return EXIT_FAILURE;
    }
    TCase *doubt = tcase_create("doubt");
    tcase_add_test(doubt, spray_is_noted_where_nics_cannot_place_packets);
    tcase_add_test(doubt, spray_is_not_noted_on_one_leaf_or_with_placement);
    tcase_add_test(doubt, skew_is_what_queues_at_the_marking_threshold_take);
    tcase_add_test(doubt, buffers_that_credits_cannot_count_are_noted);
    tcase_add_test(doubt, hashing_is_noted_on_infiniband);
    tcase_add_test(doubt, flowlet_gaps_below_the_skew_are_noted);
    tcase_add_test(doubt, controllers_without_what_they_live_on_are_noted);
    tcase_add_test(doubt, selective_repeat_is_noted_where_nothing_is_lost);
    Suite *suite = suite_create("doubt");
    suite_add_tcase(suite, doubt);
    return run_suite(suite);
}
