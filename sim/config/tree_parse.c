// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/tree_internal.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>
#include <yaml.h>

/** One parse. */
struct parse {
    yaml_parser_t parser;
    struct tree *tree;
    const struct tree_source *source;
    unsigned skipped_columns; /* what stands before the YAML text on its first line */
    uint32_t n_nodes;
    struct error_list *errors;
};

static struct tree_place place_at(const struct parse *parse, const yaml_mark_t *mark) {
    const unsigned shift = mark->line == 0 ? parse->skipped_columns : 0;
    return (struct tree_place){
        .source = parse->source, .line = (unsigned)mark->line + 1, .column = (unsigned)mark->column + 1 + shift};
}

/** Does the indentation of a line hold a tab? */
static bool has_tab(struct tree_place place) {
    struct error error = {0};
    tree_locate(&error, place);
    return error.source[strspn(error.source, " ")] == '\t';
}

/** What libyaml's messages mean in practice. */
static const char *hint_of(const char *problem) {
    static const char *const hints[][2] = {
        {"mapping values are not allowed",
         "is the line indented as the lines around it? A text with a colon needs quotes"},
        {"did not find expected key", "keys of one section start in the same column"},
        {"could not find expected ':'", "a key ends with a colon and a blank: `key: value`"},
        {"cannot start any token", "a text that begins with a special character needs quotes"},
        {"expected ',' or ']'", "is a list [a, b] closed?"},
        {"expected ',' or '}'", "is a mapping {a: 1, b: 2} closed?"},
        {"unexpected end of stream", "is a quotation mark missing?"},
        {"did not find expected '-' indicator", "items of one list start in the same column"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strstr(problem, hints[i][0]) != NULL) {
            return hints[i][1];
        }
    }
    return NULL;
}

/** Reports what made libyaml stop. */
static void report_syntax(struct parse *parse) {
    const yaml_parser_t *parser = &parse->parser;
    const char *problem = parser->problem;
    if (problem == NULL) { // libyaml has words for everything but this, and not always YAML_MEMORY_ERROR
        memory_exhausted("YAML");
    }
    if (parser->error == YAML_READER_ERROR) {
        const struct tree_place whole = {.source = parse->source};
        tree_report(parse->errors, whole, ERROR_ID_FILE_BINARY, "a configuration is UTF-8 text",
                    "this is not a text file: %s at byte %zu", problem, parser->problem_offset);
        return;
    }
    const struct tree_place place = place_at(parse, &parser->problem_mark);
    if (has_tab(place)) {
        tree_report(parse->errors, place, ERROR_ID_YAML_TAB, "indent with spaces", "the line is indented with a tab");
        return;
    }
    tree_report(parse->errors, place, ERROR_ID_YAML_SYNTAX, hint_of(problem), "this is not YAML: %s", problem);
}

/** The next event. False at the end of the road, which is reported. */
static bool next_event(struct parse *parse, yaml_event_t *event) {
    if (yaml_parser_parse(&parse->parser, event) == 1) {
        return true;
    }
    report_syntax(parse);
    return false;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static const yaml_char_t *tag_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag;
    default:
        return NULL;
    }
}

/** Refuses what configurations do without. */
static bool check_event(struct parse *parse, const yaml_event_t *event, unsigned depth) {
    const struct tree_place place = place_at(parse, &event->start_mark);
    if (event->type == YAML_ALIAS_EVENT || anchor_of(event) != NULL) {
        tree_report(parse->errors, place, ERROR_ID_YAML_ALIAS, "write the value out",
                    "anchors and aliases are not read");
        return false;
    }
    if (tag_of(event) != NULL) {
        tree_report(parse->errors, place, ERROR_ID_YAML_TAG, "leave it out: the key decides the type",
                    "tags are not read");
        return false;
    }
    if (depth > TREE_DEPTH_LIMIT || ++parse->n_nodes > TREE_NODE_LIMIT) {
        tree_report(parse->errors, place, ERROR_ID_YAML_DEPTH, NULL,
                    "this is nested deeper, or holds more, than any configuration");
        return false;
    }
    return true;
}

static bool read_node(struct parse *parse, const yaml_event_t *event, unsigned depth, struct tree_node **node);

static bool read_list(struct parse *parse, struct tree_node *list, unsigned depth) {
    for (;;) {
        yaml_event_t event;
        if (!next_event(parse, &event)) {
            return false;
        }
        const bool ends = event.type == YAML_SEQUENCE_END_EVENT;
        struct tree_node *item = NULL;
        const bool good = ends || read_node(parse, &event, depth, &item);
        yaml_event_delete(&event);
        if (ends || !good) {
            return good;
        }
        tree_append(parse->tree, list, (struct tree_entry){.value = item, .key_place = item->place});
    }
}

