// SPDX-License-Identifier: GPL-3.0-or-later
/* Graphs built from descriptions with unequal parts: what is plugged where. */
#include "base/hash.h"
#include "fabric/irregular.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>
#include <signal.h>

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

enum { RANDOM_LIMIT = 6, RANDOM_SQUARE = RANDOM_LIMIT * RANDOM_LIMIT };

/** Arrays of a random description. */
struct random_lists {
    uint32_t gpus[RANDOM_LIMIT], links[RANDOM_LIMIT], leaves[RANDOM_SQUARE];
    uint32_t leaf_pod[RANDOM_LIMIT], spine_pod[RANDOM_LIMIT];
    uint32_t parallel[RANDOM_SQUARE], super_links[RANDOM_SQUARE];
};

/** Random numbers of one case. */
struct random_numbers {
    uint64_t stream, count;
};

static uint32_t below(struct random_numbers *numbers, uint32_t limit) {
    return hash_below(hash_draw(numbers->stream, numbers->count++), limit);
}

/** Pods in any order of leaves; each has a leaf or not, and at least one spine. Spines reach some super-spines, all pods reach all of them. */
static void random_pods(struct random_numbers *numbers, struct irregular_description *description,
                        struct random_lists *lists) {
    const uint32_t pods = description->n_pods, spines = description->n_spines, supers = description->n_super_spines;
    for (uint32_t leaf = 0; leaf < description->n_leaves; leaf++) {
        lists->leaf_pod[leaf] = below(numbers, pods);
    }
    for (uint32_t spine = 0; spine < spines; spine++) {
        lists->spine_pod[spine] = spine * pods / spines;
    }
    for (uint32_t i = 0; i < description->n_leaves * spines; i++) {
        const bool together = lists->leaf_pod[i / spines] == lists->spine_pod[i % spines];
        lists->parallel[i] = together ? 1 + below(numbers, 3) : 0;
    }
    for (uint32_t i = 0; i < spines * supers; i++) {
        lists->super_links[i] = 1 + below(numbers, 2); /* a cable more or less where another spine of the pod has one */
        const uint32_t spine = i / supers;
        if (spine > 0 && lists->spine_pod[spine - 1] == lists->spine_pod[spine] && i % supers != spine % supers) {
            lists->super_links[i] = below(numbers, 2);
        }
    }
}

/** A description of random counts; half of them have super-spines. */
static struct irregular_description random_description(uint64_t stream, struct random_lists *lists) {
    struct random_numbers numbers = {.stream = stream};
    struct irregular_description description = {.nvlink = nvlink,
                                                .host = host,
                                                .uplink = uplink,
                                                .super_uplink = uplink,
                                                .domain_gpus = lists->gpus,
                                                .links_per_chip = lists->links,
                                                .endpoint_leaf = lists->leaves,
                                                .leaf_pod = lists->leaf_pod,
                                                .spine_pod = lists->spine_pod,
                                                .parallel_links = lists->parallel,
                                                .super_links = lists->super_links};
    uint32_t endpoints = 0;
    description.n_domains = 1 + below(&numbers, 3);
    description.n_chips = below(&numbers, 4);
    description.n_leaves = 1 + below(&numbers, RANDOM_LIMIT);
    description.n_super_spines = below(&numbers, 2) * (1 + below(&numbers, 3));
    description.n_pods = description.n_super_spines > 0 ? 1 + below(&numbers, 3) : below(&numbers, 2);
    description.n_spines = description.n_pods + 1 + below(&numbers, 3);
    for (uint32_t i = 0; i < description.n_domains; i++) {
        endpoints += lists->gpus[i] = 1 + below(&numbers, RANDOM_LIMIT);
    }
    for (uint32_t i = 0; i < description.n_chips; i++) {
        lists->links[i] = 1 + below(&numbers, 3);
    }
    for (uint32_t i = 0; i < endpoints; i++) {
        lists->leaves[i] = below(&numbers, description.n_leaves);
    }
    description.n_pods = description.n_pods > 0 ? description.n_pods : 1;
    random_pods(&numbers, &description, lists);
    return description;
}

/** Switches between two different endpoints: 1 below a leaf, 3 within a pod, 5 between pods. */
static unsigned switches_between(const struct fabric *fabric, uint32_t source, uint32_t destination) {
    const uint32_t near = fabric->endpoints[source].leaf, far = fabric->endpoints[destination].leaf;
    if (near == far) {
        return 1;
    }
    return fabric->devices[fabric->switch_devices[near]].pod == fabric->devices[fabric->switch_devices[far]].pod ? 3
                                                                                                                 : 5;
}

START_TEST(random_fabrics_are_sound_and_every_pair_is_joined) {
    struct random_lists lists;
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, (uint64_t)_i, 0);
    const struct irregular_description description = random_description(stream, &lists);
    struct fabric *fabric = irregular_build(&description);
    fixture_check_graph(fabric);
    fixture_check_routes(fabric);
    for (uint32_t source = 0; source < fabric->n_endpoints; source++) {
        for (uint32_t destination = 0; destination < fabric->n_endpoints; destination++) {
            for (unsigned pick = 0; pick < 9 && source != destination; pick++) {
                FIXTURE_EXPECT(fixture_follow(fabric, source, destination, pick, 5) ==
                               switches_between(fabric, source, destination));
            }
        }
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(pods_that_nothing_joins_abort) {
    static const uint32_t gpus[] = {2}, leaves[] = {0, 1}, pods[] = {0, 1}, parallel[] = {1, 0, 0, 1};
    const struct irregular_description description = {.n_domains = 1,
                                                      .domain_gpus = gpus,
                                                      .n_leaves = 2,
                                                      .endpoint_leaf = leaves,
                                                      .n_spines = 2,
                                                      .n_pods = 2,
                                                      .leaf_pod = pods,
                                                      .spine_pod = pods,
                                                      .parallel_links = parallel,
                                                      .host = host,
                                                      .uplink = uplink};
    irregular_build(&description);
}
END_TEST

START_TEST(a_super_spine_that_misses_a_pod_aborts) {
    static const uint32_t gpus[] = {2}, leaves[] = {0, 1}, pods[] = {0, 1}, parallel[] = {1, 0, 0, 1};
    static const uint32_t super_links[] = {1, 1, 1, 0};
    const struct irregular_description description = {.n_domains = 1,
                                                      .domain_gpus = gpus,
                                                      .n_leaves = 2,
                                                      .endpoint_leaf = leaves,
                                                      .n_spines = 2,
                                                      .n_pods = 2,
                                                      .leaf_pod = pods,
                                                      .spine_pod = pods,
                                                      .parallel_links = parallel,
                                                      .n_super_spines = 2,
                                                      .super_links = super_links,
                                                      .host = host,
                                                      .uplink = uplink,
                                                      .super_uplink = uplink};
    irregular_build(&description);
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
    tcase_add_test_raise_signal(cases, pods_that_nothing_joins_abort, SIGABRT);
    tcase_add_test_raise_signal(cases, a_super_spine_that_misses_a_pod_aborts, SIGABRT);
    tcase_add_loop_test(cases, random_fabrics_are_sound_and_every_pair_is_joined, 0, 200);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
