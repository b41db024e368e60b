// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_schema.h"

#include "command/validate_kind.h"
#include "command/validate_table.h"
#include "results/json.h"

static void put_types(struct json *json, const char *first, const char *second) {
    json_name(json, "type");
    json_array(json);
    json_text(json, first);
    json_text(json, second);
    json_array_end(json);
}

static void put_names(struct json *json, const char *const *names) {
    json_name(json, "enum");
    json_array(json);
    for (size_t i = 0; names[i] != NULL; i++) {
        json_text(json, names[i]);
    }
    json_array_end(json);
}

/** What a value may be; a text may look like a number. */
static void put_type(struct json *json, const struct key *key) {
    switch (key->type) {
    case KEY_CHOICE:
        put_names(json, key->names);
        break;
    case KEY_FLAG:
        json_member_text(json, "type", "boolean");
        break;
    case KEY_TEXT:
    case KEY_QUANTITY:
    case KEY_SIGNED:
    case KEY_REAL:
        put_types(json, "string", "number");
        break;
    case KEY_NUMBERS:
        put_types(json, "array", "integer");
        break;
    case KEY_SET:
    case KEY_NAMES:
        put_types(json, "array", "string");
        break;
    default:
        break;
    }
}

static void put_keys(struct json *json, const struct key *keys, size_t n_keys) {
    for (size_t i = 0; i < n_keys; i++) {
        json_name(json, keys[i].name);
        json_object(json);
        json_member_text(json, "description", keys[i].doc);
        put_type(json, &keys[i]);
        json_object_end(json);
    }
}

/** A mapping: keys of a table, if it is one, keys of every row, those of the kind, and overrides. */
static void put_mapping(struct json *json, const struct validate_kind *kind, bool is_table) {
    size_t n_head, n_row;
    const struct key *head = validate_table_keys(&n_head), *row = validate_table_row_keys(&n_row);
    json_member_text(json, "type", "object");
    json_member_boolean(json, "additionalProperties", false);
    json_name(json, "properties");
    json_object(json);
    put_keys(json, head, is_table ? n_head : 0);
    put_keys(json, row, n_row);
    put_keys(json, kind->keys, kind->n_keys);
    json_name(json, "set");
    json_object(json);
    json_member_text(json, "description", "Overrides of the configuration, KEY=VALUE each.");
    json_member_text(json, "type", "array");
    json_name(json, "items");
    json_object(json);
    json_member_text(json, "type", "string");
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}

/** What holds of a file whose table is of a kind. */
static void put_then(struct json *json, const struct validate_kind *kind) {
    json_name(json, "then");
    json_object(json);
    json_name(json, "properties");
    json_object(json);
    json_name(json, "table");
    json_object(json);
    put_mapping(json, kind, true);
    json_object_end(json);
    json_name(json, "rows");
    json_object(json);
    json_member_text(json, "type", "array");
    json_member_whole(json, "minItems", 1);
    json_name(json, "items");
    json_object(json);
    put_mapping(json, kind, false);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}

/** Nests objects: table → kind → the name. */
static void put_if(struct json *json, const struct validate_kind *kind) {
    static const char *const way[] = {"if", "properties", "table", "properties", "kind"};
    enum { STEPS = sizeof way / sizeof way[0] };
    for (int i = 0; i < STEPS; i++) {
        json_name(json, way[i]);
        json_object(json);
    }
    json_member_text(json, "const", kind->name);
    for (int i = 0; i < STEPS; i++) {
        json_object_end(json);
    }
}

static void put_kinds(struct json *json) {
    json_name(json, "properties");
    json_object(json);
    json_name(json, "rows");
    json_object(json);
    json_object_end(json);
    json_name(json, "table");
    json_object(json);
    json_member_text(json, "type", "object");
    json_name(json, "required");
    json_array(json);
    json_text(json, "kind");
    json_array_end(json);
    json_name(json, "properties");
    json_object(json);
    json_name(json, "kind");
    json_object(json);
    json_name(json, "enum");
    json_array(json);
    for (size_t i = 0; validate_kind_table[i] != NULL; i++) {
        json_text(json, validate_kind_table[i]->name);
    }
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}

void validate_schema(FILE *stream) {
    struct json json = json_begin(stream);
    json_object(&json);
    json_member_text(&json, "$schema", "http://json-schema.org/draft-07/schema#");
    json_member_text(&json, "title", "A table of reference values for moefabric validate");
    json_member_text(&json, "type", "object");
    json_member_boolean(&json, "additionalProperties", false);
    json_name(&json, "required");
    json_array(&json);
    json_text(&json, "table");
    json_text(&json, "rows");
    json_array_end(&json);
    put_kinds(&json);
    json_name(&json, "allOf");
    json_array(&json);
    for (size_t i = 0; validate_kind_table[i] != NULL; i++) {
        json_object(&json);
        put_if(&json, validate_kind_table[i]);
        put_then(&json, validate_kind_table[i]);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_end(&json);
}
