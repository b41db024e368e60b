// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/section_reader.h"

#include "base/nearest.h"
#include "config/value_reader.h"

#include <string.h>

enum { PATH_SIZE = 128, NAMES_LIMIT = 64 };

/** What a walk works with. */
struct walk {
    const struct schema *schema;
    void *base;
    struct error_list *errors;
};

/** Sets a key to its default, which is YAML of our own: a mistake in it is a bug. */
static void set_default(const struct key *key, void *base) {
    if (key->fallback == NULL || key_is_special(key)) {
        return;
    }
    struct error_list errors = {0};
    struct tree *tree = tree_create();
    const struct tree_node *node = tree_parse(tree, "default", key->fallback, strlen(key->fallback), 0, &errors);
    const bool good = node != NULL && value_reader_store(key, node, base, &errors);
    REQUIRE(good, "default `%s` of key `%s`: %s", key->fallback, key->name, errors.errors[0].message);
    tree_free(tree);
}

void section_reader_section_defaults(const struct section *section, void *base) {
    for (size_t i = 0; i < section->n_keys; i++) {
        set_default(&section->keys[i], base);
    }
}

void section_reader_defaults(const struct schema *schema, void *base) {
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        if (!section->amends && !section->listed) {
            section_reader_section_defaults(section, (char *)base + section->offset);
        }
    }
}

/** "a.b" from "a" and "b"; false if it is longer than any path of a table. */
static bool join(char *path, const char *parent, const char *name) {
    const int length = snprintf(path, PATH_SIZE, "%s%s%s", parent, parent[0] == '\0' ? "" : ".", name);
    return length < PATH_SIZE;
}

/** Adds the names of the sections right below a path, each once. */
static size_t add_section_names(const struct schema *schema, const char *parent, char (*names)[PATH_SIZE], size_t n) {
    const size_t length = strlen(parent);
    for (size_t i = 0; i < schema->n_sections && n < NAMES_LIMIT; i++) {
        const char *path = schema->sections[i].path;
        if (schema->sections[i].listed || strncmp(path, parent, length) != 0 || path[length] == '\0' ||
            (length > 0 && path[length] != '.')) {
            continue;
        }
        const char *name = path + length + (length > 0);
        snprintf(names[n], PATH_SIZE, "%.*s", (int)strcspn(name, "."), name);
        n += n == 0 || strcmp(names[n], names[n - 1]) != 0;
    }
    return n;
}

/** Reports an unknown key with its nearest neighbour and, where they are few, all names. */
static void report_unknown(const struct walk *walk, const struct section *section, const char *path,
                           const struct tree_entry *entry) {
    char sections[NAMES_LIMIT][PATH_SIZE];
    const char *names[2 * NAMES_LIMIT];
    size_t n = 0;
    for (size_t i = 0; section != NULL && i < section->n_keys && n < NAMES_LIMIT; i++) {
        names[n++] = section->keys[i].name;
    }
    const size_t n_sections = walk->schema == NULL ? 0 : add_section_names(walk->schema, path, sections, 0);
    for (size_t i = 0; i < n_sections; i++) {
        names[n++] = sections[i];
    }
    char hint[ERROR_MESSAGE_SIZE] = "";
    const char *nearest = nearest_name(entry->key, names, n);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, "did you mean `%s`?", nearest);
    } else {
        size_t length = (size_t)snprintf(hint, sizeof hint, "keys here:");
        for (size_t i = 0; i < n && length < sizeof hint; i++) {
            length += (size_t)snprintf(hint + length, sizeof hint - length, "%s %s", i == 0 ? "" : ",", names[i]);
        }
    }
    if (path[0] == '\0') {
        tree_report(walk->errors, entry->key_place, ERROR_ID_KEY_UNKNOWN, hint, "unknown key `%.60s`", entry->key);
    } else {
        tree_report(walk->errors, entry->key_place, ERROR_ID_KEY_UNKNOWN, hint, "unknown key `%.60s` in `%s`",
                    entry->key, path);
    }
}

