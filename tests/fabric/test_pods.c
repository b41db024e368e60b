// SPDX-License-Identifier: GPL-3.0-or-later
/* Three tiers: pods of leaves and spines under super-spines, from topologies. */
#include "base/error_id.h"
#include "fabric/builder.h"
#include "fabric/describe.h"
#include "fabric/describe_print.h"
#include "fabric/names.h"
#include "fabric/parts.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIGA UINT64_C(1000000000)

static struct fabric *build(const struct topology *topology) {
    struct error error = {0};
    struct fabric *fabric = fabric_build(topology, &error);
    ck_assert_msg(fabric != NULL, "%s", error.message);
    fixture_check_graph(fabric);
    return fabric;
}

static const struct fabric_device *switch_of(const struct fabric *fabric, enum fabric_tier tier, uint32_t index) {
    const uint32_t before = tier == FABRIC_TIER_LEAF    ? 0
                            : tier == FABRIC_TIER_SPINE ? fabric->n_leaves
                                                        : fabric->n_leaves + fabric->n_spines;
    const struct fabric_device *device = &fabric->devices[fabric->switch_devices[before + index]];
    ck_assert_int_eq(device->tier, tier);
    ck_assert_uint_eq(device->tier_index, index);
    return device;
}

/** Head device of a port, as a number of its tier. */
static uint32_t neighbour(const struct fabric *fabric, const struct fabric_device *device, uint32_t port) {
    return fabric->devices[fabric->links[device->first_port + port].head_device].tier_index;
}

START_TEST(each_plane_has_the_same_pods) {
    struct topology topology = fixture_pods();
    struct fabric *one = build(&topology);
    topology.nic.planes = 2;
    struct fabric *two = build(&topology);
    ck_assert_uint_eq(two->n_pods, one->n_pods);
    ck_assert_uint_eq(two->n_super_spines, 2 * one->n_super_spines);
    const uint32_t leaf = two->switch_devices[two->plane_leaves]; /* leaf 0 of plane 1 */
    ck_assert_uint_eq(two->devices[leaf].plane, 1);
    ck_assert_uint_eq(two->devices[leaf].tier_index, 0);
    struct describe_path path;
    ck_assert(describe_path_of_plane(two, 0, 19, 1, 64, &path));
    ck_assert_uint_eq(path.n_hops, 6);
    for (uint32_t hop = 1; hop < path.n_hops; hop++) {
        ck_assert_uint_eq(two->devices[two->links[path.hops[hop].link].tail_device].plane, 1);
    }
    fabric_free(one);
    fabric_free(two);
}
END_TEST

START_TEST(pods_have_exact_counts_and_the_last_one_may_be_smaller) {
    const struct topology topology = fixture_pods();
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_pods, 3);
    ck_assert_uint_eq(fabric->n_leaves, 2 + 2 + 1);
    ck_assert_uint_eq(fabric->n_spines, 3 * 2);
    ck_assert_uint_eq(fabric->n_super_spines, 4);
    ck_assert_uint_eq(fabric->n_switches, 15);
    ck_assert_uint_eq(fabric->n_links, 2 * (20 + 5 * 4 + 6 * 4));
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_LEAF, 4)->n_ports, 4 + 4);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_SPINE, 0)->n_ports, 2 * 2 + 4);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_SPINE, 5)->n_ports, 1 * 2 + 4);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_SUPERSPINE, 3)->n_ports, 3 * 2);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_LEAF, 3)->pod, 1);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_SPINE, 4)->pod, 2);
    ck_assert_uint_eq(switch_of(fabric, FABRIC_TIER_SUPERSPINE, 0)->pod, FABRIC_NONE);
    fabric_free(fabric);
}
END_TEST

