// SPDX-License-Identifier: GPL-3.0-or-later
/* Files of HPCC's ns-3: which graphs become fat trees, which flows are read, and that nothing is passed over in silence. */
#include "config/flow_file.h"
#include "config/hpcc_topology.h"
#include "config/topology_file.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

static struct topology topology;
static struct error_list errors;

/* Reads a text into `topology`. False with `errors`. */
static bool read_topology(const char *text) {
    memset(&errors, 0, sizeof errors);
    struct tree *tree = tree_create();
    const struct tree_node *root = hpcc_topology_read_text(tree, "folder/x.txt", text, &errors);
    if (root != NULL) {
        topology_read_node(root, &topology, &errors);
    }
    tree_free(tree);
    return errors.count == 0;
}

/* Four hosts, leaves 4 and 5, spines 6 and 7. */
#define HOSTS "0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
#define UPLINKS "4 6 50Gbps 1us 0\n4 7 50Gbps 1us 0\n5 6 50Gbps 1us 0\n5 7 50Gbps 1us 0\n"

START_TEST(leaves_and_spines_are_found) {
    ck_assert(read_topology("8 4 8\n4 5 6 7\n" HOSTS UPLINKS));
    ck_assert_str_eq(topology.name, "x");
    ck_assert_uint_eq(topology.racks, 4);
    ck_assert_uint_eq(topology.nic.rate_bits_per_s, UINT64_C(100000000000));
    ck_assert_uint_eq(topology.fabric.leaf_downlinks, 2);
    ck_assert_uint_eq(topology.fabric.leaf_uplinks, 2);
    ck_assert_uint_eq(topology.fabric.spines, 2);
    ck_assert_uint_eq(topology.fabric.super_spines, 0);
    ck_assert_uint_eq(topology.fabric.link_latency_ps, 1000000);
    ck_assert_uint_eq(topology.nic.payload_bytes, 1000);
    ck_assert_uint_eq(topology.leaf.ecn_minimum_bytes, 400000);
    ck_assert(!topology.nic.out_of_order && topology.leaf.pfc);
}
END_TEST

START_TEST(order_of_links_and_of_their_ends_does_not_matter) {
    ck_assert(read_topology("8 4 8 5 7 6 4 6 5 50Gbps 1000ns 0 3 5 100Gbps 0.001ms 0.0\n4 0 100Gbps 1us 0.000000\r\n"
                            "7 4 50Gbps 1us 0\n\n7 5 50Gbps 1us 0\n5 2 100Gbps 1us 0\n6 4 50Gbps 1us 0\n"
                            "4 1 100Gbps 1us 0\n") == false); // the first line has more than three numbers
    ck_assert(read_topology("8 4 8\n5 7 6\n4 6 5 50Gbps 1000ns 0 3 5 100Gbps 0.001ms 0.0\n4 0 100Gbps 1us 0.000000\r\n"
                            "7 4 50Gbps 1us 0\n\n7 5 50Gbps 1us 0\n5 2 100Gbps 1us 0\n6 4 50Gbps 1us 0\n"
                            "4 1 100Gbps 1us 0\n"));
    ck_assert_uint_eq(topology.fabric.spines, 2);
}
END_TEST

START_TEST(latencies_of_their_own_are_kept) {
    ck_assert(read_topology("7 3 8\n4 5 6\n" HOSTS
                            "4 6 100Gbps 500ns 0\n4 6 100Gbps 500ns 0\n5 6 100Gbps 500ns 0\n5 6 100Gbps 500ns 0\n"));
    ck_assert_uint_eq(topology.fabric.spines, 1);
    ck_assert_uint_eq(topology.fabric.leaf_uplinks, 2);
    ck_assert_uint_eq(topology.fabric.host_cable_m * topology.fabric.cable_latency_ps_per_m, 1000000);
    ck_assert_uint_eq(topology.fabric.spine_cable_m * topology.fabric.cable_latency_ps_per_m, 500000);
}
END_TEST

START_TEST(pods_and_cores_are_found) {
    ck_assert(topology_read(SOURCE_DIRECTORY "/topologies/hpcc-fat-tree.txt", &topology, &errors));
    ck_assert_uint_eq(topology.racks, 32);
    ck_assert_uint_eq(topology.fabric.pod_racks, 8);
    ck_assert_uint_eq(topology.fabric.spines, 2);
    ck_assert_uint_eq(topology.fabric.super_spines, 4);
    ck_assert_uint_eq(topology.fabric.super_spine_groups, 2);
    ck_assert_uint_eq(topology.fabric.spine_uplinks, 2);
}
END_TEST

