// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/key.h"

#include "config/experiment.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const struct section *key_section(const struct schema *schema, const char *path) {
    for (size_t i = 0; i < schema->n_sections; i++) {
        if (strcmp(schema->sections[i].path, path) == 0) {
            return &schema->sections[i];
        }
    }
    return NULL;
}

bool key_is_group(const struct schema *schema, const char *path) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < schema->n_sections; i++) {
        if (strncmp(schema->sections[i].path, path, length) == 0 && schema->sections[i].path[length] == '.') {
            return true;
        }
    }
    return false;
}

const struct key *key_find(const struct section *section, const char *name) {
    for (size_t i = 0; i < section->n_keys; i++) {
        if (strcmp(section->keys[i].name, name) == 0) {
            return &section->keys[i];
        }
    }
    return NULL;
}

/** Adds to a line of KEY_LINE_SIZE; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) static void add(char *line, const char *format, ...) {
    const size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, KEY_LINE_SIZE - length, format, arguments);
    va_end(arguments);
}

static void add_names(char *line, const struct key *key) {
    for (size_t i = 0; key->names[i] != NULL; i++) {
        add(line, "%s%s", i == 0 ? "" : ", ", key->names[i]);
    }
}

static void add_range(char *line, const struct key *key) {
    const char *from = key->minimum;
    if (from == NULL && key->type == KEY_QUANTITY) {
        from = "0";
    }
    if (from != NULL && key->maximum != NULL) {
        add(line, " from %s to %s", from, key->maximum);
    } else if (from != NULL) {
        add(line, " from %s", from);
    } else if (key->maximum != NULL) {
        add(line, " up to %s", key->maximum);
    }
}

bool key_is_special(const struct key *key) {
    return key->type == KEY_TOPOLOGY || key->type == KEY_POLICIES || key->type == KEY_FAILURES ||
           key->type == KEY_BACKGROUNDS || key->type == KEY_AXES || key->type == KEY_POINTS;
}

char *key_allows(char *buffer, const struct key *key) {
    buffer[0] = '\0';
    switch (key->type) {
    case KEY_QUANTITY:
    case KEY_REAL:
        add(buffer, "%s", quantity_kind_name(key->kind));
        add_range(buffer, key);
        break;
    case KEY_SIGNED:
        add(buffer, "a whole number");
        add_range(buffer, key);
        break;
    case KEY_FLAG:
        add(buffer, "true or false");
        break;
    case KEY_CHOICE:
        add(buffer, "one of ");
        add_names(buffer, key);
        break;
    case KEY_SET:
        add(buffer, "a list of ");
        add_names(buffer, key);
        break;
    case KEY_TEXT:
        if (key->names != NULL) {
            add(buffer, "one of ");
            add_names(buffer, key);
        } else {
            add(buffer, "a text of at most %zu bytes", key->size - 1);
        }
        break;
    case KEY_NAMES:
        add(buffer, "a text, or a list of at most %zu", key->size / KEY_NAME_SIZE);
        break;
    case KEY_NUMBERS:
        add(buffer, "a list of at most %zu whole numbers, or n for 1 to n", key->size / sizeof(uint64_t));
        break;
    case KEY_TOPOLOGY:
        add(buffer, "the name of a topology file, or a topology in its place");
        break;
    case KEY_POLICIES:
        add(buffer, "a list of policies, each a mapping or the short form "
                    "PATH[(QUEUE_PAIRS)]+CONGESTION[+split_messages][+early_pacing][+polarised][+global_context]");
        break;
    case KEY_FAILURES:
        add(buffer, "a list of mappings, at most %d", EXPERIMENT_FAILURES);
        break;
    case KEY_BACKGROUNDS:
        add(buffer, "a list of mappings, at most %d", EXPERIMENT_BACKGROUNDS);
        break;
    case KEY_AXES:
        add(buffer, "a mapping of keys to lists of values, or to ranges {from: A, to: B, step: C}, with factor: C or "
                    "count: N in place of the step");
        break;
    case KEY_POINTS:
        add(buffer, "a list of mappings of keys to values");
        break;
    }
    return buffer;
}

static void print_quantity(char *line, const struct key *key, const void *field) {
    uint64_t value;
    if (key->size == sizeof(uint32_t)) {
        uint32_t narrow;
        memcpy(&narrow, field, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, field, sizeof value);
    }
    char text[QUANTITY_TEXT_SIZE];
    add(line, "%s", quantity_print(text, key->kind, value));
}

/** A text in double quotes, escaped as YAML wants it. */
static void print_text(char *line, const char *text) {
    add(line, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            add(line, "\\%c", *text);
        } else if ((unsigned char)*text < ' ' || *text == 0x7f) {
            add(line, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            add(line, "%c", *text);
        }
    }
    add(line, "\"");
}

static void print_set(char *line, const struct key *key, const bool *flags) {
    const char *separator = "";
    add(line, "[");
    for (size_t i = 0; key->names[i] != NULL; i++) {
        if (flags[i]) {
            add(line, "%s%s", separator, key->names[i]);
            separator = ", ";
        }
    }
    add(line, "]");
}

static void print_numbers(char *line, const struct key *key, const void *base) {
    uint32_t count;
    memcpy(&count, (const char *)base + key->count_offset, sizeof count);
    add(line, "[");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)base + key->offset + i * sizeof value, sizeof value);
        add(line, "%s%" PRIu64, i == 0 ? "" : ", ", value);
    }
    add(line, "]");
}

static void print_names(char *line, const struct key *key, const void *base) {
    uint32_t count;
    memcpy(&count, (const char *)base + key->count_offset, sizeof count);
    add(line, "[");
    for (uint32_t i = 0; i < count; i++) {
        add(line, "%s", i == 0 ? "" : ", ");
        print_text(line, (const char *)base + key->offset + (size_t)i * KEY_NAME_SIZE);
    }
    add(line, "]");
}

char *key_print(char *buffer, const struct key *key, const void *base) {
    const char *field = (const char *)base + key->offset;
    double real;
    int32_t number;
    uint32_t choice;
    char text[QUANTITY_TEXT_SIZE];
    buffer[0] = '\0';
    switch (key->type) {
    case KEY_QUANTITY:
        print_quantity(buffer, key, field);
        break;
    case KEY_SIGNED:
        memcpy(&number, field, sizeof number);
        add(buffer, "%" PRId32, number);
        break;
    case KEY_REAL:
        memcpy(&real, field, sizeof real);
        add(buffer, "%s", quantity_print_real(text, key->kind, real));
        break;
    case KEY_FLAG:
        add(buffer, "%s", *(const bool *)field ? "true" : "false");
        break;
    case KEY_CHOICE:
        memcpy(&choice, field, sizeof choice);
        add(buffer, "%s", key->names[choice]);
        break;
    case KEY_TEXT:
        print_text(buffer, field);
        break;
    case KEY_SET:
        print_set(buffer, key, (const bool *)field);
        break;
    case KEY_NAMES:
        print_names(buffer, key, base);
        break;
    case KEY_NUMBERS:
        print_numbers(buffer, key, base);
        break;
    case KEY_TOPOLOGY:
    case KEY_POLICIES:
    case KEY_FAILURES:
    case KEY_BACKGROUNDS:
    case KEY_AXES:
    case KEY_POINTS:
        BUG("key `%s` is not printed as one line", key->name);
    }
    return buffer;
}
