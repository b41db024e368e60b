// SPDX-License-Identifier: GPL-3.0-or-later
/* Topologies of htsim: what they become, and that nothing is passed over in silence. */
#include "config/htsim_topology.h"
#include "config/topology_file.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

#define SIXTY_ZEROS "000000000000000000000000000000000000000000000000000000000000"
#define HEADER "Nodes 8\nTiers 2\nPodsize 8\n"
#define LEAF "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 500\n"
#define SPINE "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 500\n"

static struct topology topology;
static struct error_list errors;

/* Reads a text into `topology`. False with `errors`. */
static bool read_text(const char *text) {
    memset(&errors, 0, sizeof errors);
    struct tree *tree = tree_create();
    const struct tree_node *root = htsim_topology_read_text(tree, "folder/x.topo", text, &errors);
    if (root != NULL) {
        topology_read_node(root, &topology, &errors);
    }
    tree_free(tree);
    return errors.count == 0;
}

START_TEST(two_tiers_are_leaves_and_spines) {
    ck_assert(read_text(
        "# by hand\nNODES 8\r\nTiers 2\nPodsize 8\n\n  Tier 0\nDownlink_speed_Gbps\t100\nRadix_Down 4\nradix_up "
        "2\nDownlink_Latency_ns 500\nOversubscribed 2\n" SPINE));
    ck_assert_str_eq(topology.name, "x");
    ck_assert_uint_eq(topology.racks, 8);
    ck_assert_uint_eq(topology.gpus_used, 1);
    ck_assert_uint_eq(topology.nic.rate_bits_per_s, UINT64_C(100000000000));
    ck_assert_uint_eq(topology.fabric.leaf_downlinks, 4);
    ck_assert_uint_eq(topology.fabric.leaf_uplinks, 2);
    ck_assert_uint_eq(topology.fabric.spines, 2);
    ck_assert_uint_eq(topology.fabric.super_spines, 0);
    ck_assert_uint_eq(topology.fabric.link_latency_ps, 500000);
    ck_assert(!topology.leaf.pfc && !topology.leaf.ecn && !topology.spine.pfc);
}
END_TEST

START_TEST(latencies_of_their_own_are_kept) {
    ck_assert(read_text(HEADER LEAF
                        "Switch_Latency_ns 7\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nDownlink_Latency_ns "
                        "900\nSwitch_Latency_ns 11\n") == false); /* 4 × 200 up are more than 4 × 100 down */
    ck_assert(read_text(HEADER "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 500\n"
                               "Switch_Latency_ns 7\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
                               "Downlink_Latency_ns 900\nSwitch_Latency_ns 11\n"));
    ck_assert_uint_eq(topology.fabric.link_latency_ps, 0);
    ck_assert_uint_eq(topology.fabric.host_cable_m * topology.fabric.cable_latency_ps_per_m, 500000);
    ck_assert_uint_eq(topology.fabric.spine_cable_m * topology.fabric.cable_latency_ps_per_m, 900000);
    ck_assert_uint_eq(topology.leaf.latency_ps, 7000);
    ck_assert_uint_eq(topology.spine.latency_ps, 11000);
    ck_assert_uint_eq(topology.nic.latency_ps, 0);
    ck_assert_uint_eq(topology.leaf.port_rate_bits_per_s, UINT64_C(200000000000));
}
END_TEST

START_TEST(three_tiers_are_pods_under_super_spines) {
    ck_assert(topology_read(SOURCE_DIRECTORY "/topologies/htsim-fat-tree.topo", &topology, &errors));
    ck_assert_uint_eq(topology.racks, 64);
    ck_assert_uint_eq(topology.fabric.pod_racks, 16);
    ck_assert_uint_eq(topology.fabric.spines, 2);
    ck_assert_uint_eq(topology.fabric.leaf_uplinks, 4);
    ck_assert_uint_eq(topology.fabric.super_spines, 4);
    ck_assert_uint_eq(topology.fabric.spine_uplinks, 4);
    ck_assert_uint_eq(topology.fabric.super_spine_groups, 2);
}
END_TEST

