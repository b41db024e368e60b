// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/configuration.h"

#include "config/key.h"

/** A cell of a table: bars would end it. */
static void print_cell(FILE *stream, const char *text) {
    fputs("| ", stream);
    for (; *text != '\0'; text++) {
        fprintf(stream, "%s%c", *text == '|' ? "\\" : "", *text);
    }
    fputc(' ', stream);
}

static void print_key(FILE *stream, const struct section *section, const struct key *key) {
    char allows[KEY_LINE_SIZE], cell[KEY_LINE_SIZE + 64];
    snprintf(cell, sizeof cell, "`%s`", key->name);
    print_cell(stream, cell);
    const char *units = key->type == KEY_QUANTITY || key->type == KEY_REAL ? quantity_units(key->kind) : "";
    snprintf(cell, sizeof cell, "%s%s%s", key_allows(allows, key), units[0] != '\0' ? "; units: " : "", units);
    print_cell(stream, cell);
    if (section->amends || key->required || key->fallback == NULL) {
        print_cell(stream, section->amends ? "as without this section" : key->required ? "must be given" : "");
    } else {
        snprintf(cell, sizeof cell, "`%s`", key->fallback);
        print_cell(stream, cell);
    }
    print_cell(stream, key->doc);
    fputs("|\n", stream);
}

static const struct schema *schema_of(enum configuration_kind kind) {
    return kind == CONFIGURATION_EXPERIMENT ? experiment_keys() : topology_keys();
}

void configuration_reference(FILE *stream, enum configuration_kind kind) {
    const struct schema *schema = schema_of(kind);
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        fprintf(stream, "\n### %s%s%s\n\n%s\n", section->path[0] == '\0' ? "Top of the file" : "`", section->path,
                section->path[0] == '\0' ? ""
                : section->listed        ? "`, each item"
                                         : "`",
                section->doc);
        fputs("\n| key | takes | default | meaning |\n|---|---|---|---|\n", stream);
        for (size_t k = 0; k < section->n_keys; k++) {
            print_key(stream, section, &section->keys[k]);
        }
    }
}

void configuration_print_names(FILE *stream, enum configuration_kind kind, const char *prefix) {
    const struct schema *schema = schema_of(kind);
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        for (size_t k = 0; k < section->n_keys && !section->listed; k++) {
            fprintf(stream, "%s%s%s%s\n", prefix, section->path, section->path[0] == '\0' ? "" : ".",
                    section->keys[k].name);
        }
    }
}
