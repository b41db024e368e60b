// SPDX-License-Identifier: GPL-3.0-or-later
/* From topologies to fabrics: exact counts, wiring, latencies, limits and errors. */
#include "base/error_id.h"
#include "base/hash.h"
#include "fabric/builder.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct fabric *build(const struct topology *topology) {
    struct error error = {0};
    struct fabric *fabric = fabric_build(topology, &error);
    ck_assert_msg(fabric != NULL, "%s", error.message);
    fixture_check_graph(fabric);
    return fabric;
}

/** The topology is refused with this number and exactly this message, at its file. */
static void refused(const struct topology *topology, enum error_id id, const char *message) {
    struct error error = {0};
    ck_assert_ptr_null(fabric_build(topology, &error));
    ck_assert_int_eq(error.id, id);
    ck_assert_str_eq(error.message, message);
    ck_assert_str_eq(error.file, topology->path);
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_ptr_null(fabric_build(topology, NULL));
}

START_TEST(four_racks_have_exact_counts) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_endpoints, 256);
    ck_assert_uint_eq(fabric->n_leaves, 4);
    ck_assert_uint_eq(fabric->n_switches, 6);
    ck_assert_uint_eq(fabric->n_chips, 72);
    ck_assert_uint_eq(fabric->n_domains, 4);
    ck_assert_uint_eq(fabric->n_links, 2 * (256 + 4 * 64 + 256 * 18));
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[0]].n_ports, 128);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[4]].n_ports, 128);
    ck_assert_uint_eq(fabric->devices[fabric->domains[3].first_chip].n_ports, 64);
    ck_assert_uint_eq(fabric->devices[0].n_ports, 19);
    fabric_free(fabric);
}
END_TEST

START_TEST(one_leaf_a_rack_keeps_racks_apart) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = build(&topology);
    for (uint32_t endpoint = 0; endpoint < 256; endpoint++) {
        ck_assert_uint_eq(fabric->endpoints[endpoint].leaf, endpoint / 64);
        ck_assert_uint_eq(fabric->endpoints[endpoint].leaf_port, endpoint % 64);
        ck_assert_uint_eq(fabric->devices[endpoint].rack, endpoint / 64);
        ck_assert_uint_eq(fabric->devices[endpoint].rail, FABRIC_NONE);
    }
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[3]].rack, 3);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[3]].tier_index, 3);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[5]].rack, FABRIC_NONE);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[5]].tier_index, 1);
    ck_assert_int_eq(fabric->devices[fabric->switch_devices[5]].tier, FABRIC_TIER_SPINE);
    fabric_free(fabric);
}
END_TEST

START_TEST(uplinks_are_grouped_by_spine_and_spine_ports_by_leaf) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = build(&topology);
    for (uint32_t leaf = 0; leaf < 4; leaf++) {
        const struct fabric_device *device = &fabric->devices[fabric->switch_devices[leaf]];
        for (uint32_t up = 0; up < 64; up++) {
            const struct fabric_link *link = &fabric->links[device->first_port + 64 + up];
            ck_assert_uint_eq(link->head_device, fabric->switch_devices[4 + up / 32]);
            ck_assert_uint_eq(link->head_port, leaf * 32 + up % 32);
        }
    }
    const struct fabric_route up = fabric_route_to(fabric, fabric->switch_devices[1], 200);
    const struct fabric_route down = fabric_route_to(fabric, fabric->switch_devices[4], 200);
    ck_assert_uint_eq(up.first_port, 64);
    ck_assert_uint_eq(up.count, 64);
    ck_assert_uint_eq(down.first_port, 96);
    ck_assert_uint_eq(down.count, 32);
    fabric_free(fabric);
}
END_TEST