/* Two pods of one host, one leaf (2, 3) and two spines (4 5, 6 7) below cores 8 and 9; the last two links are to be added. */
#define PODS                                                                                                           \
    "10 8 10\n2 3 4 5 6 7 8 9\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 6 1Gbps 1us 0\n"  \
    "3 7 1Gbps 1us 0\n4 8 1Gbps 1us 0\n5 9 1Gbps 1us 0\n"

START_TEST(cores_join_one_spine_of_each_pod) {
    ck_assert(read_topology(PODS "6 8 1Gbps 1us 0\n7 9 1Gbps 1us 0\n"));
    ck_assert_uint_eq(topology.fabric.pod_racks, 1);
    ck_assert(!read_topology(PODS "6 8 1Gbps 1us 0\n4 9 1Gbps 1us 0\n"));
}
END_TEST

static const struct {
    const char *text, *message;
    unsigned line;
} broken[] = {
    {"", "the file ends where the number of nodes is needed", 0},
    {"8 4\n", "the file ends where the number of links", 1},
    {"8 4 x\n", "the number of links is needed here, not `x`", 1},
    {"8 4 99999999\n", "the number of links is needed here", 1},
    {"8 8 0 4 8 A100\n", "another format", 1},
    {"2 1 1\n", "the file has no network", 1},
    {"8 4 8\n4 5 6 8\n", "the number of a switch is needed here, not `8`", 2},
    {"8 4 8\n4 5 6 7\n0 4 100Gbps 1us\n", "the file ends where an error rate of 0", 3},
    {"8 4 8\n4 5 6 7\n0 4 100 1us 0\n", "a rate of whole Gb/s", 3},
    {"8 4 8\n4 5 6 7\n0 4 0Gbps 1us 0\n", "a rate of whole Gb/s", 3},
    {"8 4 8\n4 5 6 7\n0 4 100Gbps 1ps 0\n", "a delay of whole nanoseconds", 3},
    {"8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0.01\n", "an error rate of 0", 3},
    {"8 4 8\n4 5 6 7\n0 1 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n" UPLINKS,
     "two hosts are joined without a switch", 3},
    {"8 4 9\n4 5 6 7\n" HOSTS UPLINKS "0 5 100Gbps 1us 0\n", "host 0 has another link already", 11},
    {"8 4 8\n4 5 6 7\n" HOSTS "4 6 50Gbps 1us 0\n4 5 50Gbps 1us 0\n5 6 50Gbps 1us 0\n5 7 50Gbps 1us 0\n",
     "switches 4 and 5 are not of neighbouring tiers", 8},
    {"9 5 8\n4 5 6 7 8\n" HOSTS UPLINKS, "no link leads to switch 8", 1},
    {"8 4 8\n4 5 6 7\n" HOSTS "4 6 50Gbps 1us 0\n4 7 50Gbps 1us 0\n5 6 50Gbps 1us 0\n5 7 50Gbps 2us 0\n",
     "the link is not as that of line", 10},
    {"8 4 7\n4 5 6 7\n" HOSTS "4 6 50Gbps 1us 0\n4 7 50Gbps 1us 0\n5 6 50Gbps 1us 0\n", "switch 5 has 2 links", 1},
    {"8 4 8\n4 5 6 7\n0 4 1Gbps 1us 0\n2 4 1Gbps 1us 0\n1 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n" UPLINKS,
     "host 1 is not at the leaf of its neighbours", 5},
    {"8 4 8\n4 5 6 7\n" HOSTS "4 6 50Gbps 1us 0\n4 6 50Gbps 1us 0\n5 7 50Gbps 1us 0\n5 7 50Gbps 1us 0\n",
     "the fabric falls into 2 parts", 1},
    {"8 4 8\n0 1 2 3\n4 0 1Gbps 1us 0\n5 0 1Gbps 1us 0\n6 1 1Gbps 1us 0\n7 1 1Gbps 1us 0\n0 2 1Gbps 1us 0\n"
     "0 3 1Gbps 1us 0\n1 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n",
     "hosts must be numbered 0, 1", 1},
    {"10 8 10\n2 3 4 5 6 7 8 9\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 4Gbps 1us 0\n2 5 4Gbps 1us 0\n"
     "3 6 4Gbps 1us 0\n3 7 4Gbps 1us 0\n4 8 1Gbps 1us 0\n5 9 1Gbps 1us 0\n6 8 1Gbps 1us 0\n7 9 1Gbps 1us 0\n",
     "links of 1, 4 and 1 Gb/s cannot be built of two kinds of switches", 9},
};

