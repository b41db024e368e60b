// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which fat tree a graph of hosts and switches is: finds leaves, spines, pods and cores from nothing but its links.
 */
#ifndef MOEFABRIC_CONFIG_HPCC_GRAPH_H
#define MOEFABRIC_CONFIG_HPCC_GRAPH_H

#include "config/fat_tree.h"

#include <stdbool.h>
#include <stdint.h>

/** A link as the file has it. */
struct hpcc_link {
    uint32_t nodes[2]; /**< hpcc_graph_fat_tree puts the one nearer to the hosts first */
    uint32_t rate_gbps;
    uint32_t latency_ns;
    unsigned line, column; /**< of the file */
    int tier;              /**< of the upper node: 0 leaf, 1 spine, 2 core; set by hpcc_graph_fat_tree */
};

/** A whole file. */
struct hpcc_graph {
    const struct tree_source *source;
    uint32_t n_nodes, n_links;
    const bool *is_switch; /**< [n_nodes] */
    struct hpcc_link *links;
};

/** Fills *fat_tree (hpcc_graph's links are put in another order). False, with what breaks the rule reported at its link. */
bool hpcc_graph_fat_tree(const struct hpcc_graph *graph, struct fat_tree *fat_tree, struct error_list *errors);

#endif