START_TEST(every_pair_is_at_most_three_switches_apart) {
    const struct topology topologies[] = {fixture_racks(), fixture_rails(), fixture_hosts()};
    struct fabric *fabric = build(&topologies[_i]);
    for (uint32_t source = 0; source < fabric->n_endpoints; source++) {
        for (uint32_t destination = 0; destination < fabric->n_endpoints; destination++) {
            if (source != destination) {
                const bool near = fabric->endpoints[source].leaf == fabric->endpoints[destination].leaf;
                const unsigned switches = fixture_follow(fabric, source, destination, source + destination, 3);
                FIXTURE_EXPECT(switches == (near ? 1U : 3U));
            }
        }
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(rails_keep_equal_indices_on_the_same_leaves) {
    const struct topology topology = fixture_rails(); /* 16 × 8 GPUs, 4 rails of 32, leaves of 16: two a rail */
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_leaves, 8);
    for (uint32_t endpoint = 0; endpoint < 128; endpoint++) {
        const uint32_t domain = endpoint / 8, index = endpoint % 8;
        ck_assert_uint_eq(fabric->devices[endpoint].rail, index % 4);
        ck_assert_uint_eq(fabric->endpoints[endpoint].leaf, index % 4 * 2 + domain / 8);
        ck_assert_uint_eq(fabric->endpoints[endpoint].leaf_port, domain % 8 * 2 + index / 4);
    }
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[5]].rail, 2);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[5]].rack, FABRIC_NONE);
    fabric_free(fabric);
}
END_TEST

