// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/configuration.h"

#include "base/error_id.h"
#include "base/nearest.h"
#include "config/key.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_WIDTH = 100, NAMES_LIMIT = 1024, PATH_SIZE = 128 };

/** Prints words with line breaks, the first line and those after it indented. */
static void print_wrapped(FILE *stream, const char *first_indent, const char *indent, const char *text) {
    size_t column = (size_t)fprintf(stream, "%s", first_indent), first = column;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (column > first && column + 1 + length > LINE_WIDTH) {
            column = first = (size_t)fprintf(stream, "\n%s", indent) - 1;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column > first ? " " : "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', stream);
}

/** Default of a key in words, or that it must be given. */
static void print_default(FILE *stream, const struct key *key, bool amends) {
    if (amends) {
        fputs("    default: as without this section\n", stream);
    } else if (key->required) {
        fputs("    must be given\n", stream);
    } else if (key->fallback != NULL) {
        fprintf(stream, "    default: %s\n", key->fallback);
    }
}

static void explain_key(FILE *stream, const struct section *section, const struct key *key) {
    char allows[KEY_LINE_SIZE], line[KEY_LINE_SIZE + PATH_SIZE];
    snprintf(line, sizeof line, "%s%s%s: %s", section->path, section->path[0] == '\0' ? "" : ".", key->name,
             key_allows(allows, key));
    print_wrapped(stream, "", "        ", line);
    print_default(stream, key, section->amends);
    print_wrapped(stream, "    ", "    ", key->doc);
    if (key->type == KEY_QUANTITY || key->type == KEY_REAL) {
        const char *units = quantity_units(key->kind);
        if (units[0] != '\0') {
            fprintf(stream, "    units: %s\n", units);
        }
    }
}

static void explain_section(FILE *stream, const struct schema *schema, const struct section *section) {
    fprintf(stream, "%s `%s` of a %s: %s\n", section->listed ? "list" : "section",
            section->path[0] == '\0' ? "(top)" : section->path, schema->title, section->doc);
    for (size_t i = 0; i < section->n_keys; i++) {
        fputc('\n', stream);
        explain_key(stream, section, &section->keys[i]);
    }
}

/** Explains a dotted name of one schema. False if it has no such name. */
static bool explain_in(FILE *stream, const struct schema *schema, const char *name) {
    char path[PATH_SIZE];
    const char *dot = strrchr(name, '.');
    snprintf(path, sizeof path, "%.*s", dot == NULL ? 0 : (int)(dot - name), name);
    const struct section *section = key_section(schema, path);
    const struct key *key = section == NULL ? NULL : key_find(section, dot == NULL ? name : dot + 1);
    if (key != NULL) {
        explain_key(stream, section, key);
    }
    section = key_section(schema, name);
    if (section != NULL && name[0] != '\0') {
        fputs(key != NULL ? "\n" : "", stream);
        explain_section(stream, schema, section);
    }
    bool found = key != NULL || section != NULL;
    const size_t length = strlen(name);
    for (size_t i = 0; i < schema->n_sections && key_is_group(schema, name); i++) {
        section = &schema->sections[i];
        if (strncmp(section->path, name, length) == 0 && section->path[length] == '.') {
            fputs(found ? "\n" : "", stream);
            explain_section(stream, schema, section);
            found = true;
        }
    }
    return found;
}

static void list_schema(FILE *stream, const struct schema *schema) {
    fprintf(stream, "Keys of a %s:\n", schema->title);
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        char names[2048] = "";
        for (size_t k = 0, length = 0; k < section->n_keys && length < sizeof names; k++) {
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", k == 0 ? "" : ", ",
                                       section->keys[k].name);
        }
        fprintf(stream, "  %s: %s\n", section->path[0] == '\0' ? "(top)" : section->path, section->doc);
        print_wrapped(stream, "      ", "      ", names);
    }
}

