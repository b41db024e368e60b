// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Topology files of HPCC's ns-3 (`topology.txt`): leaf-spine and fat trees of hosts, as the tree of a topology file of ours.
 *
 * The form is that of the simulator's reader (github.com/alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc):
 * words between blanks; first the numbers of nodes, of switches and of links, then the number of each switch, then for each link its two
 * nodes, rate, delay and error rate (`0 16 100Gbps 1000ns 0`). Nodes that are no switches are hosts.
 *
 * The file says any graph; what is built here are leaf-spine fabrics and fat trees, with hosts 0, 1, … in the order of their leaves. A
 * graph that is not regular is refused at the first link that breaks it. What the file leaves to config.txt is as that program's
 * defaults (packets of 1000 B and 48 B of headers, no out-of-order placement, store and forward); overrides change it.
 */
#ifndef MOEFABRIC_CONFIG_HPCC_TOPOLOGY_H
#define MOEFABRIC_CONFIG_HPCC_TOPOLOGY_H

#include "config/tree.h"

/** Whether a path has the ending of such files, `.txt`. */
bool hpcc_topology_is(const char *path);

/** Reads a file into a mapping as of a topology file, whose values have their places in it. NULL with all mistakes reported. */
struct tree_node *hpcc_topology_read(struct tree *tree, const char *path, struct error_list *errors);

/** The same from memory; name stands for the path. */
struct tree_node *hpcc_topology_read_text(struct tree *tree, const char *name, const char *text,
                                          struct error_list *errors);

#endif
