// SPDX-License-Identifier: GPL-3.0-or-later
/* Graphs built from descriptions with unequal parts: what is plugged where. */
#include "base/hash.h"
#include "fabric/irregular.h"
#include "fixture.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

static const struct irregular_cable nvlink = {.up = {320000000000, 300000, 0}, .down = {300000000000, 310000, 0}};
static const struct irregular_cable host = {.up = {400000000000, 1100000, 15000},
                                            .down = {200000000000, 515000, 15000}};
static const struct irregular_cable uplink = {.up = {100000000000, 750000, 150000},
                                              .down = {50000000000, 751000, 150000}};

/** Three domains of 3, 1 and 2 GPUs, chips with 2 and 1 links a GPU, two leaves, two spines with 1, 3, 2, 1 cables. */
static struct fabric *build_small(void) {
    static const uint32_t gpus[] = {3, 1, 2}, links[] = {2, 1}, leaves[] = {1, 0, 1, 0, 0, 1};
    static const uint32_t parallel[] = {1, 3, 2, 1}, rails[] = {7, 9};
    const struct irregular_description description = {.n_domains = 3,
                                                      .domain_gpus = gpus,
                                                      .n_chips = 2,
                                                      .links_per_chip = links,
                                                      .n_leaves = 2,
                                                      .endpoint_leaf = leaves,
                                                      .leaf_rail = rails,
                                                      .n_spines = 2,
                                                      .parallel_links = parallel,
                                                      .spine_cut_through = true,
                                                      .nvlink = nvlink,
                                                      .host = host,
                                                      .uplink = uplink};
    return irregular_build(&description);
}

START_TEST(counts_follow_from_the_description) {
    struct fabric *fabric = build_small();
    fixture_check_graph(fabric);
    ck_assert_uint_eq(fabric->n_endpoints, 6);
    ck_assert_uint_eq(fabric->n_leaves, 2);
    ck_assert_uint_eq(fabric->n_switches, 4);
    ck_assert_uint_eq(fabric->n_domains, 2);
    ck_assert_uint_eq(fabric->n_chips, 4);
    ck_assert_uint_eq(fabric->n_links, 2 * (6 + 7 + 5 * 3));
    fabric_free(fabric);
}
END_TEST

START_TEST(a_lone_gpu_has_no_nvlink) {
    struct fabric *fabric = build_small();
    ck_assert_uint_eq(fabric->endpoints[3].domain, FABRIC_NONE);
    ck_assert_uint_eq(fabric->endpoints[3].n_nvlinks, 0);
    ck_assert_uint_eq(fabric->devices[3].n_ports, 1);
    ck_assert_uint_eq(fabric->devices[3].rack, 1);
    ck_assert_uint_eq(fabric->endpoints[4].domain, 1);
    ck_assert_uint_eq(fabric->devices[4].rack, 2);
    fabric_free(fabric);
}
END_TEST

START_TEST(leaf_ports_are_endpoints_then_uplinks_by_spine) {
    struct fabric *fabric = build_small();
    const struct fabric_device *leaf = &fabric->devices[6];
    static const uint32_t heads[] = {1, 3, 4, 8, 9, 9, 9}; /* gpu1, gpu3, gpu4, spine0, spine1 × 3 */
    ck_assert_uint_eq(leaf->n_ports, 7);
    for (uint32_t port = 0; port < leaf->n_ports; port++) {
        ck_assert_uint_eq(fabric->links[leaf->first_port + port].head_device, heads[port]);
    }
    ck_assert_uint_eq(leaf->rail, 7);
    ck_assert_uint_eq(fabric->devices[1].rail, 7);
    ck_assert_uint_eq(fabric->devices[0].rail, 9);
    fabric_free(fabric);
}
END_TEST