/* GPUs 9 and 10 of domain 1: rails 1 and 2. Nobody else moves but within the ports of their leaves. */
START_TEST(crossed_gpus_have_each_others_rail) {
    struct topology topology = fixture_rails();
    snprintf(topology.fabric.crossed_gpus, sizeof topology.fabric.crossed_gpus, "9, 10");
    struct fabric *fabric = build(&topology);
    for (uint32_t endpoint = 0; endpoint < 128; endpoint++) {
        const uint32_t rail = endpoint == 9 ? 2 : endpoint == 10 ? 1 : endpoint % 4;
        ck_assert_uint_eq(fabric->devices[endpoint].rail, rail);
        ck_assert_uint_eq(fabric->endpoints[endpoint].leaf, rail * 2 + endpoint / 64);
        ck_assert_uint_eq(fabric->endpoints[endpoint].domain, endpoint / 8);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(eighteen_links_over_four_chips_are_five_four_four_five) {
    const struct topology topology = fixture_rails();
    struct fabric *fabric = build(&topology);
    static const uint32_t links[] = {5, 4, 4, 5};
    for (uint32_t chip = 0; chip < 4; chip++) {
        ck_assert_uint_eq(fabric->devices[fabric->domains[15].first_chip + chip].n_ports, 8 * links[chip]);
        ck_assert_uint_eq(fabric_chip_route_to(fabric, fabric->domains[15].first_chip + chip, 127).count, links[chip]);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(a_last_leaf_may_be_partly_filled) {
    struct topology topology = fixture_hosts();
    topology.racks = 40;
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_leaves, 3);
    ck_assert_uint_eq(fabric->devices[fabric->switch_devices[2]].n_ports, 8 + 8);
    ck_assert_uint_eq(fabric_route_to(fabric, fabric->switch_devices[2], 0).first_port, 8);
    ck_assert_uint_eq(fabric->n_domains, 0);
    ck_assert_uint_eq(fabric->n_chips, 0);
    fabric_free(fabric);
}
END_TEST

START_TEST(without_spines_one_leaf_holds_everyone) {
    struct topology topology = fixture_hosts();
    topology.racks = 16;
    topology.fabric.spines = 0;
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_switches, 1);
    ck_assert_uint_eq(fabric->n_links, 32);
    fabric_free(fabric);
}
END_TEST

START_TEST(latencies_are_cable_plus_what_is_entered_plus_the_nic_left) {
    struct topology topology = fixture_racks();
    topology.spine.latency_ps = 700000;
    struct fabric *fabric = build(&topology);
    const struct fabric_link *nic_up = &fabric->links[fabric->devices[0].first_port];
    const struct fabric_link *nic_down = &fabric->links[nic_up->reverse];
    const struct fabric_link *spine_up = &fabric->links[fabric->devices[fabric->switch_devices[0]].first_port + 64];
    const struct fabric_link *spine_down = &fabric->links[spine_up->reverse];
    const struct fabric_link *nvlink_up = &fabric->links[fabric->devices[0].first_port + 1];
    ck_assert_uint_eq(nic_up->latency_ps, 3 * 5000 + 500000 + 600000);
    ck_assert_uint_eq(nic_down->latency_ps, 3 * 5000 + 500000);
    ck_assert_uint_eq(spine_up->latency_ps, 30 * 5000 + 700000);
    ck_assert_uint_eq(spine_down->latency_ps, 30 * 5000 + 600000);
    ck_assert_uint_eq(nic_up->propagation_ps, 15000);
    ck_assert_uint_eq(spine_up->propagation_ps, 150000);
    ck_assert_uint_eq(nvlink_up->latency_ps, 300000);
    ck_assert_uint_eq(fabric->links[nvlink_up->reverse].latency_ps, 310000);
    ck_assert_uint_eq(fabric->smallest_latency_ps, 300000);
    fabric_free(fabric);
}
END_TEST

START_TEST(a_given_link_latency_replaces_all_of_it) {
    const struct topology topology = fixture_hosts();
    struct fabric *fabric = build(&topology);
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        ck_assert_uint_eq(fabric->links[link].latency_ps, 500000);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(rates_are_usable_and_never_above_the_slower_port) {
    struct topology topology = fixture_racks();
    topology.nic.rate_bits_per_s = 800000000000;
    topology.nic.usable_fraction = 0.25;
    topology.spine.port_rate_bits_per_s = 100000000000;
    struct fabric *fabric = build(&topology);
    const uint32_t uplink = fabric->devices[fabric->switch_devices[0]].first_port + 64;
    ck_assert_uint_eq(fabric->links[0].rate_bits_per_s, 200000000000);
    ck_assert_uint_eq(fabric->links[fabric->links[0].reverse].rate_bits_per_s, 200000000000);
    ck_assert_uint_eq(fabric->links[uplink].rate_bits_per_s, 100000000000);
    ck_assert_uint_eq(fabric->links[fabric->links[uplink].reverse].rate_bits_per_s, 100000000000);
    ck_assert_uint_eq(fabric->links[1].rate_bits_per_s, 320000000000);
    fabric_free(fabric);
    topology.nic.usable_fraction = 1.0;
    fabric = build(&topology);
    ck_assert_uint_eq(fabric->links[0].rate_bits_per_s, 400000000000); /* the leaf's port */
    fabric_free(fabric);
}
END_TEST

START_TEST(eight_thousand_gpus_take_little_memory_and_are_all_reached) {
    const struct topology topology = fixture_large();
    struct fabric *fabric = build(&topology);
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 0, 0);
    ck_assert_uint_eq(fabric->n_endpoints, 8192);
    ck_assert_uint_eq(fabric->n_switches, 192);
    ck_assert_uint_eq(fabric->n_links, 2 * (8192 + 8192 + 8192 * 18));
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t draw = hash_draw(stream, i);
        const uint32_t source = (uint32_t)draw % 8192, destination = (uint32_t)(draw >> 32) % 8192;
        if (source != destination) {
            const bool near = source / 64 == destination / 64;
            const unsigned switches = fixture_follow(fabric, source, destination, (unsigned)(draw >> 48), 3);
            FIXTURE_EXPECT(switches == (near ? 1U : 3U));
        }
    }
    printf("# 8,192 GPUs: %" PRIu64 " bytes of fabric\n", fabric_bytes(fabric));
    ck_assert_uint_lt(fabric_bytes(fabric), 24000000);
    fabric_free(fabric);
}
END_TEST

START_TEST(planes_are_the_same_fabric_once_more) {
    struct topology topology = fixture_racks();
    struct fabric *one = build(&topology);
    topology.nic.planes = 4;
    struct fabric *fabric = build(&topology);
    ck_assert_uint_eq(fabric->n_planes, 4);
    ck_assert_uint_eq(fabric->n_leaves, 4 * one->n_leaves);
    ck_assert_uint_eq(fabric->n_spines, 4 * one->n_spines);
    ck_assert_uint_eq(fabric->n_chips, one->n_chips);
    ck_assert_uint_eq(fabric->endpoints[5].n_nics, 4);
    fixture_check_routes(fabric);
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        for (uint32_t plane = 0; plane < 4; plane++) {
            const struct fabric_link *link = &fabric->links[fabric->devices[endpoint].first_port + plane];
            const struct fabric_device *leaf = &fabric->devices[link->head_device];
            ck_assert_uint_eq(leaf->plane, plane);
            ck_assert_uint_eq(leaf->tier_index, one->endpoints[endpoint].leaf);
            ck_assert_uint_eq(link->head_port, one->endpoints[endpoint].leaf_port);
            ck_assert_uint_eq(fabric_route_to(fabric, link->head_device, endpoint).first_port, link->head_port);
        }
    }
    fabric_free(one);
    fabric_free(fabric);
}
END_TEST

