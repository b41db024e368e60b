// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Topology files of htsim (`.topo`): leaf-spine and fat trees of hosts without NVLink, as the tree of a topology file of ours.
 *
 * The form is that of htsim's reader (github.com/Broadcom/csg-htsim, sim/datacenter/fat_tree_topology.cpp, load): header lines
 * `Nodes n`, `Tiers 2|3`, `Podsize n`; then for each tier `Tier t` (0 = leaves) and below it `Downlink_speed_Gbps`, `Radix_Down`,
 * `Radix_Up` (not of the highest tier), `Downlink_Latency_ns`, and where they are not 0, 1 and 1, `Switch_Latency_ns`, `Oversubscribed`
 * and `Bundle` (parallel links to each switch below). Words may be in any case. Lines that begin with # and empty lines are passed over.
 *
 * What such a file does not say htsim takes from its command line and its own constants: MTU, queues, transport. Here it is as in
 * topologies/leaf-spine-400g.yaml (packets of 4096 + 64 B placed in any order, queues without end, no pauses, no marks); overrides
 * (`topology.nic.payload`, `topology.leaf.pfc`, …) change it. What cannot be built as htsim would is refused at its line.
 */
#ifndef MOEFABRIC_CONFIG_HTSIM_TOPOLOGY_H
#define MOEFABRIC_CONFIG_HTSIM_TOPOLOGY_H

#include "config/tree.h"

/** Whether a path has the ending of such files. */
bool htsim_topology_is(const char *path);

/** Reads a file into a mapping as of a topology file, whose values have their places in it. NULL with all mistakes reported. */
struct tree_node *htsim_topology_read(struct tree *tree, const char *path, struct error_list *errors);

/** The same from memory; name stands for the path. */
struct tree_node *htsim_topology_read_text(struct tree *tree, const char *name, const char *text,
                                           struct error_list *errors);

#endif