START_TEST(routes_hold_every_shortest_port_and_no_other) {
    struct fabric *fabric = build_small();
    const struct fabric_route up = fabric_route_to(fabric, 6, 0);   /* leaf0 to a GPU of leaf1 */
    const struct fabric_route down = fabric_route_to(fabric, 8, 0); /* spine0 to leaf1 */
    ck_assert_uint_eq(up.first_port, 3);
    ck_assert_uint_eq(up.count, 4);
    ck_assert_uint_eq(down.first_port, 1); /* after the one cable to leaf0 */
    ck_assert_uint_eq(down.count, 2);
    fabric_free(fabric);
}
END_TEST

START_TEST(chips_give_each_gpu_a_block_of_ports) {
    struct fabric *fabric = build_small();
    const uint32_t chip = fabric->domains[0].first_chip;
    const struct fabric_route two = fabric_chip_route_to(fabric, chip, 2);
    const struct fabric_route one = fabric_chip_route_to(fabric, chip + 1, 2);
    ck_assert_uint_eq(fabric->devices[chip].n_ports, 6);
    ck_assert_uint_eq(two.first_port, 4);
    ck_assert_uint_eq(two.count, 2);
    ck_assert_uint_eq(one.first_port, 2);
    ck_assert_uint_eq(one.count, 1);
    fabric_free(fabric);
}
END_TEST

START_TEST(each_direction_has_its_own_figures) {
    struct fabric *fabric = build_small();
    const struct fabric_link *up = &fabric->links[fabric->devices[0].first_port];
    const struct fabric_link *down = &fabric->links[up->reverse];
    ck_assert_uint_eq(up->rate_bits_per_s, 400000000000);
    ck_assert_uint_eq(up->latency_ps, 1100000);
    ck_assert_uint_eq(down->rate_bits_per_s, 200000000000);
    ck_assert_uint_eq(down->latency_ps, 515000);
    ck_assert_uint_eq(fabric->smallest_latency_ps, 300000);
    ck_assert(!fabric->devices[6].cut_through);
    ck_assert(fabric->devices[8].cut_through);
    fabric_free(fabric);
}
END_TEST

START_TEST(one_link_and_one_switch_can_differ_from_their_kind) {
    struct fabric *fabric = build_small();
    const struct irregular_figures figures = {.rate_bits_per_s = 25000000000, .latency_ps = 1234, .propagation_ps = 34};
    irregular_set_link(fabric, 0, &figures);
    irregular_set_cut_through(fabric, 7, true);
    fixture_check_graph(fabric);
    ck_assert_uint_eq(fabric->links[0].rate_bits_per_s, 25000000000);
    ck_assert_uint_eq(fabric->links[fabric->links[0].reverse].latency_ps, 515000);
    ck_assert_uint_eq(fabric->smallest_latency_ps, 1234);
    ck_assert(fabric->devices[7].cut_through);
    ck_assert(!fabric->devices[6].cut_through);
    fabric_free(fabric);
}
END_TEST

START_TEST(endpoints_may_lack_a_nic_and_leaves_may_lack_spines) {
    static const uint32_t gpus[] = {2, 2}, links[] = {3}, leaves[] = {0, FABRIC_NONE, 1, 1};
    const struct irregular_description description = {.n_domains = 2,
                                                      .domain_gpus = gpus,
                                                      .n_chips = 1,
                                                      .links_per_chip = links,
                                                      .n_leaves = 2,
                                                      .endpoint_leaf = leaves,
                                                      .nvlink = nvlink,
                                                      .host = host};
    struct fabric *fabric = irregular_build(&description);
    fixture_check_graph(fabric);
    ck_assert_uint_eq(fabric->endpoints[1].n_nics, 0);
    ck_assert_uint_eq(fabric->endpoints[1].leaf, FABRIC_NONE);
    ck_assert_uint_eq(fabric_route_to(fabric, 4, 2).count, 0); /* nothing joins the leaves */
    ck_assert_uint_eq(fixture_follow(fabric, 2, 3, 0, 1), 1);
    fabric_free(fabric);
}
END_TEST

