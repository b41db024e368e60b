// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/placement_yaml.h"

#include "base/line.h"
#include "config/tree.h"

#include <string.h>

/* Where rows go, and what is being read. */
struct reading {
    struct placement_file *file;
    struct error_list *errors;
    uint32_t layer, expert;
};

static bool ends_with(const char *name, const char *end) {
    const size_t length = strlen(name), size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

bool placement_yaml_is_name(const char *name) {
    return ends_with(name, ".yaml") || ends_with(name, ".yml");
}

static bool whole_number(const char *text, uint32_t *number) {
    uint64_t value;
    const size_t digits = text ? line_number(text, &value) : 0;
    if (digits == 0 || text[digits] != '\0' || value > PLACEMENT_FILE_LARGEST) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

static void read_rank(const struct reading *reading, const struct tree_node *node, uint32_t replica) {
    struct placement_file_row row = {.layer = reading->layer,
                                     .expert = reading->expert,
                                     .replica = replica,
                                     .line = node->place.line,
                                     .column = node->place.column};
    if (node->kind != TREE_VALUE || !whole_number(node->text, &row.rank)) {
        tree_report(reading->errors, node->place, ERROR_ID_PLACEMENT, NULL, "rank must be a whole number from 0 to %d",
                    PLACEMENT_FILE_LARGEST);
        return;
    }
    placement_file_add(reading->file, &row);
}

static void read_expert(const struct reading *reading, const struct tree_node *node) {
    if (node->kind != TREE_LIST) {
        read_rank(reading, node, 0);
    } else if (node->n_entries == 0) {
        tree_report(reading->errors, node->place, ERROR_ID_PLACEMENT, NULL, "expert %u has no rank", reading->expert);
    }
    for (uint32_t i = 0; node->kind == TREE_LIST && i < node->n_entries; i++) {
        read_rank(reading, node->entries[i].value, i);
    }
}

static void read_layer(struct reading *reading, const struct tree_entry *entry) {
    if (!whole_number(entry->key, &reading->layer)) {
        tree_report(reading->errors, entry->key_place, ERROR_ID_PLACEMENT, NULL,
                    "layer must be a whole number from 0 to %d", PLACEMENT_FILE_LARGEST);
        return;
    }
    if (entry->value->kind != TREE_LIST) {
        tree_report(reading->errors, entry->value->place, ERROR_ID_PLACEMENT,
                    "a rank of each expert, or a list of the ranks of its replicas: [3, [0, 2], 1]",
                    "layer %u is %s, not a list", reading->layer, tree_kind_name(entry->value));
        return;
    }
    for (uint32_t expert = 0; expert < entry->value->n_entries; expert++) {
        reading->expert = expert;
        read_expert(reading, entry->value->entries[expert].value);
    }
}

static void read_root(struct reading *reading, const struct tree_node *root) {
    const struct tree_entry *layers = tree_find(root, "layers");
    if (layers == NULL || layers->value->kind != TREE_MAPPING) {
        tree_report(reading->errors, layers ? layers->value->place : root->place, ERROR_ID_PLACEMENT,
                    "layers: {0: [3, [0, 2], 1]}", "a placement file in YAML has a mapping `layers`");
        return;
    }
    for (uint32_t i = 0; root->kind == TREE_MAPPING && i < root->n_entries; i++) {
        if (&root->entries[i] != layers) {
            tree_report(reading->errors, root->entries[i].key_place, ERROR_ID_PLACEMENT, NULL,
                        "unknown key `%s`: a placement file has `layers`", root->entries[i].key);
        }
    }
    for (uint32_t i = 0; i < layers->value->n_entries; i++) {
        read_layer(reading, &layers->value->entries[i]);
    }
}

void placement_yaml_read(const char *name, const char *text, struct placement_file *file, struct error_list *errors) {
    struct reading reading = {.file = file, .errors = errors};
    struct tree *tree = tree_create();
    const struct tree_node *root = tree_parse(tree, name, text, strlen(text), 0, errors);
    if (root != NULL) {
        read_root(&reading, root);
    }
    tree_free(tree);
}
