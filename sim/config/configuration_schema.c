// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/configuration.h"

#include "config/key.h"

#include <inttypes.h>
#include <string.h>

/** Where a schema is being written. */
struct output {
    FILE *stream;
    unsigned depth;
    bool begun; /* something stands on this level already */
};

static void write_string(FILE *stream, const char *text) {
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            fprintf(stream, "\\%c", byte);
        } else if (byte < ' ') {
            fprintf(stream, "\\u%04x", byte);
        } else {
            fputc(byte, stream);
        }
    }
    fputc('"', stream);
}

/** Begins a member: comma, new line, indentation, name. An empty name begins an item of a list. */
static void member(struct output *output, const char *name) {
    fprintf(output->stream, "%s\n%*s", output->begun ? "," : "", (int)(2 * output->depth), "");
    if (name[0] != '\0') {
        write_string(output->stream, name);
        fputs(": ", output->stream);
    }
    output->begun = true;
}

static void begin(struct output *output, const char *name, char bracket) {
    member(output, name);
    fputc(bracket, output->stream);
    output->depth++;
    output->begun = false;
}

static void end(struct output *output, char bracket) {
    output->depth--;
    fprintf(output->stream, "\n%*s%c", (int)(2 * output->depth), "", bracket);
    output->begun = true;
}

static void text_member(struct output *output, const char *name, const char *text) {
    member(output, name);
    write_string(output->stream, text);
}

static void names_member(struct output *output, const struct key *key) {
    member(output, "enum");
    fputc('[', output->stream);
    for (size_t i = 0; key->names[i] != NULL; i++) {
        fputs(i == 0 ? "" : ", ", output->stream);
        write_string(output->stream, key->names[i]);
    }
    fputc(']', output->stream);
}

/** Limits of plain numbers; those of quantities with units are in the description. */
static void limits(struct output *output, const struct key *key) {
    if (key->minimum != NULL) {
        member(output, "minimum");
        fputs(key->minimum, output->stream);
    } else if (key->type != KEY_SIGNED) {
        member(output, "minimum");
        fputc('0', output->stream);
    }
    if (key->maximum != NULL) {
        member(output, "maximum");
        fputs(key->maximum, output->stream);
    }
}

/** A number, or a text with a unit; shares may be either. */
static void write_quantity(struct output *output, const struct key *key) {
    const bool plain = quantity_units(key->kind)[0] == '\0';
    if (plain) {
        text_member(output, "type", key->kind == QUANTITY_COUNT ? "integer" : "number");
        limits(output, key);
        return;
    }
    member(output, "type");
    fputs("[\"string\", \"number\"]", output->stream);
    text_member(output, "pattern", quantity_pattern(key->kind));
    member(output, "minimum");
    fputc('0', output->stream);
    if (key->kind == QUANTITY_SHARE) {
        member(output, "maximum");
        fputs(key->maximum, output->stream);
    } else {
        member(output, "maximum");
        fputc('0', output->stream); /* without a unit only zero */
    }
}

static void write_numbers(struct output *output, const struct key *key) {
    const size_t capacity = key->size / sizeof(uint64_t);
    begin(output, "oneOf", '[');
    begin(output, "", '{');
    text_member(output, "type", "integer");
    member(output, "minimum");
    fputc('1', output->stream);
    member(output, "maximum");
    fprintf(output->stream, "%zu", capacity);
    end(output, '}');
    begin(output, "", '{');
    text_member(output, "type", "array");
    member(output, "items");
    fputs("{\"type\": \"integer\", \"minimum\": 0}", output->stream);
    member(output, "minItems");
    fputc('1', output->stream);
    member(output, "maxItems");
    fprintf(output->stream, "%zu", capacity);
    end(output, '}');
    end(output, ']');
}

static void write_names(struct output *output, const struct key *key) {
    static const int length_most = KEY_NAME_SIZE - 1;
    begin(output, "oneOf", '[');
    begin(output, "", '{');
    text_member(output, "type", "string");
    member(output, "maxLength");
    fprintf(output->stream, "%d", length_most);
    end(output, '}');
    begin(output, "", '{');
    text_member(output, "type", "array");
    member(output, "items");
    fprintf(output->stream, "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": %d}", length_most);
    member(output, "maxItems");
    fprintf(output->stream, "%zu", key->size / KEY_NAME_SIZE);
    end(output, '}');
    end(output, ']');
}