START_TEST(each_graph_that_is_no_fat_tree_is_named_with_its_line) {
    ck_assert_msg(!read_topology(broken[_i].text), "%s", broken[_i].text);
    ck_assert_msg(strstr(errors.errors[0].message, broken[_i].message) != NULL, "%s", errors.errors[0].message);
    ck_assert_uint_eq(errors.errors[0].line, broken[_i].line);
}
END_TEST

/* The first message about a flow file, or NULL if there is none. Static memory. */
static const char *first_message(const char *text) {
    struct connection_matrix matrix = {0};
    memset(&errors, 0, sizeof errors);
    const bool good = flow_file_read_hpcc("x.txt", text, &matrix, &errors);
    connection_matrix_fini(&matrix);
    ck_assert_int_eq(good, errors.count == 0);
    return good ? NULL : errors.errors[0].message;
}

START_TEST(flows_have_their_figures) {
    struct connection_matrix matrix = {0};
    memset(&errors, 0, sizeof errors);
    ck_assert(flow_file_read_hpcc("x.txt", "2\n0 3 3 100 1000 2.000000001\r\n\n 2\t1 3 100 2 0\nFirst line: flows\n",
                                  &matrix, &errors));
    ck_assert_uint_eq(matrix.n_nodes, 4);
    ck_assert_uint_eq(matrix.n_connections, 2);
    ck_assert_uint_eq(matrix.connections[0].source, 0);
    ck_assert_uint_eq(matrix.connections[0].destination, 3);
    ck_assert_uint_eq(matrix.connections[0].bytes, 1000);
    ck_assert_uint_eq(matrix.connections[0].start_ps, UINT64_C(2000000001000));
    ck_assert_uint_eq(matrix.connections[0].line, 2);
    ck_assert_uint_eq(matrix.connections[1].start_ps, 0);
    connection_matrix_fini(&matrix);
}
END_TEST

static const struct {
    const char *text, *message;
} flows[] = {
    {"", "the first line says 0 flows"},
    {"2\n0 1 3 100 1000 0\n", "the first line says 2 flows, the file has 1"},
    {"one\n", "the first line is the number of flows"},
    {"1 2\n", "the first line is the number of flows"},
    {"1\n0 1 3 100 1000\n", "the line ends where a start in seconds, of whole picoseconds is needed"},
    {"1\n0 1 3 100 1000 0 9\n", "a flow is six numbers"},
    {"1\n-1 1 3 100 1000 0\n", "a source is needed here, not `-1`"},
    {"1\n0 1 256 100 1000 0\n", "a priority group (0 to 255) is needed here"},
    {"1\n0 1 3 100 1e3 0\n", "a size (0 to 2^40 B) is needed here, not `1e3`"},
    {"1\n0 1 3 100 1000 0.0000000000001\n", "a start in seconds"},
    {"1\n0 1 3 100 1000 300\n", "a start in seconds"},
    {"1\n1 1 3 100 1000 0\n", "node 1 would send to itself"},
    {"1\n0 1 3 100 0 0\n", "the flow has no bytes"},
    {"2\n0 1 3 100 9 0\n0 1 4 100 9 0\n", "flows of priority groups 3 and 4 cannot be simulated"},
};

START_TEST(each_flow_that_cannot_be_simulated_is_named) {
    const char *message = first_message(flows[_i].text);
    ck_assert_msg(message != NULL && strstr(message, flows[_i].message) != NULL, "%s", message ? message : "no error");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hpcc");
    TCase *graphs = tcase_create("graphs");
    tcase_add_test(graphs, leaves_and_spines_are_found);
    tcase_add_test(graphs, order_of_links_and_of_their_ends_does_not_matter);
    tcase_add_test(graphs, latencies_of_their_own_are_kept);
    tcase_add_test(graphs, pods_and_cores_are_found);
    tcase_add_test(graphs, cores_join_one_spine_of_each_pod);
    tcase_add_loop_test(graphs, each_graph_that_is_no_fat_tree_is_named_with_its_line, 0,
                        (int)(sizeof broken / sizeof *broken));
    suite_add_tcase(suite, graphs);
    TCase *lists = tcase_create("flows");
    tcase_add_test(lists, flows_have_their_figures);
    tcase_add_loop_test(lists, each_flow_that_cannot_be_simulated_is_named, 0, (int)(sizeof flows / sizeof *flows));
    suite_add_tcase(suite, lists);
    return run_suite(suite);
}
