// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/configuration.h"

#include "config/key.h"

#include <stdlib.h>
#include <string.h>

/** A text that is empty, or a value that only its absence expresses (0 below the least allowed), is left out. */
static bool is_absent(const struct key *key, const char *base) {
    if (key->type == KEY_TEXT) {
        return base[key->offset] == '\0';
    }
    uint32_t count = 0;
    if (key->type == KEY_QUANTITY && key->size == sizeof count && key->minimum != NULL && key->fallback == NULL) {
        memcpy(&count, base + key->offset, sizeof count);
        return count == 0 && strcmp(key->minimum, "0") != 0;
    }
    return false;
}

static void write_keys(FILE *stream, const struct section *section, const void *base, unsigned indent,
                       const char *first) {
    char value[KEY_LINE_SIZE];
    for (size_t i = 0; i < section->n_keys; i++) {
        const struct key *key = &section->keys[i];
        if (!key_is_special(key) && !is_absent(key, base)) {
            fprintf(stream, "%*s%s%s: %s\n", (int)indent, "", first, key->name, key_print(value, key, base));
            indent += (unsigned)strlen(first); /* "- " stands before the first key of an item only */
            first = "";
        }
    }
}

/** A section with its heading; the parents of a dotted path are written when they change. */
static void write_section(FILE *stream, const struct section *section, const void *base, unsigned indent, char *group,
                          size_t size) {
    const char *dot = strchr(section->path, '.');
    if (dot != NULL) {
        char parent[64];
        snprintf(parent, sizeof parent, "%.*s", (int)(dot - section->path), section->path);
        if (strcmp(parent, group) != 0) {
            fprintf(stream, "%*s%s:\n", (int)indent, "", parent);
            snprintf(group, size, "%s", parent);
        }
        indent += 2;
    } else {
        snprintf(group, size, "%s", section->path); // sections below it follow without a heading of their own
    }
    fprintf(stream, "%*s%s:\n", (int)indent, "", dot == NULL ? section->path : dot + 1);
    write_keys(stream, section, (const char *)base + section->offset, indent + 2, "");
}

static void write_topology(FILE *stream, const struct topology *topology) {
    const struct schema *schema = topology_keys();
    char group[64] = "";
    fputs("topology:\n", stream);
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        if (section->path[0] == '\0') {
            write_keys(stream, section, topology, 2, "");
        } else {
            write_section(stream, section, topology, 2, group, sizeof group);
        }
    }
}

static void write_policies(FILE *stream, const struct experiment *experiment) {
    const struct section *section = key_section(experiment_keys(), "policies");
    fputs("policies:\n", stream);
    for (uint32_t i = 0; i < experiment->n_policies; i++) {
        write_keys(stream, section, &experiment->policies[i], 2, "- ");
    }
}

static void write_failures(FILE *stream, const struct experiment *experiment) {
    const struct section *section = key_section(experiment_keys(), "failures");
    fputs(experiment->n_failures > 0 ? "failures:\n" : "", stream);
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        write_keys(stream, section, &experiment->failures[i], 2, "- ");
    }
}

static void write_backgrounds(FILE *stream, const struct experiment *experiment) {
    const struct section *section = key_section(experiment_keys(), "background");
    fputs(experiment->n_backgrounds > 0 ? "background:\n" : "", stream);
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        write_keys(stream, section, &experiment->backgrounds[i], 2, "- ");
    }
}

void configuration_write_resolved(FILE *stream, const struct experiment *experiment) {
    const struct schema *schema = experiment_keys();
    char group[64] = "";
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        if (section->path[0] == '\0') {
            write_keys(stream, section, experiment, 0, "");
            write_topology(stream, &experiment->topology);
        } else if (strcmp(section->path, "policies") == 0) {
            write_policies(stream, experiment);
        } else if (strcmp(section->path, "background") == 0) {
            write_backgrounds(stream, experiment);
        } else if (section->listed) {
            write_failures(stream, experiment);
        } else if (!section->amends && !section->plans && !section->derives) {
            write_section(stream, section, experiment, 0, group, sizeof group);
        }
    }
}

char *configuration_resolved_text(const struct experiment *experiment, size_t *size) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    REQUIRE(stream != NULL, "no stream in memory");
    configuration_write_resolved(stream, experiment);
    fclose(stream);
    if (size != NULL) {
        *size = length;
    }
    return text;
}
