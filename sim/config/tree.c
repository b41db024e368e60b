// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/tree_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** One allocation of a tree. */
struct block {
    struct block *next;
    max_align_t data[];
};

struct tree {
    struct block *blocks;
};

struct tree *tree_create(void) {
    return memory_allocate(1, sizeof(struct tree));
}

void tree_free(struct tree *tree) {
    if (tree == NULL) {
        return;
    }
    while (tree->blocks != NULL) {
        struct block *next = tree->blocks->next;
        free(tree->blocks);
        tree->blocks = next;
    }
    free(tree);
}

void *tree_allocate(struct tree *tree, size_t size) {
    struct block *block = memory_allocate(1, sizeof *block + size);
    block->next = tree->blocks;
    tree->blocks = block;
    return block->data;
}

char *tree_copy(struct tree *tree, const char *text, size_t length) {
    char *copy = tree_allocate(tree, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void tree_append(struct tree *tree, struct tree_node *node, struct tree_entry entry) {
    if (node->n_entries == node->capacity) {
        const uint32_t capacity = node->capacity == 0 ? 8 : 2 * node->capacity;
        struct tree_entry *entries = tree_allocate(tree, capacity * sizeof *entries);
        if (node->n_entries > 0) {
            memcpy(entries, node->entries, node->n_entries * sizeof *entries);
        }
        node->entries = entries;
        node->capacity = capacity;
    }
    node->entries[node->n_entries++] = entry;
}

struct tree_node *tree_read(struct tree *tree, const char *path, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!file_read(path, TREE_FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return NULL;
    }
    struct tree_node *root = tree_parse(tree, path, text.bytes, text.size, 0, errors);
    free(text.bytes);
    return root;
}

struct tree_entry *tree_find(const struct tree_node *node, const char *key) {
    if (node == NULL || node->kind != TREE_MAPPING) {
        return NULL;
    }
    for (uint32_t i = 0; i < node->n_entries; i++) {
        if (strcmp(node->entries[i].key, key) == 0) {
            return &node->entries[i];
        }
    }
    return NULL;
}

/** Copies the first part of a dotted path and returns what follows its dot, or NULL if it was the last. */
static const char *split(const char *path, char *part, size_t size) {
    const size_t length = strcspn(path, ".");
    snprintf(part, size, "%.*s", (int)length, path);
    return path[length] == '.' ? path + length + 1 : NULL;
}

struct tree_entry *tree_find_path(const struct tree_node *root, const char *path) {
    char part[ERROR_FILE_SIZE];
    for (const char *rest = path;;) {
        rest = split(rest, part, sizeof part);
        struct tree_entry *entry = tree_find(root, part);
        if (entry == NULL || rest == NULL) {
            return entry;
        }
        root = entry->value;
    }
}

/** The mapping that a part of a path leads to; made where nothing (or nothing but a name) is. */
static struct tree_node *step_into(struct tree *tree, struct tree_node *node, const char *part,
                                   struct tree_place place) {
    struct tree_entry *entry = tree_find(node, part);
    if (entry != NULL && !(entry->value->kind == TREE_VALUE && entry->value->is_null)) {
        return entry->value;
    }
    struct tree_node *mapping = tree_allocate(tree, sizeof *mapping);
    *mapping = (struct tree_node){.kind = TREE_MAPPING, .place = place};
    if (entry != NULL) {
        entry->value = mapping;
    } else {
        tree_append(
            tree, node,
            (struct tree_entry){.key = tree_copy(tree, part, strlen(part)), .key_place = place, .value = mapping});
    }
    return mapping;
}

bool tree_set(struct tree *tree, struct tree_node *root, const char *path, struct tree_place key_place,
              struct tree_node *value, struct error_list *errors) {
    char part[ERROR_FILE_SIZE];
    const char *rest = split(path, part, sizeof part);
    for (; rest != NULL; rest = split(rest, part, sizeof part)) {
        root = step_into(tree, root, part, key_place);
        if (root->kind != TREE_MAPPING) {
            tree_report(errors, key_place, ERROR_ID_OVERRIDE, "a list or a single value is set as a whole",
                        "`%.40s` is %s, no section", part, tree_kind_name(root));
            return false;
        }
    }
    struct tree_entry *entry = tree_find(root, part);
    if (entry != NULL) {
        entry->key_place = key_place;
        entry->value = value;
    } else {
        tree_append(
            tree, root,
            (struct tree_entry){.key = tree_copy(tree, part, strlen(part)), .key_place = key_place, .value = value});
    }
    return true;
}

/** Copies line number `line` (from 1) of a text, as much as fits, never half a character. */
static void copy_line(char *to, size_t size, const char *text, unsigned line) {
    for (; line > 1; line--) {
        text = strchr(text, '\n');
        if (text == NULL) {
            return;
        }
        text++;
    }
    size_t length = strcspn(text, "\r\n");
    if (length > size - 1) {
        length = size - 1;
        while (length > 0 && text_continues(text[length])) {
            length--;
        }
    }
    memcpy(to, text, length);
    to[length] = '\0';
}

void tree_locate(struct error *error, struct tree_place place) {
    if (place.source == NULL) {
        return;
    }
    memcpy(error->file, place.source->name, sizeof error->file);
    error->line = place.line;
    error->column = place.column;
    if (place.line > 0) {
        copy_line(error->source, sizeof error->source, place.source->text, place.line);
    }
}

void tree_report(struct error_list *errors, struct tree_place place, enum error_id id, const char *hint,
                 const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct error error;
    const bool file = id >= ERROR_ID_FILE_MISSING; /* what is wrong with a whole file ends as reading errors do */
    error_set(&error, file ? EXIT_CODE_INPUT_OUTPUT : EXIT_CODE_CONFIGURATION, (int)id, "%s", message);
    if (hint != NULL) {
        error_hint(&error, "%s", hint);
    }
    tree_locate(&error, place);
    error_list_add(errors, &error);
}

const char *tree_kind_name(const struct tree_node *node) {
    switch (node->kind) {
    case TREE_LIST:
        return "a list";
    case TREE_MAPPING:
        return "a mapping";
    case TREE_VALUE:
        break;
    }
    return node->is_null ? "empty" : "a single value";
}

/** Writes a node as one line of YAML. */
static void write_node(const struct tree_node *node, FILE *stream) {
    if (node->kind == TREE_VALUE) {
        fputs(node->is_null ? "null" : node->text, stream);
        return;
    }
    fputc(node->kind == TREE_LIST ? '[' : '{', stream);
    for (uint32_t i = 0; i < node->n_entries; i++) {
        const struct tree_entry *entry = &node->entries[i];
        fprintf(stream, "%s%s%s", i > 0 ? ", " : "", entry->key != NULL ? entry->key : "",
                entry->key != NULL ? ": " : "");
        write_node(entry->value, stream);
    }
    fputc(node->kind == TREE_LIST ? ']' : '}', stream);
}

char *tree_line(const struct tree_node *node) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    REQUIRE(stream != NULL, "no memory for a line of text");
    write_node(node, stream);
    fclose(stream);
    return text;
}
