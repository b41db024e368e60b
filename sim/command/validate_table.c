// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_table.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "command/validate_kind.h"
#include "config/section_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_LIMIT = 32, KINDS_LIMIT = 32 };

#define ROW(member) .offset = offsetof(struct validate_row, member), .size = sizeof(((struct validate_row *)0)->member)
#define TABLE(member)                                                                                                  \
    .offset = offsetof(struct shared, table.member), .size = sizeof(((struct shared *)0)->table.member)

/* What the section `table` holds: the table, and keys of rows that its rows share. */
struct shared {
    struct validate_table table;
    char kind[VALIDATE_ROW_SHORT_SIZE];
    struct validate_row row;
};

static const char *const uses[] = {"prediction", "calibration", NULL};

static const char *const references[] = {"published", "law", "peer_simulator", "measurement", NULL};

static const struct key table_keys[] = {
    {"title", KEY_TEXT, .doc = "What the table is.", TABLE(title)},
    {"source", KEY_TEXT, .doc = "The publication.", TABLE(source)},
    {"set_up", KEY_TEXT, .doc = "What was measured or computed there, and how.", TABLE(set_up)},
    {"kind", KEY_TEXT, .doc = "Kind of check of all rows.", .offset = offsetof(struct shared, kind),
     .size = sizeof(((struct shared *)0)->kind)},
};

static const char *const table_required[] = {"title", "source", "set_up", NULL};

static const struct key row_keys[] = {
    {"id", KEY_TEXT, .doc = "Unique over all tables.", ROW(id)},
    {"what", KEY_TEXT, .doc = "The row in a few words.", ROW(what)},
    {"published", KEY_TEXT, .doc = "The value to compare with, as it is printed in its source.", ROW(published_text)},
    {"reference", KEY_CHOICE, .names = references,
     .doc = "What the value is: published (the default), law (computed), peer_simulator or measurement.",
     ROW(reference)},
    {"tolerance", KEY_TEXT, .doc = "A share (2 %), a number in the row's unit, or `exact`: to the printed digits.",
     ROW(tolerance_text)},
    {"use", KEY_CHOICE, .names = uses, .doc = "Whether the value was used to set a figure of the model.", ROW(use)},
    {"configuration", KEY_TEXT, .doc = "File, relative to the table's.", ROW(configuration)},
    {"needs", KEY_TEXT, .doc = "What is missing to run it: the row is listed as not run.", ROW(needs)},
    {"note", KEY_TEXT, .doc = "What differs between the publication's set-up and ours.", ROW(note)},
};

const struct key *validate_table_keys(size_t *count) {
    *count = sizeof(table_keys) / sizeof(table_keys[0]);
    return table_keys;
}

const struct key *validate_table_row_keys(size_t *count) {
    *count = sizeof(row_keys) / sizeof(row_keys[0]);
    return row_keys;
}

/* What reading a file works with. */
struct reading {
    const struct validate_tables *before;
    const char *path;
    const struct tree_node *root, *head; /* head = the section `table` */
    const struct validate_kind *kind;
    struct shared *shared;
    struct error_list *errors;
};

/* Keys of several tables as one section, with offsets moved by shift. */
struct key_list {
    struct key keys[KEYS_LIMIT];
    size_t n;
};

static void add_keys(struct key_list *list, const struct key *keys, size_t n, size_t shift) {
    REQUIRE(list->n + n <= KEYS_LIMIT, "%zu keys", list->n + n);
    for (size_t i = 0; i < n; i++) {
        list->keys[list->n] = keys[i];
        list->keys[list->n].offset += shift;
        list->keys[list->n++].count_offset += shift;
    }
}

static void add_row_keys(struct key_list *list, const struct validate_kind *kind, size_t shift) {
    add_keys(list, row_keys, sizeof(row_keys) / sizeof(row_keys[0]), shift);
    if (kind) {
        add_keys(list, kind->keys, kind->n_keys, shift);
    }
}

static const struct tree_node *value_of(const struct tree_node *mapping, const char *key) {
    const struct tree_entry *entry = tree_find(mapping, key);
    return entry ? entry->value : NULL;
}

/* Reads a mapping into base but for its list `set`, which no key table describes. */
static void read_mapping(const struct reading *reading, const char *name, const struct key_list *list,
                         const struct tree_node *node, void *base) {
    const struct section section = {.path = name, .keys = list->keys, .n_keys = list->n};
    struct tree_node rest = *node;
    rest.entries = memory_allocate(node->n_entries + 1, sizeof(*rest.entries));
    rest.n_entries = 0;
    for (uint32_t i = 0; i < node->n_entries; i++) {
        if (strcmp(node->entries[i].key, "set") != 0) {
            rest.entries[rest.n_entries++] = node->entries[i];
        }
    }
    section_reader_read_section(&section, &rest, base, reading->errors);
    free(rest.entries);
}

