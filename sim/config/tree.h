// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * YAML text as a tree in which every value and key knows its place, so that a mistake can be shown where it was made.
 *
 * Of YAML only what configurations need: mappings, lists, single values. Anchors, aliases, tags and several documents
 * are refused. A key given twice is an error; the first one stays in the tree so that reading can go on.
 */
#ifndef MOEFABRIC_CONFIG_TREE_H
#define MOEFABRIC_CONFIG_TREE_H

#include "base/error.h"
#include "base/error_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_DEPTH_LIMIT = 16, TREE_NODE_LIMIT = 20000, TREE_FILE_LIMIT_BYTES = 1 << 20 };

/** A text that nodes come from. */
struct tree_source {
    char name[ERROR_FILE_SIZE]; /**< file as given by the user, or "--set" */
    const char *text;           /**< NUL-terminated */
};

/** A point in a source: line and column from 1. */
struct tree_place {
    const struct tree_source *source; /**< NULL = nowhere (a default) */
    unsigned line, column;
};

enum tree_kind { TREE_VALUE, TREE_LIST, TREE_MAPPING };

struct tree_entry;

/** A value, a list or a mapping. */
struct tree_node {
    enum tree_kind kind;
    struct tree_place place;
    const char *text;           /**< TREE_VALUE: its text, else NULL */
    bool is_null;               /**< TREE_VALUE: nothing was written */
    bool quoted;                /**< TREE_VALUE: its text begins one column after its place */
    struct tree_entry *entries; /**< lists and mappings: children in order */
    uint32_t n_entries, capacity;
};

/** A child. */
struct tree_entry {
    const char *key; /**< NULL in lists */
    struct tree_place key_place;
    struct tree_node *value;
};

struct tree;

/** An empty tree: it owns all nodes and texts that are parsed into it. Ends with tree_free. */
struct tree *tree_create(void);

/** Frees a tree and all that was parsed into it; NULL is allowed. */
void tree_free(struct tree *tree);

/**
 * Parses YAML text (copied; size bytes without NUL) that starts at `skip` bytes of it: places count from the text's beginning. name is what errors show.
 * Returns the root, or NULL if the text cannot be parsed or holds nothing; duplicate keys are reported but do not stop it.
 */
struct tree_node *tree_parse(struct tree *tree, const char *name, const char *text, size_t size, size_t skip,
                             struct error_list *errors);

/** Reads and parses a file. NULL with errors reported (exit code 4 if it cannot be read, 3 if it cannot be parsed). */
struct tree_node *tree_read(struct tree *tree, const char *path, struct error_list *errors);

/** The entry of a key in a mapping, or NULL; node may be NULL or of any kind. */
struct tree_entry *tree_find(const struct tree_node *node, const char *key);

/** The entry of a dotted path below a mapping, or NULL. */
struct tree_entry *tree_find_path(const struct tree_node *root, const char *path);

/**
 * Sets the value of a dotted path below a mapping, making mappings on the way where nothing is. Returns false, with the
 * error reported at key_place, if something on the way is no mapping.
 */
bool tree_set(struct tree *tree, struct tree_node *root, const char *path, struct tree_place key_place,
              struct tree_node *value, struct error_list *errors);

/** Fills an error's place and source line. */
void tree_locate(struct error *error, struct tree_place place);

/** Reports a mistake of configuration at a place; hint may be NULL. */
void tree_report(struct error_list *errors, struct tree_place place, enum error_id id, const char *hint,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/** A node as one line of YAML ("[a, b]"), to be freed by the caller. */
char *tree_line(const struct tree_node *node);

/** What a node is, in words with article ("a list"). */
const char *tree_kind_name(const struct tree_node *node);

#endif