static void write_set(struct output *output, const struct key *key) {
    begin(output, "oneOf", '[');
    begin(output, "", '{');
    names_member(output, key);
    end(output, '}');
    begin(output, "", '{');
    text_member(output, "type", "array");
    begin(output, "items", '{');
    names_member(output, key);
    end(output, '}');
    member(output, "minItems");
    fputc('1', output->stream);
    end(output, '}');
    end(output, ']');
}

static void write_mapping(struct output *output, const struct schema *schema, const char *path);
static void write_section_keys(struct output *output, const struct section *section);
static void write_required(struct output *output, const struct section *section);

static void write_topology(struct output *output) {
    begin(output, "oneOf", '[');
    begin(output, "", '{');
    text_member(output, "type", "string");
    end(output, '}');
    begin(output, "", '{');
    write_mapping(output, topology_keys(), "");
    end(output, '}');
    end(output, ']');
}

/** One policy: the short form as a pattern, or a mapping. */
static void write_policy_forms(struct output *output) {
    const struct section *section = key_section(experiment_keys(), "policies");
    begin(output, "", '{');
    text_member(output, "type", "string");
    member(output, "pattern");
    char pattern[512] = "^(";
    const struct key *path = key_find(section, "path"), *congestion = key_find(section, "congestion");
    for (size_t i = 0; path->names[i] != NULL; i++) {
        snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), "%s%s", i == 0 ? "" : "|",
                 path->names[i]);
    }
    snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), ")(\\([0-9]+\\))?(\\+(");
    for (size_t i = 0; congestion->names[i] != NULL; i++) {
        snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), "%s|", congestion->names[i]);
    }
    snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern),
             "split_messages|early_pacing|polarised|global_context))+$");
    write_string(output->stream, pattern);
    end(output, '}');
    begin(output, "", '{');
    text_member(output, "type", "object");
    member(output, "additionalProperties");
    fputs("false", output->stream);
    begin(output, "properties", '{');
    write_section_keys(output, section);
    end(output, '}');
    end(output, '}');
}

static void write_policies(struct output *output) {
    begin(output, "oneOf", '[');
    write_policy_forms(output);
    begin(output, "", '{');
    text_member(output, "type", "array");
    member(output, "minItems");
    fputc('1', output->stream);
    begin(output, "items", '{');
    begin(output, "oneOf", '[');
    write_policy_forms(output);
    end(output, ']');
    end(output, '}');
    end(output, '}');
    end(output, ']');
}

static void write_items(struct output *output, const char *path) {
    const struct section *section = key_section(experiment_keys(), path);
    text_member(output, "type", "array");
    begin(output, "items", '{');
    text_member(output, "type", "object");
    member(output, "additionalProperties");
    fputs("false", output->stream);
    write_required(output, section);
    begin(output, "properties", '{');
    write_section_keys(output, section);
    end(output, '}');
    end(output, '}');
}

/** Any keys, each with a list of values or a range. */
static void write_axes(struct output *output) {
    static const char *const names[] = {"from", "to", "step", "factor", "count"};
    text_member(output, "type", "object");
    begin(output, "additionalProperties", '{');
    begin(output, "oneOf", '[');
    member(output, "");
    fputs("{\"type\": \"array\", \"minItems\": 1}", output->stream);
    begin(output, "", '{');
    text_member(output, "type", "object");
    member(output, "required");
    fputs("[\"from\", \"to\"]", output->stream);
    member(output, "additionalProperties");
    fputs("false", output->stream);
    begin(output, "properties", '{');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        member(output, names[i]);
        fputs("{\"type\": [\"string\", \"number\"]}", output->stream);
    }
    end(output, '}');
    end(output, '}');
    end(output, ']');
    end(output, '}');
}