/** Adds a pair to a mapping unless its key cannot be one. */
static void add_pair(struct parse *parse, struct tree_node *mapping, const struct tree_node *key,
                     struct tree_node *value) {
    if (key->kind != TREE_VALUE || key->is_null) {
        tree_report(parse->errors, key->place, ERROR_ID_VALUE_TYPE, "a key is one word: `key: value`", "a key is %s",
                    tree_kind_name(key));
        return;
    }
    const struct tree_entry *before = tree_find(mapping, key->text);
    if (before != NULL) {
        char hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, "it was given before, at line %u", before->key_place.line);
        tree_report(parse->errors, key->place, ERROR_ID_KEY_DUPLICATE, hint, "key `%.40s` is given twice", key->text);
        return;
    }
    tree_append(parse->tree, mapping, (struct tree_entry){.key = key->text, .key_place = key->place, .value = value});
}

static bool read_mapping(struct parse *parse, struct tree_node *mapping, unsigned depth) {
    struct tree_node *key = NULL;
    for (;;) {
        yaml_event_t event;
        if (!next_event(parse, &event)) {
            return false;
        }
        const bool ends = event.type == YAML_MAPPING_END_EVENT;
        struct tree_node *node = NULL;
        const bool good = ends || read_node(parse, &event, depth, &node);
        yaml_event_delete(&event);
        if (ends || !good) {
            return good;
        }
        if (key == NULL) {
            key = node;
        } else {
            add_pair(parse, mapping, key, node);
            key = NULL;
        }
    }
}

/** The node that begins with an event, children included. */
static bool read_node(struct parse *parse, const yaml_event_t *event, unsigned depth, struct tree_node **node) {
    if (!check_event(parse, event, depth)) {
        return false;
    }
    struct tree_node *made = tree_allocate(parse->tree, sizeof *made);
    *node = made;
    made->place = place_at(parse, &event->start_mark);
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        made->kind = TREE_LIST;
        return read_list(parse, made, depth + 1);
    }
    if (event->type == YAML_MAPPING_START_EVENT) {
        made->kind = TREE_MAPPING;
        return read_mapping(parse, made, depth + 1);
    }
    const char *text = (const char *)event->data.scalar.value;
    made->kind = TREE_VALUE;
    made->text = tree_copy(parse->tree, text, strlen(text));
    made->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    made->is_null = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                    (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
    return true;
}

/** Passes over events of a type; false if something else comes. */
static bool expect(struct parse *parse, yaml_event_type_t type, struct tree_place *place) {
    yaml_event_t event;
    if (!next_event(parse, &event)) {
        return false;
    }
    const bool good = event.type == type;
    *place = place_at(parse, &event.start_mark);
    yaml_event_delete(&event);
    return good;
}

/** stream start, document start, one node, document end, stream end. */
static struct tree_node *read_document(struct parse *parse) {
    struct tree_place place;
    const unsigned before = parse->errors->count;
    if (!expect(parse, YAML_STREAM_START_EVENT, &place)) {
        return NULL;
    }
    if (!expect(parse, YAML_DOCUMENT_START_EVENT, &place)) {
        if (parse->errors->count == before) {
            tree_report(parse->errors, (struct tree_place){.source = parse->source}, ERROR_ID_FILE_EMPTY, NULL,
                        "there is nothing in it but comments");
        }
        return NULL;
    }
    yaml_event_t event;
    struct tree_node *root = NULL;
    if (!next_event(parse, &event)) {
        return NULL;
    }
    const bool good = read_node(parse, &event, 0, &root);
    yaml_event_delete(&event);
    if (!good || !expect(parse, YAML_DOCUMENT_END_EVENT, &place)) {
        return NULL;
    }
    const unsigned clean = parse->errors->count + parse->errors->dropped;
    if (!expect(parse, YAML_STREAM_END_EVENT, &place)) {
        if (parse->errors->count + parse->errors->dropped == clean) {
            tree_report(parse->errors, place, ERROR_ID_YAML_DOCUMENTS,
                        "remove what follows, or put it into a file of its own", "a second document begins here");
        }
        return NULL;
    }
    return root;
}

/** Characters (not bytes) before a point of a text. */
static unsigned count_characters(const char *text, size_t bytes) {
    unsigned count = 0;
    for (size_t i = 0; i < bytes; i++) {
        count += !text_continues(text[i]);
    }
    return count;
}

struct tree_node *tree_parse(struct tree *tree, const char *name, const char *text, size_t size, size_t skip,
                             struct error_list *errors) {
    struct tree_source *source = tree_allocate(tree, sizeof *source);
    snprintf(source->name, sizeof source->name, "%s", name);
    source->text = tree_copy(tree, text, size);
    struct parse parse = {
        .tree = tree, .source = source, .skipped_columns = count_characters(text, skip), .errors = errors};
    if (yaml_parser_initialize(&parse.parser) != 1) {
        memory_exhausted("YAML");
    }
    if (skip == 0 && size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        skip = 3; // a byte order mark says nothing in UTF-8, but some editors write it
    }
    yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parse.parser, (const unsigned char *)source->text + skip, size - skip);
    struct tree_node *root = read_document(&parse);
    yaml_parser_delete(&parse.parser);
    return root;
}