static bool has_name(const struct key *key, const char *name) {
    for (size_t i = 0; key->names != NULL && key->names[i] != NULL; i++) {
        if (strcmp(key->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/** Explains the keys that a name may be a value of, and names the section of parameters that is called like it. */
static bool explain_value(FILE *stream, const struct schema *schema, const char *name) {
    bool found = false;
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        for (size_t k = 0; k < section->n_keys; k++) {
            if (has_name(&section->keys[k], name)) {
                fprintf(stream, "%s`%s` is a value of\n", found ? "\n" : "", name);
                explain_key(stream, section, &section->keys[k]);
                found = true;
            }
        }
    }
    for (size_t i = 0; found && i < schema->n_sections; i++) {
        const char *dot = strrchr(schema->sections[i].path, '.');
        if (dot != NULL && strcmp(dot + 1, name) == 0) {
            fprintf(stream, "    parameters: section `%s`\n", schema->sections[i].path);
        }
    }
    return found;
}

/** Explains MF-0nn. False if it is no such number. */
static bool explain_number(FILE *stream, const char *name) {
    if (strncasecmp(name, "MF-", 3) != 0) {
        return false;
    }
    const struct error_id_entry *entry = error_id_find((int)strtol(name + 3, NULL, 10));
    if (entry != NULL) {
        fprintf(stream, "MF-%03d: %s\n", (int)entry->id, entry->meaning);
    }
    return entry != NULL;
}

/** Collects all dotted names of a schema. */
static size_t collect(const struct schema *schema, char (*names)[PATH_SIZE], size_t n) {
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        for (size_t k = 0; k < section->n_keys && n < NAMES_LIMIT; k++) {
            snprintf(names[n++], PATH_SIZE, "%s%s%s", section->path, section->path[0] == '\0' ? "" : ".",
                     section->keys[k].name);
        }
        if (n < NAMES_LIMIT && section->path[0] != '\0') {
            snprintf(names[n++], PATH_SIZE, "%s", section->path);
        }
    }
    return n;
}

/** The full name that a name without its section, or with a typing mistake, may have been meant to be; NULL if there is none. */
static const char *guess(const char *name, char (*names)[PATH_SIZE], size_t n) {
    const char *full[NAMES_LIMIT], *last[NAMES_LIMIT];
    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(names[i], '.');
        full[i] = names[i];
        last[i] = dot == NULL ? names[i] : dot + 1;
    }
    const char *nearest = nearest_name(name, full, n);
    const char *part = nearest == NULL ? nearest_name(name, last, n) : NULL;
    for (size_t i = 0; part != NULL && nearest == NULL; i++) {
        nearest = last[i] == part ? full[i] : NULL;
    }
    return nearest;
}

static bool fail_unknown(struct error *error, const char *name) {
    char names[NAMES_LIMIT][PATH_SIZE];
    const size_t n = collect(topology_keys(), names, collect(experiment_keys(), names, 0));
    const char *nearest = guess(name, names, n);
    error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "there is no key, section or value `%.60s`", name);
    if (nearest != NULL) {
        error_hint(error, "did you mean `%s`?", nearest);
    } else {
        error_hint(error, "without a name all of them are listed");
    }
    return false;
}

bool configuration_explain(FILE *stream, const char *name, struct error *error) {
    if (name == NULL || name[0] == '\0') {
        list_schema(stream, experiment_keys());
        fputc('\n', stream);
        list_schema(stream, topology_keys());
        fputs("\n`moefabric explain SECTION.KEY` (traffic.gate) or SECTION tells what keys mean and allow; in a "
              "configuration\n"
              "a topology's keys are reached as topology.SECTION.KEY.\n",
              stream);
        return true;
    }
    const char *below = strncmp(name, "topology.", 9) == 0 ? name + 9 : name;
    return explain_number(stream, name) || (below == name && explain_in(stream, experiment_keys(), name)) ||
           explain_in(stream, topology_keys(), below) || explain_value(stream, experiment_keys(), name) ||
           explain_value(stream, topology_keys(), name) || fail_unknown(error, name);
}