START_TEST(breaking_a_rule_of_the_description_aborts) {
    static const uint32_t gpus[] = {2}, leaves[] = {0, 1}, parallel[] = {1, 0};
    const struct irregular_description description = {.n_domains = 1,
                                                      .domain_gpus = gpus,
                                                      .n_leaves = 2,
                                                      .endpoint_leaf = leaves,
                                                      .n_spines = 1,
                                                      .parallel_links = parallel,
                                                      .host = host,
                                                      .uplink = uplink};
    irregular_build(&description);
}
END_TEST

enum { RANDOM_LIMIT = 6, RANDOM_ENDPOINTS = RANDOM_LIMIT * 3 };

/** A description of random counts; lists[] receive its arrays. */
static struct irregular_description random_description(uint64_t stream,
                                                       uint32_t lists[5][RANDOM_LIMIT * RANDOM_LIMIT]) {
    uint64_t count = 0;
    struct irregular_description description = {.nvlink = nvlink, .host = host, .uplink = uplink};
    uint32_t endpoints = 0;
    description.n_domains = 1 + hash_below(hash_draw(stream, count++), 3);
    description.n_chips = hash_below(hash_draw(stream, count++), 4);
    description.n_leaves = 1 + hash_below(hash_draw(stream, count++), 4);
    description.n_spines = 1 + hash_below(hash_draw(stream, count++), 3);
    for (uint32_t i = 0; i < description.n_domains; i++) {
        endpoints += lists[0][i] = 1 + hash_below(hash_draw(stream, count++), RANDOM_LIMIT);
    }
    for (uint32_t i = 0; i < description.n_chips; i++) {
        lists[1][i] = 1 + hash_below(hash_draw(stream, count++), 3);
    }
    for (uint32_t i = 0; i < endpoints; i++) {
        lists[2][i] = hash_below(hash_draw(stream, count++), description.n_leaves);
    }
    for (uint32_t i = 0; i < description.n_leaves * description.n_spines; i++) {
        lists[3][i] = 1 + hash_below(hash_draw(stream, count++), 3);
    }
    description.domain_gpus = lists[0];
    description.links_per_chip = lists[1];
    description.endpoint_leaf = lists[2];
    description.parallel_links = lists[3];
    return description;
}

START_TEST(random_fabrics_are_sound_and_every_pair_is_joined) {
    uint32_t lists[5][RANDOM_LIMIT * RANDOM_LIMIT];
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, (uint64_t)_i, 0);
    const struct irregular_description description = random_description(stream, lists);
    struct fabric *fabric = irregular_build(&description);
    fixture_check_graph(fabric);
    for (uint32_t source = 0; source < fabric->n_endpoints; source++) {
        for (uint32_t destination = 0; destination < fabric->n_endpoints; destination++) {
            if (source != destination) {
                const bool near = fabric->endpoints[source].leaf == fabric->endpoints[destination].leaf;
                for (unsigned pick = 0; pick < 9; pick++) {
                    const unsigned switches = fixture_follow(fabric, source, destination, pick, 3);
                    FIXTURE_EXPECT(switches == (near ? 1U : 3U));
                }
            }
        }
    }
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("irregular");
    TCase *cases = tcase_create("irregular");
    tcase_add_test(cases, counts_follow_from_the_description);
    tcase_add_test(cases, a_lone_gpu_has_no_nvlink);
    tcase_add_test(cases, leaf_ports_are_endpoints_then_uplinks_by_spine);
    tcase_add_test(cases, routes_hold_every_shortest_port_and_no_other);
    tcase_add_test(cases, chips_give_each_gpu_a_block_of_ports);
    tcase_add_test(cases, each_direction_has_its_own_figures);
    tcase_add_test(cases, one_link_and_one_switch_can_differ_from_their_kind);
    tcase_add_test(cases, endpoints_may_lack_a_nic_and_leaves_may_lack_spines);
    tcase_add_test_raise_signal(cases, breaking_a_rule_of_the_description_aborts, SIGABRT);
    tcase_add_loop_test(cases, random_fabrics_are_sound_and_every_pair_is_joined, 0, 200);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