static bool is_mapping(const struct reading *reading, const struct tree_node *node, const char *what) {
    if (node->kind != TREE_MAPPING) {
        tree_report(reading->errors, node->place, ERROR_ID_VALUE_TYPE, "lines `key: value` are needed", "%s is %s",
                    what, tree_kind_name(node));
    }
    return node->kind == TREE_MAPPING;
}

static void report_missing(const struct reading *reading, struct tree_place place, const char *where, const char *name,
                           const char *hint) {
    tree_report(reading->errors, place, ERROR_ID_KEY_MISSING, hint, "%s has no key `%s`", where, name);
}

/* Finds the kind that the file names. */
static void read_kind(struct reading *reading) {
    const struct tree_node *node = value_of(reading->head, "kind");
    const char *names[KINDS_LIMIT];
    char allowed[ERROR_MESSAGE_SIZE];
    size_t n = 0, length = (size_t)snprintf(allowed, sizeof(allowed), "kinds:");
    for (; validate_kind_table[n] && length < sizeof(allowed); n++) {
        names[n] = validate_kind_table[n]->name;
        length += (size_t)snprintf(allowed + length, sizeof(allowed) - length, "%s %s", n ? "," : "", names[n]);
    }
    if (!node) {
        report_missing(reading, reading->head->place, "the section `table`", "kind", allowed);
    } else if (node->kind == TREE_VALUE && node->text) {
        reading->kind = validate_kind_find(node->text);
        const char *nearest = nearest_name(node->text, names, n);
        char hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof(hint), "did you mean `%s`?", nearest ? nearest : "");
        if (!reading->kind) {
            tree_report(reading->errors, node->place, ERROR_ID_VALUE_NAME, nearest ? hint : allowed,
                        "there is no kind of check `%.40s`", node->text);
        }
    }
}

static void read_head(struct reading *reading) {
    struct key_list list = {.n = 0};
    read_kind(reading);
    if (!reading->kind) {
        return; // its keys are not known
    }
    add_keys(&list, table_keys, sizeof(table_keys) / sizeof(table_keys[0]), 0);
    add_row_keys(&list, reading->kind, offsetof(struct shared, row));
    read_mapping(reading, "table", &list, reading->head, reading->shared);
    for (size_t i = 0; table_required[i]; i++) {
        if (!tree_find(reading->head, table_required[i])) {
            report_missing(reading, reading->head->place, "the section `table`", table_required[i], NULL);
        }
    }
}

/* The node of a key: of the row, else of the table. */
static const struct tree_node *node_of(const struct reading *reading, const struct tree_node *node, const char *key) {
    const struct tree_node *own = value_of(node, key);
    return own ? own : value_of(reading->head, key);
}

static void check_required(const struct reading *reading, const struct tree_node *node,
                           const struct validate_row *row) {
    static const char *const always[] = {"id", "what", "tolerance", NULL};
    const bool runs = row->needs[0] == '\0';
    for (size_t i = 0; always[i]; i++) {
        if (!node_of(reading, node, always[i])) {
            report_missing(reading, node->place, "the row", always[i], NULL);
        }
    }
    if (!node_of(reading, node, "published") && !reading->kind->computes_reference) {
        report_missing(reading, node->place, "the row", "published", NULL);
    }
    for (size_t i = 0; runs && reading->kind->required[i]; i++) {
        if (!node_of(reading, node, reading->kind->required[i])) {
            report_missing(reading, node->place, "the row", reading->kind->required[i],
                           "it may also stand in the section `table`, for all rows");
        }
    }
}

static bool number(const struct reading *reading, const struct tree_node *node, enum quantity_kind kind,
                   double *value) {
    struct error error;
    if (quantity_parse_real(node->text, kind, value, &error)) {
        return true;
    }
    tree_report(reading->errors, node->place, (enum error_id)error.id, error.hint, "%s", error.message);
    return false;
}

/* The published value and how far from it is allowed, from their texts. */
static void read_values(const struct reading *reading, const struct tree_node *node, struct validate_row *row) {
    row->published = NAN;
    if (row->published_text[0] != '\0') {
        number(reading, node_of(reading, node, "published"), QUANTITY_REAL, &row->published);
        const char *point = strchr(row->published_text, '.');
        row->decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
    }
    if (row->tolerance_text[0] == '\0') {
        return; // has been reported as missing, or as no text
    }
    const struct tree_node *tolerance = node_of(reading, node, "tolerance");
    if (strcmp(row->tolerance_text, "exact") == 0) {
        row->tolerance = VALIDATE_ROW_DIGITS;
        row->allowed = 0.5 * pow(10, -row->decimals);
    } else if (strchr(row->tolerance_text, '%')) {
        row->tolerance = VALIDATE_ROW_SHARE;
        number(reading, tolerance, QUANTITY_SHARE, &row->allowed);
    } else {
        row->tolerance = VALIDATE_ROW_ABSOLUTE;
        number(reading, tolerance, QUANTITY_REAL, &row->allowed);
    }
}