START_TEST(spines_reach_the_super_spines_of_their_group_alone) {
    const struct topology topology = fixture_pods();
    struct fabric *fabric = build(&topology);
    static const uint32_t above[2][4] = {{0, 0, 1, 1}, {2, 2, 3, 3}}; /* first and second spine of a pod */
    for (uint32_t spine = 0; spine < 6; spine++) {
        const struct fabric_device *device = switch_of(fabric, FABRIC_TIER_SPINE, spine);
        for (uint32_t up = 0; up < 4; up++) {
            ck_assert_uint_eq(neighbour(fabric, device, device->n_ports - 4 + up), above[spine % 2][up]);
        }
    }
    static const uint32_t below[] = {1, 1, 3, 3, 5, 5}; /* super-spine 2: the second spine of every pod, twice */
    for (uint32_t port = 0; port < 6; port++) {
        ck_assert_uint_eq(neighbour(fabric, switch_of(fabric, FABRIC_TIER_SUPERSPINE, 2), port), below[port]);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(one_group_joins_every_spine_to_every_super_spine) {
    struct topology topology = fixture_pods();
    topology.fabric.super_spine_groups = 1;
    struct fabric *fabric = build(&topology);
    for (uint32_t super = 0; super < 4; super++) {
        const struct fabric_device *device = switch_of(fabric, FABRIC_TIER_SUPERSPINE, super);
        ck_assert_uint_eq(device->n_ports, 6);
        for (uint32_t port = 0; port < 6; port++) {
            ck_assert_uint_eq(neighbour(fabric, device, port), port);
        }
    }
    fixture_check_routes(fabric);
    fabric_free(fabric);
}
END_TEST

START_TEST(every_pair_takes_one_three_or_five_switches_by_every_choice) {
    const struct topology topology = fixture_pods();
    struct fabric *fabric = build(&topology);
    fixture_check_routes(fabric);
    for (uint32_t source = 0; source < 20; source++) {
        for (uint32_t destination = 0; destination < 20; destination++) {
            const unsigned expected = source / 4 == destination / 4 ? 1 : source / 8 == destination / 8 ? 3 : 5;
            for (unsigned pick = 0; pick < 16 && source != destination; pick++) {
                FIXTURE_EXPECT(fixture_follow(fabric, source, destination, pick, 5) == expected);
            }
        }
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(rails_are_kept_within_pods) {
    struct topology topology = fixture_rails(); /* nodes of 8 GPUs, 4 rails, leaves of 16 downlinks */
    topology.racks = 20;
    topology.fabric.pod_racks = 12; /* 24 GPUs a rail: 2 leaves a rail; the second pod has 16: 1 leaf a rail */
    topology.fabric.spine_uplinks = 16;
    topology.fabric.super_spines = 4;
    topology.fabric.super_spine_groups = 4;
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_leaves, 8 + 4);
    for (uint32_t endpoint = 0; endpoint < 160; endpoint++) {
        const struct fabric_device *leaf = &fabric->devices[fabric->switch_devices[fabric->endpoints[endpoint].leaf]];
        ck_assert_uint_eq(leaf->rail, endpoint % 8 % 4);
        ck_assert_uint_eq(leaf->rail, fabric->devices[endpoint].rail);
        ck_assert_uint_eq(leaf->pod, endpoint / 8 / 12);
    }
    fixture_check_routes(fabric);
    fabric_free(fabric);
}
END_TEST

START_TEST(the_classic_fat_tree_of_65536_hosts_takes_little_memory) {
    struct topology topology = fixture_hosts();
    topology.racks = 65536;
    topology.leaf.ports = topology.spine.ports = 128;
    topology.fabric.leaf_downlinks = topology.fabric.leaf_uplinks = topology.fabric.spine_uplinks = 64;
    topology.fabric.spines = topology.fabric.super_spine_groups = 64;
    topology.fabric.pod_racks = 4096;
    topology.fabric.super_spines = 512;
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_leaves, 1024);
    ck_assert_uint_eq(fabric->n_spines, 1024);
    ck_assert_uint_eq(fabric->n_links, 2 * 3 * 65536);
    for (uint32_t ordinal = 0; ordinal < fabric->n_switches; ordinal++) {
        FIXTURE_EXPECT(fabric->devices[fabric->switch_devices[ordinal]].n_ports == 128);
    }
    for (uint32_t source = 0; source < 65536; source += 61) {
        FIXTURE_EXPECT(fixture_follow(fabric, source, 65535 - source, source, 5) ==
                       (source / 64 == (65535 - source) / 64       ? 1U
                        : source / 4096 == (65535 - source) / 4096 ? 3U
                                                                   : 5U));
    }
    ck_assert_uint_lt(fabric_bytes(fabric), 50000000); /* routes: 2,560 switches × 1,024 leaves × 4 B */
    fabric_free(fabric);
}
END_TEST

START_TEST(facts_of_pods) {
    struct topology topology = fixture_pods();
    topology.racks = 16;
    topology.fabric.spine_uplinks = 2; /* 2 : 1 at the spines */
    struct fabric *fabric = build(&topology);
    struct describe_facts facts;
    describe_measure(fabric, &facts);
    ck_assert_uint_eq(facts.n_pods, 2);
    ck_assert_uint_eq(facts.n_spines, 4);
    ck_assert_uint_eq(facts.n_super_spines, 4);
    ck_assert_uint_eq(facts.uplink.count, 16);
    ck_assert_uint_eq(facts.super_uplink.count, 8);
    ck_assert_uint_eq(facts.super_uplink_bits_per_s, 800 * GIGA);
    ck_assert_double_eq(facts.highest_oversubscription, 1.0);
    ck_assert_double_eq(facts.lowest_spine_oversubscription, 2.0);
    ck_assert_double_eq(facts.highest_spine_oversubscription, 2.0);
    ck_assert_uint_eq(facts.bisection_bits_per_s, 400 * GIGA); /* 4 uplinks leave each pod */
    ck_assert_uint_eq(facts.farthest_switches, 5);
    fabric_free(fabric);
}
END_TEST

START_TEST(a_way_between_pods_has_six_links) {
    struct topology topology = fixture_pods();
    struct fabric *fabric = build(&topology);
    struct describe_path path;
    char name[NAMES_LINK_SIZE];
    /* 64 B at 100 Gb/s: 5,120 ps; store and forward, every link 500 ns */
    ck_assert(describe_path(fabric, 0, 19, FABRIC_ETHERNET, 64, &path));
    ck_assert_uint_eq(path.n_hops, 6);
    ck_assert_uint_eq(path.latency_ps, 6 * (5120 + 500000));
    static const char *const names[] = {
        "gpu0 → leaf0",         "leaf0:up0 → spine0", "spine0:up0 → superspine0", "superspine0:port4 → spine4",
        "spine4:port0 → leaf4", "leaf4 → gpu19"};
    for (uint32_t hop = 0; hop < 6; hop++) {
        ck_assert_str_eq(fabric_link_name(fabric, path.hops[hop].link, name, sizeof(name)), names[hop]);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(the_longer_cable_and_the_spines_figures_are_used) {
    struct topology topology = fixture_pods();
    topology.fabric.link_latency_ps = 0;
    topology.fabric.super_spine_cable_m = 100;
    topology.spine.latency_ps = 700000;
    topology.spine.port_rate_bits_per_s = 200 * GIGA;
    topology.spine.cut_through = true;
    struct fabric *fabric = build(&topology);
    const struct fabric_device *super = switch_of(fabric, FABRIC_TIER_SUPERSPINE, 0);
    const struct fabric_link *down = &fabric->links[super->first_port];
    const struct fabric_link *up = &fabric->links[down->reverse];
    ck_assert(super->cut_through);
    ck_assert_uint_eq(up->latency_ps, 100 * 5000 + 700000);
    ck_assert_uint_eq(down->latency_ps, 100 * 5000 + 700000);
    ck_assert_uint_eq(up->propagation_ps, 500000);
    ck_assert_uint_eq(up->rate_bits_per_s, 200 * GIGA);
    fabric_free(fabric);
}
END_TEST

START_TEST(super_spines_and_their_cables_are_parts) {
    struct topology topology = fixture_pods();
    topology.fabric.super_spine_cable_m = 50;
    struct fabric *fabric = build(&topology);
    struct describe_facts facts;
    struct parts parts;
    describe_measure(fabric, &facts);
    parts_list(&topology, &facts, &parts);
    uint64_t switches = 0, fibres = 0;
    for (uint32_t i = 0; i < parts.n_lines; i++) {
        switches += strncmp(parts.lines[i].name, "Ethernet switch", 15) == 0 ? parts.lines[i].count : 0;
        fibres += strstr(parts.lines[i].name, "50 m, spine to super-spine") != NULL ? parts.lines[i].count : 0;
    }
    ck_assert_uint_eq(switches, 5 + 6 + 4);
    ck_assert_uint_eq(fibres, 6 * 4);
    fabric_free(fabric);
}
END_TEST

START_TEST(the_description_names_pods_and_both_tiers) {
    const struct topology topology = fixture_pods();
    struct fabric *fabric = build(&topology);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    describe_print(stream, &topology, fabric);
    fclose(stream);
    static const char *const said[] = {"pods: 3 of 8 hosts, joined by super-spines in 2 groups",
                                       "  super-spine ",
                                       "spine - super-spine",
                                       "all spine uplinks, each way",
                                       "oversubscription of spines (down : up)       0.5 : 1 to 1 : 1",
                                       "another pod, across a super-spine   gpu0 → gpu8"};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        ck_assert_msg(strstr(text, said[i]) != NULL, "`%s` is not in\n%s", said[i], text);
    }
    free(text);
    fabric_free(fabric);
}
END_TEST

static void refused(const struct topology *topology, enum error_id id, const char *message) {
    struct error error = {0};
    ck_assert_ptr_null(fabric_build(topology, &error));
    ck_assert_str_eq(error.message, message);
    ck_assert_int_eq(error.id, id);
    ck_assert_str_eq(error.file, topology->path);
}

START_TEST(pods_that_cannot_be_wired_are_refused) {
    struct topology topology = fixture_pods();
    topology.fabric.pod_racks = 0;
    refused(&topology, ERROR_ID_CONFLICT_SPINES, "4 super-spines join pods, but no racks of a pod are given");
    topology = fixture_pods();
    topology.fabric.spines = 0;
    refused(&topology, ERROR_ID_CONFLICT_SPINES, "4 super-spines have no spines to join");
    topology = fixture_pods();
    topology.fabric.super_spine_groups = 4;
    refused(&topology, ERROR_ID_CONFLICT_SPINES, "4 groups do not divide the 2 spines of a pod and the 4 super-spines");
    topology.fabric.super_spine_groups = 0;
    refused(&topology, ERROR_ID_CONFLICT_SPINES, "0 groups do not divide the 2 spines of a pod and the 4 super-spines");
    topology = fixture_pods();
    topology.fabric.spine_uplinks = 3;
    refused(&topology, ERROR_ID_CONFLICT_SPINES,
            "3 uplinks of a spine cannot be spread evenly over the 2 super-spines of a group");
    topology = fixture_pods();
    topology.spine.ports = 7;
    refused(&topology, ERROR_ID_CONFLICT_PORTS,
            "2 leaves of a pod with 2 links to each spine and its uplinks do not fit the 7 ports of a spine");
    topology = fixture_pods();
    topology.racks = 8 * 17;
    refused(&topology, ERROR_ID_CONFLICT_PORTS,
            "17 pods with 2 links to each super-spine do not fit the 32 ports of a super-spine");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pods");
    TCase *cases = tcase_create("pods");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, each_plane_has_the_same_pods);
    tcase_add_test(cases, pods_have_exact_counts_and_the_last_one_may_be_smaller);
    tcase_add_test(cases, spines_reach_the_super_spines_of_their_group_alone);
    tcase_add_test(cases, one_group_joins_every_spine_to_every_super_spine);
    tcase_add_test(cases, every_pair_takes_one_three_or_five_switches_by_every_choice);
    tcase_add_test(cases, rails_are_kept_within_pods);
    tcase_add_test(cases, the_classic_fat_tree_of_65536_hosts_takes_little_memory);
    tcase_add_test(cases, facts_of_pods);
    tcase_add_test(cases, a_way_between_pods_has_six_links);
    tcase_add_test(cases, the_longer_cable_and_the_spines_figures_are_used);
    tcase_add_test(cases, super_spines_and_their_cables_are_parts);
    tcase_add_test(cases, the_description_names_pods_and_both_tiers);
    tcase_add_test(cases, pods_that_cannot_be_wired_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