static const struct {
    const char *text, *message;
    unsigned line;
} broken[] = {
    {"", "`Nodes` is missing", 0},
    {HEADER LEAF, "`Tier 1` is missing", 0},
    {HEADER "Tier 1\n" LEAF, "`Downlink_speed_Gbps` is missing in this tier", 4},
    {"Nodes 8\nTiers 4\nPodsize 8\n", "2 or 3 tiers can be simulated, not 4", 2},
    {"Nodes 8 9\n", "one word and one number", 1},
    {"Nodes eight\n", "`Nodes` needs a whole number", 1},
    {"Nodes\n", "`Nodes` needs a whole number", 1},
    {"Nodes 99999999999999999999\n", "`Nodes` needs a whole number", 1},
    {"Nodes " SIXTY_ZEROS "0008x\n", "`Nodes` needs a whole number", 1},
    {HEADER LEAF SPINE "Radix_Up 2\n", "the highest tier has no links upwards", 13},
    {HEADER LEAF SPINE "Queue_Size 8\n", "`Queue_Size` is no word of an htsim topology", 13},
    {HEADER LEAF SPINE "Tier 1\n", "tier 1 was described in line 9", 13},
    {HEADER LEAF SPINE "Radix_Down 2\n", "`Radix_Down` was said in line 11", 13},
    {HEADER LEAF SPINE "Nodes 8\n", "`Nodes` belongs before the first `Tier`", 13},
    {"Radix_Up 2\n", "`Radix_Up` belongs below a `Tier`", 1},
    {HEADER "Tier 3\n", "tiers are 0, 1 and 2, not 3", 4},
    {HEADER LEAF SPINE "Tier 2\n", "the file says that it has 2 tiers", 13},
    {"Nodes 8\nTiers 2\nPodsize 4\n" LEAF SPINE, "with two tiers all 8 nodes are one pod", 3},
    {"Nodes 9\nTiers 2\nPodsize 9\n" LEAF SPINE, "`Radix_Down` 4 does not divide 9 nodes", 6},
    {HEADER LEAF "Oversubscribed 2\n" SPINE, "is not oversubscribed by 2", 9},
    {HEADER LEAF "Oversubscribed 0\n" SPINE, "`Oversubscribed` cannot be 0", 9},
    {HEADER LEAF "Bundle 2\n" SPINE, "a host has one link", 9},
    {HEADER LEAF SPINE "Bundle 2\n", "are not 2 to each of the 2 leaves", 13},
    {HEADER LEAF "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 3\nDownlink_Latency_ns 500\n", "does not divide 8 links",
     11},
};

START_TEST(each_mistake_is_named_with_its_line) {
    ck_assert_msg(!read_text(broken[_i].text), "%s", broken[_i].text);
    ck_assert_msg(strstr(errors.errors[0].message, broken[_i].message) != NULL, "%s", errors.errors[0].message);
    ck_assert_uint_eq(errors.errors[0].line, broken[_i].line);
    ck_assert_str_eq(errors.errors[0].file, "folder/x.topo");
}
END_TEST

#define TIER(n, speed, switches)                                                                                       \
    "Tier " #n "\nDownlink_speed_Gbps " #speed                                                                         \
    "\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500\nSwitch_Latency_ns " #switches "\n"
#define TOP(speed, switches)                                                                                           \
    "Tier 2\nDownlink_speed_Gbps " #speed "\nRadix_Down 2\nDownlink_Latency_ns 500\nSwitch_Latency_ns " #switches "\n"

START_TEST(what_our_switches_cannot_be_is_refused) {
    ck_assert(read_text("Nodes 8\nTiers 3\nPodsize 4\n" TIER(0, 100, 5) TIER(1, 100, 6) TOP(100, 6)));
    ck_assert(!read_text("Nodes 8\nTiers 3\nPodsize 4\n" TIER(0, 100, 5) TIER(1, 100, 6) TOP(100, 7)));
    ck_assert_ptr_nonnull(strstr(errors.errors[0].message, "must have the same `Switch_Latency_ns`"));
    ck_assert(
        !read_text("Nodes 8\nTiers 3\nPodsize 4\n" TIER(0, 100, 5) TIER(1, 100, 6) "Oversubscribed 2\n" TOP(50, 6)));
    ck_assert_ptr_nonnull(strstr(errors.errors[0].message, "cannot be built of two kinds of switches"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("htsim-topology");
    TCase *tests = tcase_create("topo");
    tcase_add_test(tests, two_tiers_are_leaves_and_spines);
    tcase_add_test(tests, latencies_of_their_own_are_kept);
    tcase_add_test(tests, three_tiers_are_pods_under_super_spines);
    tcase_add_loop_test(tests, each_mistake_is_named_with_its_line, 0, (int)(sizeof broken / sizeof broken[0]));
    tcase_add_test(tests, what_our_switches_cannot_be_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
