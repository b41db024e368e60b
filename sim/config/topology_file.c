// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/topology_file.h"

#include "config/file_kind.h"
#include "config/hpcc_topology.h"
#include "config/htsim_topology.h"
#include "config/key.h"
#include "config/section_reader.h"
#include "config/topology_check.h"

#include <string.h>

/** The spine is as the leaf but for what its section gives. Its mistakes have been reported by the first reading. */
static void fill_spine(const struct tree_node *root, struct topology *topology) {
    struct error_list known = {0};
    const struct tree_entry *entry = tree_find(root, "spine");
    topology->spine = topology->leaf;
    if (entry != NULL && entry->value->kind == TREE_MAPPING) {
        struct section section = *key_section(topology_keys(), "spine");
        section.offset = 0;
        section_reader_read_section(&section, entry->value, &topology->spine, &known);
    }
}

void topology_read_node(const struct tree_node *root, struct topology *topology, struct error_list *errors) {
    memset(topology, 0, sizeof *topology);
    section_reader_defaults(topology_keys(), topology);
    section_reader_read(topology_keys(), root, topology, errors);
    fill_spine(root, topology);
    if (topology->gpus_used == 0) {
        topology->gpus_used = topology->nvlink.gpus;
    }
}

struct tree_node *topology_file_tree(struct tree *tree, const char *path, struct error_list *errors) {
    return htsim_topology_is(path)  ? htsim_topology_read(tree, path, errors)
           : hpcc_topology_is(path) ? hpcc_topology_read(tree, path, errors)
                                    : tree_read(tree, path, errors);
}

bool topology_read(const char *path, struct topology *topology, struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct tree *tree = tree_create();
    const struct tree_node *root = topology_file_tree(tree, path, errors);
    if (root != NULL && file_kind_check(root, path, FILE_KIND_TOPOLOGY, errors)) {
        topology_read_node(root, topology, errors);
        snprintf(topology->path, sizeof topology->path, "%s", path);
        if (root->kind == TREE_MAPPING) {
            const struct contradiction_scope scope = {.topology = root, .errors = errors};
            topology_check(topology, &scope);
        }
    }
    tree_free(tree);
    return errors->count + errors->dropped == before;
}