static bool is_known(const struct validate_table *table, uint32_t n_rows, const char *id) {
    for (uint32_t r = 0; r < n_rows; r++) {
        if (strcmp(table->rows[r].id, id) == 0) {
            return true;
        }
    }
    return false;
}

static void check_id(const struct reading *reading, const struct tree_node *node, uint32_t n_rows) {
    const struct validate_table *table = &reading->shared->table;
    const char *id = table->rows[n_rows].id;
    bool known = is_known(table, n_rows, id);
    for (uint32_t t = 0; t < reading->before->n_tables; t++) {
        known = known || is_known(&reading->before->tables[t], reading->before->tables[t].n_rows, id);
    }
    if (known && id[0] != '\0') {
        tree_report(reading->errors, node_of(reading, node, "id")->place, ERROR_ID_KEY_DUPLICATE, NULL,
                    "there is another row `%s`", id);
    }
}

/* Row number n_rows of the table, from its mapping. */
static void read_row(const struct reading *reading, const struct tree_node *node, uint32_t n_rows) {
    struct validate_row *row = &reading->shared->table.rows[n_rows];
    const unsigned before = reading->errors->count + reading->errors->dropped;
    struct key_list list = {.n = 0};
    *row = reading->shared->row;
    row->kind = reading->kind;
    add_row_keys(&list, reading->kind, 0);
    read_mapping(reading, "rows", &list, node, row);
    check_required(reading, node, row);
    read_values(reading, node, row);
    check_id(reading, node, n_rows);
    struct validate_setup setup = {.file = reading->path, .place = node->place, .errors = reading->errors};
    validate_setup_add(&setup, value_of(reading->head, "set"));
    validate_setup_add(&setup, value_of(node, "set"));
    if (row->needs[0] == '\0' && reading->errors->count + reading->errors->dropped == before) {
        reading->kind->prepare(row, &setup);
    }
}

static void read_rows(const struct reading *reading, const struct tree_node *list) {
    struct validate_table *table = &reading->shared->table;
    if (list->kind != TREE_LIST || list->n_entries == 0) {
        tree_report(reading->errors, list->place, ERROR_ID_VALUE_TYPE, "rows are a list: lines `- {id: …, …}`",
                    "`rows` is %s", list->kind == TREE_LIST ? "an empty list" : tree_kind_name(list));
        return;
    }
    table->rows = memory_allocate(list->n_entries, sizeof(*table->rows));
    for (uint32_t i = 0; i < list->n_entries; i++) {
        if (is_mapping(reading, list->entries[i].value, "a row")) {
            read_row(reading, list->entries[i].value, table->n_rows++);
        }
    }
}

/* A file has a mapping `table` and a list `rows`, and nothing else. */
static void read_root(struct reading *reading) {
    for (uint32_t i = 0; i < reading->root->n_entries; i++) {
        const struct tree_entry *entry = &reading->root->entries[i];
        if (strcmp(entry->key, "table") != 0 && strcmp(entry->key, "rows") != 0) {
            tree_report(reading->errors, entry->key_place, ERROR_ID_KEY_UNKNOWN, "keys here: table, rows",
                        "unknown key `%.60s`", entry->key);
        }
    }
    const struct tree_node *rows = value_of(reading->root, "rows");
    reading->head = value_of(reading->root, "table");
    if (!reading->head || !rows) {
        report_missing(reading, reading->root->place, "the file", reading->head ? "rows" : "table", NULL);
        return;
    }
    if (is_mapping(reading, reading->head, "`table`")) {
        read_head(reading);
    }
    if (reading->kind) {
        read_rows(reading, rows);
    }
}

static void free_rows(struct validate_table *table) {
    for (uint32_t r = 0; r < table->n_rows; r++) {
        free(table->rows[r].experiment);
        free(table->rows[r].other);
    }
    free(table->rows);
}

bool validate_table_read(struct validate_tables *tables, const char *path, struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct tree *tree = tree_create();
    struct shared *shared = memory_allocate(1, sizeof(*shared));
    struct reading reading = {.before = tables, .path = path, .shared = shared, .errors = errors};
    snprintf(shared->table.file, sizeof(shared->table.file), "%s", path);
    reading.root = tree_read(tree, path, errors);
    if (reading.root && is_mapping(&reading, reading.root, "the file")) {
        read_root(&reading);
    }
    const bool good = errors->count + errors->dropped == before;
    if (good) {
        tables->tables = memory_resize(tables->tables, tables->n_tables + 1, sizeof(*tables->tables));
        tables->tables[tables->n_tables++] = shared->table;
    } else {
        free_rows(&shared->table);
    }
    free(shared);
    tree_free(tree);
    return good;
}

void validate_table_free(struct validate_tables *tables) {
    for (uint32_t t = 0; t < tables->n_tables; t++) {
        free_rows(&tables->tables[t]);
    }
    free(tables->tables);
    *tables = (struct validate_tables){0};
}
