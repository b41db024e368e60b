// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A topology file into struct topology.
 */
#ifndef MOEFABRIC_CONFIG_TOPOLOGY_FILE_H
#define MOEFABRIC_CONFIG_TOPOLOGY_FILE_H

#include "base/error.h"
#include "config/topology.h"
#include "config/tree.h"

#include <stdbool.h>

/** Reads and checks a topology file. Returns false with all its mistakes appended to *errors; *topology is then not to be used. */
bool topology_read(const char *path, struct topology *topology, struct error_list *errors);

/** Reads a file as a tree: a topology file of ours, or one of htsim or of HPCC's ns-3 (htsim_topology.h, hpcc_topology.h) by its ending. NULL with errors reported. */
struct tree_node *topology_file_tree(struct tree *tree, const char *path, struct error_list *errors);

/** Fills a topology from its mapping: defaults, values, spine from leaf, all GPUs used where the file does not say. Mistakes of single values are reported; contradictions are left to topology_check. */
void topology_read_node(const struct tree_node *root, struct topology *topology, struct error_list *errors);

#endif