START_TEST(contradictory_domains_are_refused) {
    struct topology topology = fixture_racks();
    topology.gpus_used = 73;
    refused(&topology, ERROR_ID_CONFLICT_SCALE, "73 GPUs of each NVLink domain are to be used, but it has 72");
    topology.gpus_used = 0;
    refused(&topology, ERROR_ID_CONFLICT_SCALE, "a cluster needs at least one rack and one GPU of it");
    topology = fixture_racks();
    topology.nvlink.links_per_gpu = 17;
    refused(&topology, ERROR_ID_CONFLICT_NVLINK, "17 NVLinks of a GPU cannot reach each of 18 NVSwitch chips");
    topology.nvlink.links_per_gpu = 70000;
    refused(&topology, ERROR_ID_CONFLICT_NVLINK, "an NVSwitch chip or GPU would have more than 65535 ports");
}
END_TEST

START_TEST(switches_without_enough_ports_are_refused) {
    struct topology topology = fixture_racks();
    topology.leaf.ports = 127;
    refused(&topology, ERROR_ID_CONFLICT_PORTS, "64 downlinks and 64 uplinks do not fit the 127 ports of a leaf");
    topology = fixture_racks();
    topology.spine.ports = 127;
    refused(&topology, ERROR_ID_CONFLICT_PORTS,
            "4 leaves with 32 links to each spine do not fit the 127 ports of a spine");
    topology = fixture_racks();
    topology.fabric.leaf_downlinks = 0;
    refused(&topology, ERROR_ID_CONFLICT_PORTS, "a leaf needs at least one downlink");
    topology = fixture_racks();
    topology.leaf.ports = topology.fabric.leaf_downlinks = 100000;
    topology.fabric.spines = 0;
    refused(&topology, ERROR_ID_CONFLICT_PORTS, "100000 downlinks and 0 uplinks do not fit the 100000 ports of a leaf");
}
END_TEST

START_TEST(uneven_spines_and_rails_are_refused) {
    struct topology topology = fixture_racks();
    topology.fabric.spines = 3;
    refused(&topology, ERROR_ID_CONFLICT_SPINES, "64 uplinks of a leaf cannot be spread evenly over 3 spines");
    topology.fabric.spines = 0;
    refused(&topology, ERROR_ID_CONFLICT_SPINES,
            "256 GPUs do not fit one leaf of 64 downlinks, and there are no spines");
    topology = fixture_rails();
    topology.fabric.rails = 3;
    refused(&topology, ERROR_ID_CONFLICT_RAILS, "3 rails do not divide the 8 GPUs used of each NVLink domain");
    topology.fabric.rails = 0;
    refused(&topology, ERROR_ID_CONFLICT_RAILS, "0 rails do not divide the 8 GPUs used of each NVLink domain");
}
END_TEST

