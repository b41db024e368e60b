// SPDX-License-Identifier: GPL-3.0-or-later
/* Facts of a fabric and the way of one packet through it, against numbers worked out by hand. */
#include "fabric/builder.h"
#include "fabric/describe.h"
#include "fabric/irregular.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>

#define GIGA UINT64_C(1000000000)

START_TEST(facts_of_four_racks) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct describe_facts facts;
    describe_measure(fabric, &facts);
    ck_assert_uint_eq(facts.host.count, 256);
    ck_assert_uint_eq(facts.uplink.count, 256);
    ck_assert_uint_eq(facts.nvlink.count, 256 * 18);
    ck_assert_uint_eq(facts.n_leaves, 4);
    ck_assert_uint_eq(facts.n_spines, 2);
    ck_assert_uint_eq(facts.n_chips, 72);
    ck_assert_uint_eq(facts.nic_bits_per_s, 256 * 400 * GIGA);
    ck_assert_uint_eq(facts.uplink_bits_per_s, 256 * 400 * GIGA);
    ck_assert_uint_eq(facts.bisection_bits_per_s, 128 * 400 * GIGA);
    ck_assert_double_eq(facts.lowest_oversubscription, 1.0);
    ck_assert_double_eq(facts.highest_oversubscription, 1.0);
    ck_assert_uint_eq(facts.farthest_switches, 3);
    ck_assert_uint_eq(facts.host.lowest_up_ps, 1115000);
    ck_assert_uint_eq(facts.host.highest_down_ps, 515000);
    ck_assert_uint_eq(facts.nvlink.highest_bits_per_s, 320 * GIGA);
    ck_assert_uint_eq(facts.nvlink.lowest_down_ps, 310000);
    fabric_free(fabric);
}
END_TEST

START_TEST(oversubscription_halves_the_bisection) {
    struct topology topology = fixture_hosts(); /* 16 + 8 ports: 2 : 1; a third leaf with 8 hosts only: 1 : 1 */
    topology.racks = 40;
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct describe_facts facts;
    describe_measure(fabric, &facts);
    ck_assert_double_eq(facts.lowest_oversubscription, 1.0);
    ck_assert_double_eq(facts.highest_oversubscription, 2.0);
    ck_assert_uint_eq(facts.bisection_bits_per_s, (8 + 8 + 8) * 100 * GIGA / 2);
    fabric_free(fabric);
}
END_TEST

START_TEST(one_leaf_has_the_bisection_of_its_nics) {
    struct topology topology = fixture_hosts();
    topology.racks = 16;
    topology.fabric.spines = 0;
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct describe_facts facts;
    describe_measure(fabric, &facts);
    ck_assert_uint_eq(facts.bisection_bits_per_s, 8 * 100 * GIGA);
    ck_assert_double_eq(facts.highest_oversubscription, 0.0);
    ck_assert_uint_eq(facts.farthest_switches, 1);
    ck_assert_uint_eq(facts.uplink.count, 0);
    fabric_free(fabric);
}
END_TEST

static uint64_t latency(const struct fabric *fabric, uint32_t source, uint32_t destination, enum fabric_link_kind kind,
                        uint64_t size) {
    struct describe_path path;
    ck_assert(describe_path(fabric, source, destination, kind, size, &path));
    return path.latency_ps;
}

START_TEST(cut_through_pays_the_size_once) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    /* 64 B at 400 Gb/s: 1,280 ps; 4,178 B: 83,560 ps; NIC to leaf 1,115 ns, leaf to NIC 515 ns, leaf to spine and back 750 ns each */
    ck_assert_uint_eq(latency(fabric, 0, 1, FABRIC_ETHERNET, 64), 1280 + 1115000 + 515000);
    ck_assert_uint_eq(latency(fabric, 0, 1, FABRIC_ETHERNET, 4178), 83560 + 1115000 + 515000);
    ck_assert_uint_eq(latency(fabric, 0, 255, FABRIC_ETHERNET, 64), 1280 + 1115000 + 750000 + 750000 + 515000);
    ck_assert_uint_eq(latency(fabric, 0, 255, FABRIC_ETHERNET, 4178), 83560 + 1115000 + 750000 + 750000 + 515000);
    fabric_free(fabric);
}
END_TEST

START_TEST(store_and_forward_pays_the_size_at_every_hop) {
    const struct topology topology = fixture_hosts();
    struct fabric *fabric = fabric_build(&topology, NULL);
    /* 64 B at 100 Gb/s: 5,120 ps; every link 500 ns */
    ck_assert_uint_eq(latency(fabric, 0, 1, FABRIC_ETHERNET, 64), 2 * (5120 + 500000));
    ck_assert_uint_eq(latency(fabric, 0, 47, FABRIC_ETHERNET, 64), 4 * (5120 + 500000));
    fabric_free(fabric);
}
END_TEST

START_TEST(nvlink_chips_store_and_forward) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    /* 4,096 B at 320 Gb/s: 102,400 ps; 300 ns up, 310 ns down */
    ck_assert_uint_eq(latency(fabric, 64, 127, FABRIC_NVLINK, 4096), 2 * 102400 + 300000 + 310000);
    fabric_free(fabric);
}
END_TEST

START_TEST(ways_that_do_not_exist_are_refused) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct describe_path path;
    ck_assert(!describe_path(fabric, 63, 64, FABRIC_NVLINK, 64, &path)); /* two domains */
    ck_assert(!describe_path(fabric, 5, 5, FABRIC_ETHERNET, 64, &path));
    ck_assert(describe_path(fabric, 63, 64, FABRIC_ETHERNET, 64, &path));
    fabric_free(fabric);
    const struct topology hosts = fixture_hosts();
    fabric = fabric_build(&hosts, NULL);
    ck_assert(!describe_path(fabric, 0, 1, FABRIC_NVLINK, 64, &path));
    fabric_free(fabric);
}
END_TEST

