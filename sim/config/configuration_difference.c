// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/configuration_difference.h"

#include "base/memory.h"
#include "config/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 512 };

/** The line, to be freed by the caller; NULL for no node. */
static char *line_of(const struct tree_node *node) {
    return node == NULL ? NULL : tree_line(node);
}

/** Adds a change unless both lines are the same. */
static void add_change(struct configuration_difference *difference, const char *path, const struct tree_node *before,
                       const struct tree_node *after) {
    char *old_line = line_of(before), *new_line = line_of(after);
    if (old_line != NULL && new_line != NULL && strcmp(old_line, new_line) == 0) {
        free(old_line);
        free(new_line);
        return;
    }
    difference->changes =
        memory_resize(difference->changes, (size_t)difference->count + 1, sizeof *difference->changes);
    struct configuration_change *change = &difference->changes[difference->count++];
    *change = (struct configuration_change){
        .key = memory_allocate(strlen(path) + 1, 1), .before = old_line, .after = new_line};
    strcpy(change->key, path);
}

static bool is_plain_list(const struct tree_node *node) {
    for (uint32_t i = 0; i < node->n_entries; i++) {
        if (node->entries[i].value->kind != TREE_VALUE) {
            return false;
        }
    }
    return true;
}

static void compare(struct configuration_difference *difference, const char *path, const struct tree_node *before,
                    const struct tree_node *after);

static void compare_mappings(struct configuration_difference *difference, const char *path,
                             const struct tree_node *before, const struct tree_node *after) {
    char below[PATH_SIZE];
    const char *dot = path[0] != '\0' ? "." : "";
    for (uint32_t i = 0; i < before->n_entries; i++) {
        const struct tree_entry *other = tree_find(after, before->entries[i].key);
        snprintf(below, sizeof below, "%s%s%s", path, dot, before->entries[i].key);
        compare(difference, below, before->entries[i].value, other != NULL ? other->value : NULL);
    }
    for (uint32_t i = 0; i < after->n_entries; i++) {
        if (tree_find(before, after->entries[i].key) == NULL) {
            snprintf(below, sizeof below, "%s%s%s", path, dot, after->entries[i].key);
            compare(difference, below, NULL, after->entries[i].value);
        }
    }
}

static void compare_lists(struct configuration_difference *difference, const char *path, const struct tree_node *before,
                          const struct tree_node *after) {
    const uint32_t n = before->n_entries > after->n_entries ? before->n_entries : after->n_entries;
    for (uint32_t i = 0; i < n; i++) {
        char below[PATH_SIZE];
        snprintf(below, sizeof below, "%s[%" PRIu32 "]", path, i + 1);
        compare(difference, below, i < before->n_entries ? before->entries[i].value : NULL,
                i < after->n_entries ? after->entries[i].value : NULL);
    }
}

static void compare(struct configuration_difference *difference, const char *path, const struct tree_node *before,
                    const struct tree_node *after) {
    const bool alike = before != NULL && after != NULL && before->kind == after->kind;
    if (alike && before->kind == TREE_MAPPING) {
        compare_mappings(difference, path, before, after);
    } else if (alike && before->kind == TREE_LIST && !(is_plain_list(before) && is_plain_list(after))) {
        compare_lists(difference, path, before, after);
    } else {
        add_change(difference, path, before, after);
    }
}

bool configuration_difference_find(const char *before, const char *after, struct configuration_difference *difference,
                                   struct error *error) {
    struct error_list errors = {0};
    struct tree *tree = tree_create();
    *difference = (struct configuration_difference){0};
    const struct tree_node *first = tree_parse(tree, "configuration", before, strlen(before), 0, &errors);
    const struct tree_node *second = tree_parse(tree, "configuration", after, strlen(after), 0, &errors);
    if (first != NULL && second != NULL) {
        compare(difference, "", first, second);
    } else if (errors.count > 0) {
        *error = errors.errors[0];
    } else {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_YAML_SYNTAX, "a stored configuration is empty");
    }
    tree_free(tree);
    return first != NULL && second != NULL;
}

void configuration_difference_free(struct configuration_difference *difference) {
    for (uint32_t i = 0; i < difference->count; i++) {
        free(difference->changes[i].key);
        free(difference->changes[i].before);
        free(difference->changes[i].after);
    }
    free(difference->changes);
    *difference = (struct configuration_difference){0};
}
