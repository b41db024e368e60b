// SPDX-License-Identifier: GPL-3.0-or-later
/* What uplinks leave to rings of gradients, counted on paper. */
#include "fabric/builder.h"
#include "run_suite.h"
#include "sizing/rings.h"

#include <check.h>

/* 16 racks of 8 GPUs; rails of 4 leave 2 GPUs a rack to a leaf of 8, so that 4 racks share one; rack wiring puts one rack on each. */
static struct topology topology_of(enum topology_wiring wiring, uint32_t uplinks) {
    return (struct topology){
        .racks = 16,
        .gpus_used = 8,
        .nvlink = {.gpus = 8,
                   .chips = 2,
                   .links_per_gpu = 2,
                   .link_rate_bits_per_s = UINT64_C(400000000000),
                   .usable_fraction = 1,
                   .latency_up_ps = 300000,
                   .latency_down_ps = 300000},
        .nic = {.planes = 1, .rate_bits_per_s = UINT64_C(400000000000), .usable_fraction = 1, .latency_ps = 500000},
        .leaf = {.ports = 16, .port_rate_bits_per_s = UINT64_C(400000000000), .latency_ps = 600000},
        .spine = {.ports = 128, .port_rate_bits_per_s = UINT64_C(400000000000), .latency_ps = 600000},
        .fabric = {.wiring = wiring,
                   .rails = 4,
                   .leaf_downlinks = 8,
                   .leaf_uplinks = uplinks,
                   .spines = 1,
                   .host_cable_m = 3,
                   .spine_cable_m = 20,
                   .cable_latency_ps_per_m = 5000,
                   .super_spine_groups = 1},
    };
}

static const struct {
    enum topology_wiring wiring;
    uint32_t uplinks;
    struct rings rings;
    double share;
} cases[] = {
    {TOPOLOGY_WIRING_RACK, 8, {8, 128, 1, 128}, 1},   /* all 8 leave their leaf: 1 : 1 carries them */
    {TOPOLOGY_WIRING_RACK, 4, {8, 128, 1, 128}, 0.5}, /* and 2 : 1 half of them */
    {TOPOLOGY_WIRING_RACK, 2, {8, 32, 4, 32}, 0.25},
    /* of 4 racks below a leaf one has its next rack elsewhere: 2 GPUs leave */
    {TOPOLOGY_WIRING_RAIL, 4, {8, 128, 1, 128}, 1},
    {TOPOLOGY_WIRING_RAIL, 1, {8, 128, 1, 128}, 0.5},
    {TOPOLOGY_WIRING_RAIL, 1, {8, 32, 4, 32}, 1},      /* the ring stays below the leaf */
    {TOPOLOGY_WIRING_RAIL, 4, {32, 128, 1, 128}, 0.5}, /* the next is four racks on: all 8 leave */
    {TOPOLOGY_WIRING_RAIL, 1, {8, 8, 16, 8}, 1},       /* no ring */
    {TOPOLOGY_WIRING_RAIL, 1, {0, 128, 1, 128}, 1},
    /* stages of a copy follow each other, one rack each: the next rack of a stage is under another leaf */
    {TOPOLOGY_WIRING_RAIL, 4, {8, 8, 4, 32}, 0.5},
    {TOPOLOGY_WIRING_RAIL, 8, {8, 8, 4, 32}, 1},
    /* two racks each: rack 0 goes to 1 and 2 to 3, but 1 to 4 and 3 to 6 under the next leaf: 4 GPUs leave */
    {TOPOLOGY_WIRING_RAIL, 2, {8, 16, 2, 64}, 0.5},
    /* four stages in each rack, of 2 GPUs: all racks are in every ring, as if there was one stage */
    {TOPOLOGY_WIRING_RAIL, 1, {2, 2, 4, 32}, 0.5},
    {TOPOLOGY_WIRING_RACK, 2, {2, 2, 4, 32}, 0.25},
};

START_TEST(uplinks_are_shared_by_those_who_leave_their_leaf) {
    const struct topology topology = topology_of(cases[_i].wiring, cases[_i].uplinks);
    struct error error = {0};
    struct fabric *fabric = fabric_build_plane(&topology, &error);
    ck_assert_msg(fabric != NULL, "%s", error.message);
    ck_assert_double_eq(rings_share(&topology, fabric, &cases[_i].rings), cases[_i].share);
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rings");
    TCase *tests = tcase_create("rings");
    tcase_add_loop_test(tests, uplinks_are_shared_by_those_who_leave_their_leaf, 0, sizeof cases / sizeof cases[0]);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