/** Two hosts on two leaves under one spine; rates and cut-through flags as given, latencies 1, 2, 3 and 4 ns along the way. */
static struct fabric *build_line(const uint64_t gigabits_per_s[4], bool leaf_cut_through, bool spine_cut_through) {
    static const uint32_t gpus[] = {1, 1}, leaves[] = {0, 1}, parallel[] = {1, 1};
    const struct irregular_description description = {
        .n_domains = 2,
        .domain_gpus = gpus,
        .n_leaves = 2,
        .endpoint_leaf = leaves,
        .n_spines = 1,
        .parallel_links = parallel,
        .leaf_cut_through = leaf_cut_through,
        .spine_cut_through = spine_cut_through,
        .host = {.up = {gigabits_per_s[0] * GIGA, 1000, 0}, .down = {gigabits_per_s[3] * GIGA, 4000, 0}},
        .uplink = {.up = {gigabits_per_s[1] * GIGA, 2000, 0}, .down = {gigabits_per_s[2] * GIGA, 3000, 0}}};
    return irregular_build(&description);
}

/** Checks start and arrival of all four hops of a 1,000-byte packet from host 0 to host 1. */
static void hops_are(const struct fabric *fabric, const uint64_t start[4], const uint64_t arrival[4]) {
    struct describe_path path;
    ck_assert(describe_path(fabric, 0, 1, FABRIC_ETHERNET, 1000, &path));
    ck_assert_uint_eq(path.n_hops, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(path.hops[i].start_ps, start[i]);
        ck_assert_uint_eq(path.hops[i].arrival_ps, arrival[i]);
    }
    ck_assert_uint_eq(path.latency_ps, arrival[3]);
}

START_TEST(a_faster_link_waits_until_the_last_bit_will_be_there_in_time) {
    static const uint64_t rates[] = {100, 400, 200, 800}; /* 80, 20, 40 and 10 ns for 1,000 B */
    struct fabric *fabric = build_line(rates, true, true);
    /* leaf: first bit 1,000, last 81,000, may start at 61,000. spine: first 63,000, last 83,000, slower out: at once.
       leaf: first 66,000, last 106,000, may start at 96,000 and ends at 106,000 */
    static const uint64_t start[] = {0, 61000, 63000, 96000};
    static const uint64_t arrival[] = {1000, 63000, 66000, 110000};
    hops_are(fabric, start, arrival);
    fabric_free(fabric);
}
END_TEST

START_TEST(a_store_and_forward_spine_between_cut_through_leaves) {
    static const uint64_t rates[] = {100, 400, 200, 800};
    struct fabric *fabric = build_line(rates, true, false);
    /* leaf starts at 61,000 and ends at 81,000; the spine has the last bit at 83,000; the leaf the first at 86,000, last at 126,000 */
    static const uint64_t start[] = {0, 61000, 83000, 116000};
    static const uint64_t arrival[] = {1000, 83000, 86000, 130000};
    hops_are(fabric, start, arrival);
    fabric_free(fabric);
}
END_TEST

START_TEST(store_and_forward_leaves_below_a_cut_through_spine) {
    static const uint64_t rates[] = {800, 200, 400, 100};
    struct fabric *fabric = build_line(rates, false, true);
    /* leaf: last bit at 10,000 + 1,000; spine: first bit at 13,000, last at 53,000, 20 ns out: starts at 33,000;
       leaf: last bit at 53,000 + 3,000; 80 ns out */
    static const uint64_t start[] = {0, 11000, 33000, 56000};
    static const uint64_t arrival[] = {11000, 13000, 56000, 140000};
    hops_are(fabric, start, arrival);
    fabric_free(fabric);
}
END_TEST

START_TEST(fractions_of_a_picosecond_round_as_transmitters_do) {
    static const uint64_t rates[] = {
        3, 3, 3, 3}; /* 1,000 B take 2,666,666.67 ps: a transmitter's first packet ends at 2,666,666 */
    struct fabric *fabric = build_line(rates, false, false);
    ck_assert_uint_eq(latency(fabric, 0, 1, FABRIC_ETHERNET, 1000), 4 * UINT64_C(2666666) + 10000);
    fabric_free(fabric);
}
END_TEST

static void add_paths(TCase *cases) {
    tcase_add_test(cases, cut_through_pays_the_size_once);
    tcase_add_test(cases, store_and_forward_pays_the_size_at_every_hop);
    tcase_add_test(cases, nvlink_chips_store_and_forward);
    tcase_add_test(cases, ways_that_do_not_exist_are_refused);
    tcase_add_test(cases, a_faster_link_waits_until_the_last_bit_will_be_there_in_time);
    tcase_add_test(cases, a_store_and_forward_spine_between_cut_through_leaves);
    tcase_add_test(cases, store_and_forward_leaves_below_a_cut_through_spine);
    tcase_add_test(cases, fractions_of_a_picosecond_round_as_transmitters_do);
}

int main(void) {
    Suite *suite = suite_create("describe");
    TCase *cases = tcase_create("describe");
    tcase_add_test(cases, facts_of_four_racks);
    tcase_add_test(cases, oversubscription_halves_the_bisection);
    tcase_add_test(cases, one_leaf_has_the_bisection_of_its_nics);
    add_paths(cases);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