START_TEST(figures_beyond_the_arithmetic_are_refused) {
    struct topology topology = fixture_racks();
    topology.nic.latency_ps = 0;
    topology.fabric.host_cable_m = 0;
    refused(&topology, ERROR_ID_CONFLICT_RATE, "the link from leaf to NIC would have a latency of 0 ps");
    topology = fixture_racks();
    topology.nvlink.latency_down_ps = 0;
    refused(&topology, ERROR_ID_CONFLICT_RATE, "the link from NVSwitch to GPU would have a latency of 0 ps");
    topology = fixture_racks();
    topology.leaf.port_rate_bits_per_s = 7999999;
    refused(&topology, ERROR_ID_CONFLICT_RATE, "the link from NIC to leaf would run at 7999999 b/s");
    topology = fixture_racks();
    topology.nic.usable_fraction = 1.5;
    refused(&topology, ERROR_ID_CONFLICT_RATE, "a usable fraction must be more than 0 and at most 1");
    topology = fixture_racks();
    topology.fabric.spine_cable_m = UINT64_MAX;
    refused(&topology, ERROR_ID_CONFLICT_RATE,
            "the link from leaf to spine would have a latency of 18446744073709551615 ps");
}
END_TEST

START_TEST(clusters_that_cannot_be_numbered_are_refused_before_memory_is_taken) {
    struct topology topology = fixture_racks();
    topology.racks = UINT32_MAX;
    refused(&topology, ERROR_ID_CONFLICT_SCALE,
            "4294967295 leaves, 2 spines and 0 super-spines are more than 16384 switches");
    topology = fixture_racks();
    topology.racks = 2000000;
    topology.leaf.ports = 65535;
    topology.fabric.leaf_downlinks = 60000;
    topology.fabric.spines = 1;
    topology.fabric.leaf_uplinks = 1;
    topology.spine.ports = 60000;
    refused(&topology, ERROR_ID_CONFLICT_SCALE, "128000000 GPUs have more links than can be numbered");
}
END_TEST

static void add_errors(TCase *cases) {
    tcase_add_test(cases, planes_are_the_same_fabric_once_more);
    tcase_add_test(cases, contradictory_domains_are_refused);
    tcase_add_test(cases, switches_without_enough_ports_are_refused);
    tcase_add_test(cases, uneven_spines_and_rails_are_refused);
    tcase_add_test(cases, figures_beyond_the_arithmetic_are_refused);
    tcase_add_test(cases, clusters_that_cannot_be_numbered_are_refused_before_memory_is_taken);
}

int main(void) {
    Suite *suite = suite_create("builder");
    TCase *cases = tcase_create("builder");
    tcase_add_test(cases, four_racks_have_exact_counts);
    tcase_add_test(cases, one_leaf_a_rack_keeps_racks_apart);
    tcase_add_test(cases, uplinks_are_grouped_by_spine_and_spine_ports_by_leaf);
    tcase_add_loop_test(cases, every_pair_is_at_most_three_switches_apart, 0, 3);
    tcase_add_test(cases, rails_keep_equal_indices_on_the_same_leaves);
    tcase_add_test(cases, crossed_gpus_have_each_others_rail);
    tcase_add_test(cases, eighteen_links_over_four_chips_are_five_four_four_five);
    tcase_add_test(cases, a_last_leaf_may_be_partly_filled);
    tcase_add_test(cases, without_spines_one_leaf_holds_everyone);
    tcase_add_test(cases, latencies_are_cable_plus_what_is_entered_plus_the_nic_left);
    tcase_add_test(cases, a_given_link_latency_replaces_all_of_it);
    tcase_add_test(cases, rates_are_usable_and_never_above_the_slower_port);
    tcase_add_test(cases, eight_thousand_gpus_take_little_memory_and_are_all_reached);
    add_errors(cases);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