/** Reports keys that must be there and are not. */
static void check_required(const struct walk *walk, const struct section *section, const struct tree_node *node,
                           struct tree_place place) {
    for (size_t i = 0; !section->amends && i < section->n_keys; i++) {
        const struct key *key = &section->keys[i];
        if (!key->required || tree_find(node, key->name) != NULL) {
            continue;
        }
        char allows[KEY_LINE_SIZE], hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, "`%s` is %.400s", key->name, key_allows(allows, key));
        const char *path = section->path;
        if (path[0] == '\0') {
            place.line = place.column = 0;
        }
        tree_report(walk->errors, place, ERROR_ID_KEY_MISSING, hint, "key `%s%s%s` is missing", path,
                    path[0] == '\0' ? "" : ".", key->name);
    }
}

static void walk_mapping(const struct walk *walk, const char *path, const struct tree_node *node);

/** A child that is a section, or a group of sections. */
static void walk_child(const struct walk *walk, const char *path, const struct tree_entry *entry) {
    const struct tree_node *node = entry->value;
    if (node->kind == TREE_VALUE && node->is_null) {
        return; /* a section whose keys are all commented out */
    }
    if (node->kind != TREE_MAPPING) {
        tree_report(walk->errors, node->place, ERROR_ID_VALUE_TYPE, "its keys follow on lines of their own, indented",
                    "section `%s` is %s", path, tree_kind_name(node));
        return;
    }
    walk_mapping(walk, path, node);
}

static void walk_entry(const struct walk *walk, const struct section *section, const char *path,
                       const struct tree_entry *entry) {
    char below[PATH_SIZE];
    const struct key *key = section == NULL ? NULL : key_find(section, entry->key);
    if (key != NULL) {
        if (!key_is_special(key)) {
            value_reader_store(key, entry->value, (char *)walk->base + section->offset, walk->errors);
        }
        return;
    }
    const bool fits = join(below, path, entry->key);
    const struct section *child = fits && walk->schema != NULL ? key_section(walk->schema, below) : NULL;
    if ((child != NULL && !child->listed) || (fits && walk->schema != NULL && key_is_group(walk->schema, below))) {
        walk_child(walk, below, entry);
    } else {
        report_unknown(walk, section, path, entry);
    }
}

static void walk_mapping(const struct walk *walk, const char *path, const struct tree_node *node) {
    const struct section *section = key_section(walk->schema, path);
    for (uint32_t i = 0; i < node->n_entries; i++) {
        walk_entry(walk, section, path, &node->entries[i]);
    }
}

/** Required keys of every section, whether the section is there or not. */
static void check_all_required(const struct walk *walk, const struct tree_node *root) {
    for (size_t i = 0; i < walk->schema->n_sections; i++) {
        const struct section *section = &walk->schema->sections[i];
        if (section->listed) {
            continue;
        }
        const struct tree_entry *entry = section->path[0] == '\0' ? NULL : tree_find_path(root, section->path);
        const struct tree_node *node = section->path[0] == '\0' ? root : entry == NULL ? NULL : entry->value;
        struct tree_place place = entry == NULL ? root->place : entry->key_place;
        if (entry == NULL) {
            place.line = place.column = 0;
        }
        check_required(walk, section, node, place);
    }
}

void section_reader_read(const struct schema *schema, const struct tree_node *root, void *base,
                         struct error_list *errors) {
    const struct walk walk = {.schema = schema, .base = base, .errors = errors};
    if (root->kind != TREE_MAPPING) {
        tree_report(errors, root->place, ERROR_ID_VALUE_TYPE, "a file is made of lines `key: value`",
                    "the %s is %s, not a mapping", schema->title, tree_kind_name(root));
        return;
    }
    walk_mapping(&walk, "", root);
    check_all_required(&walk, root);
}

void section_reader_read_section(const struct section *section, const struct tree_node *node, void *base,
                                 struct error_list *errors) {
    const struct walk walk = {.base = base, .errors = errors};
    REQUIRE(section->offset == 0, "items of lists have structs of their own");
    for (uint32_t i = 0; i < node->n_entries; i++) {
        walk_entry(&walk, section, section->path, &node->entries[i]);
    }
    check_required(&walk, section, node, node->place);
}