static void write_type(struct output *output, const struct key *key) {
    switch (key->type) {
    case KEY_QUANTITY:
    case KEY_REAL:
        write_quantity(output, key);
        break;
    case KEY_SIGNED:
        text_member(output, "type", "integer");
        limits(output, key);
        break;
    case KEY_FLAG:
        text_member(output, "type", "boolean");
        break;
    case KEY_CHOICE:
        names_member(output, key);
        break;
    case KEY_TEXT:
        if (key->names != NULL) {
            names_member(output, key);
        } else {
            text_member(output, "type", "string");
            member(output, "minLength");
            fputc('1', output->stream);
            member(output, "maxLength");
            fprintf(output->stream, "%zu", key->size - 1);
        }
        break;
    case KEY_SET:
        write_set(output, key);
        break;
    case KEY_NAMES:
        write_names(output, key);
        break;
    case KEY_NUMBERS:
        write_numbers(output, key);
        break;
    case KEY_TOPOLOGY:
        write_topology(output);
        break;
    case KEY_POLICIES:
        write_policies(output);
        break;
    case KEY_FAILURES:
        write_items(output, "failures");
        break;
    case KEY_BACKGROUNDS:
        write_items(output, "background");
        break;
    case KEY_AXES:
        write_axes(output);
        break;
    case KEY_POINTS:
        text_member(output, "type", "array");
        member(output, "minItems");
        fputc('1', output->stream);
        member(output, "items");
        fputs("{\"type\": \"object\", \"minProperties\": 1}", output->stream);
        break;
    }
}

static void write_section_keys(struct output *output, const struct section *section) {
    for (size_t i = 0; i < section->n_keys; i++) {
        const struct key *key = &section->keys[i];
        char allows[KEY_LINE_SIZE], description[2 * KEY_LINE_SIZE];
        snprintf(description, sizeof description, "%s Allowed: %s.%s%s", key->doc, key_allows(allows, key),
                 key->fallback != NULL && !section->amends ? " Default: " : "",
                 key->fallback != NULL && !section->amends ? key->fallback : "");
        begin(output, key->name, '{');
        text_member(output, "description", description);
        write_type(output, key);
        end(output, '}');
    }
}

/** Name of the section right below a path that leads to another, or NULL if that one is not below it. */
static const char *child_name(const char *parent, const char *path, char *name, size_t size) {
    const size_t length = strlen(parent);
    if (strncmp(path, parent, length) != 0 || path[length] == '\0' || (length > 0 && path[length] != '.')) {
        return NULL;
    }
    const char *rest = path + length + (length > 0);
    snprintf(name, size, "%.*s", (int)strcspn(rest, "."), rest);
    return name;
}

static void write_children(struct output *output, const struct schema *schema, const char *path) {
    char name[64], last[64] = "", below[128];
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        if (section->listed || child_name(path, section->path, name, sizeof name) == NULL || strcmp(name, last) == 0) {
            continue;
        }
        snprintf(last, sizeof last, "%s", name);
        snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : ".", name);
        begin(output, name, '{');
        write_mapping(output, schema, below);
        end(output, '}');
    }
}

static void write_required(struct output *output, const struct section *section) {
    const char *separator = "";
    for (size_t i = 0; i < section->n_keys; i++) {
        if (section->keys[i].required && !section->amends) {
            if (separator[0] == '\0') {
                member(output, "required");
                fputc('[', output->stream);
            }
            fputs(separator, output->stream);
            write_string(output->stream, section->keys[i].name);
            separator = ", ";
        }
    }
    if (separator[0] != '\0') {
        fputc(']', output->stream);
    }
}

/** The members that describe a mapping: its keys and the sections below. */
static void write_mapping(struct output *output, const struct schema *schema, const char *path) {
    const struct section *section = key_section(schema, path);
    if (section != NULL) {
        text_member(output, "description", section->doc);
    }
    if (path[0] == '\0') {
        text_member(output, "type", "object");
    } else {
        member(output, "type"); /* a section may be empty */
        fputs("[\"object\", \"null\"]", output->stream);
    }
    member(output, "additionalProperties");
    fputs("false", output->stream);
    if (section != NULL) {
        write_required(output, section);
    }
    begin(output, "properties", '{');
    if (section != NULL) {
        write_section_keys(output, section);
    }
    write_children(output, schema, path);
    end(output, '}');
}

void configuration_schema(FILE *stream, enum configuration_kind kind) {
    const struct schema *schema = kind == CONFIGURATION_TOPOLOGY ? topology_keys() : experiment_keys();
    char title[64];
    struct output output = {.stream = stream, .depth = 1};
    snprintf(title, sizeof title, "moefabric %s", schema->title);
    fputc('{', stream);
    text_member(&output, "$schema", "http://json-schema.org/draft-07/schema#");
    text_member(&output, "title", title);
    write_mapping(&output, schema, "");
    fputs("\n}\n", stream);
}
