// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/file_kind.h"

#include "config/topology_search.h"

#include <string.h>

static bool has_any(const struct tree_node *root, const char *const *keys) {
    for (; *keys != NULL; keys++) {
        if (tree_find(root, *keys) != NULL) {
            return true;
        }
    }
    return false;
}

enum file_kind file_kind_of(const struct tree_node *root) {
    static const char *const configuration[] = {"topology", "policies", "traffic", "model", "cluster", NULL};
    static const char *const topology[] = {"nvlink", "nic", "leaf", "spine", "fabric", NULL};
    static const char *const table[] = {"rows", "table", NULL};
    if (root->kind != TREE_MAPPING) {
        return FILE_KIND_UNKNOWN;
    }
    const bool is_configuration = has_any(root, configuration), is_topology = has_any(root, topology);
    const bool is_table = has_any(root, table);
    if (is_configuration + is_topology + is_table != 1) {
        return FILE_KIND_UNKNOWN;
    }
    return is_configuration ? FILE_KIND_CONFIGURATION : is_topology ? FILE_KIND_TOPOLOGY : FILE_KIND_TABLE;
}

/** Which command takes a configuration, and what describes its topology. */
static void advise_configuration(char *hint, const struct tree_node *root, const char *path) {
    char topology[ERROR_FILE_SIZE];
    const struct tree_entry *entry = tree_find(root, "topology");
    int length = snprintf(hint, ERROR_MESSAGE_SIZE, "`moefabric check %.160s` says what it simulates", path);
    if (entry != NULL && entry->value->kind == TREE_VALUE && !entry->value->is_null &&
        topology_search(path, entry->value->text, topology, sizeof topology)) {
        snprintf(hint + length, ERROR_MESSAGE_SIZE - (size_t)length, "; `moefabric topology %s` describes its topology",
                 topology);
    }
}

bool file_kind_check(const struct tree_node *root, const char *path, enum file_kind wanted, struct error_list *errors) {
    static const char *const names[] = {"", "a configuration", "a topology file", "a table of reference values"};
    const enum file_kind kind = file_kind_of(root);
    if (kind == FILE_KIND_UNKNOWN || kind == wanted) {
        return true;
    }
    char hint[ERROR_MESSAGE_SIZE];
    if (kind == FILE_KIND_CONFIGURATION) {
        advise_configuration(hint, root, path);
    } else if (kind == FILE_KIND_TOPOLOGY) {
        snprintf(hint, sizeof hint,
                 "`moefabric topology %.160s` describes it; a configuration names it in its key `topology`", path);
    } else {
        snprintf(hint, sizeof hint, "`moefabric validate %.160s` simulates its rows", path);
    }
    struct tree_place place = root->place;
    place.line = place.column = 0;
    tree_report(errors, place, ERROR_ID_FILE_KIND, hint, "this is %s, and %s is needed", names[kind], names[wanted]);
    return false;
}
