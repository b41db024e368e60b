// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/key_path.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 128 };
static const char topology_prefix[] = "topology.";

/** Sections whose keys an override may set: neither items of lists nor plans of several configurations. */
static bool is_settable(const struct section *section) {
    return !section->listed && !section->plans;
}

static bool find_in(const struct schema *schema, const char *path, struct key_path *found) {
    char parent[PATH_SIZE];
    const char *dot = strrchr(path, '.');
    snprintf(parent, sizeof parent, "%.*s", dot == NULL ? 0 : (int)(dot - path), path);
    const struct section *section = key_section(schema, parent);
    if (section == NULL || !is_settable(section)) {
        return false;
    }
    found->section = section;
    found->key = key_find(section, dot == NULL ? path : dot + 1);
    return found->key != NULL;
}

bool key_path_find(const char *path, struct key_path *found) {
    const size_t length = sizeof topology_prefix - 1;
    *found = (struct key_path){0};
    if (strlen(path) >= PATH_SIZE) {
        return false;
    }
    found->of_topology = strncmp(path, topology_prefix, length) == 0;
    return find_in(found->of_topology ? topology_keys() : experiment_keys(), path + (found->of_topology ? length : 0),
                   found);
}

/** All paths, as texts one behind the other. */
struct paths {
    char (*texts)[PATH_SIZE];
    size_t count;
};

static void add_paths(struct paths *paths, const struct schema *schema, const char *prefix) {
    for (size_t i = 0; i < schema->n_sections; i++) {
        const struct section *section = &schema->sections[i];
        for (size_t k = 0; is_settable(section) && k < section->n_keys; k++) {
            paths->texts = memory_resize(paths->texts, paths->count + 1, sizeof *paths->texts);
            snprintf(paths->texts[paths->count++], PATH_SIZE, "%s%s%s%s", prefix, section->path,
                     section->path[0] == '\0' ? "" : ".", section->keys[k].name);
        }
    }
}

static const char *last_part(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot == NULL ? path : dot + 1;
}

/** The first path that fits: below the path as a section, or with the same last part. */
static const char *find_relative(const struct paths *paths, const char *path, bool below) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < paths->count; i++) {
        const char *text = paths->texts[i];
        if (below ? strncmp(text, path, length) == 0 && text[length] == '.'
                  : strcmp(last_part(text), last_part(path)) == 0) {
            return text;
        }
    }
    return NULL;
}

static const char *nearest_path(const struct paths *paths, const char *path) {
    const char **names = memory_allocate(paths->count, sizeof *names);
    for (size_t i = 0; i < paths->count; i++) {
        names[i] = paths->texts[i];
    }
    const char *nearest = nearest_name(path, names, paths->count);
    free(names);
    return nearest;
}

char *key_path_hint(const char *path, char *buffer, size_t size) {
    struct paths paths = {0};
    add_paths(&paths, experiment_keys(), "");
    add_paths(&paths, topology_keys(), topology_prefix);
    const char *below = find_relative(&paths, path, true), *nearest = nearest_path(&paths, path);
    const char *same = find_relative(&paths, path, false);
    if (below != NULL) {
        snprintf(buffer, size, "`%.60s` is a section: name one of its keys, such as `%s`", path, below);
    } else if (nearest != NULL || same != NULL) {
        snprintf(buffer, size, "did you mean `%s`?", nearest != NULL ? nearest : same);
    } else {
        snprintf(buffer, size,
                 "keys are named with their section, such as `traffic.tokens_per_gpu`; "
                 "`moefabric explain` lists them");
    }
    free(paths.texts);
    return buffer;
}
