// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/topology_search.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the build knows them: sim/config/meson.build. */
#ifndef TOPOLOGY_SEARCH_SOURCE
#define TOPOLOGY_SEARCH_SOURCE "topologies"
#endif
#ifndef TOPOLOGY_SEARCH_INSTALLED
#define TOPOLOGY_SEARCH_INSTALLED "/usr/local/share/moefabric/topologies"
#endif

enum { PLACES = 4, PLACE_SIZE = 2 * ERROR_FILE_SIZE, NAMES_LIMIT = 256 };

/** Folders to look in, with their slashes; the first is the configuration's own. */
struct places {
    char folders[PLACES][PLACE_SIZE];
    unsigned count;
};

/** Names of files, owned. */
struct names {
    char *names[NAMES_LIMIT];
    size_t count;
};

const char *topology_search_folder(bool installed) {
    return installed ? TOPOLOGY_SEARCH_INSTALLED : TOPOLOGY_SEARCH_SOURCE;
}

/** Whether two paths lead to one folder. */
static bool is_same(const char *one, const char *other) {
    struct stat first, second;
    return stat(one[0] == '\0' ? "." : one, &first) == 0 && stat(other[0] == '\0' ? "." : other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/** Adds a folder, unless it is one of those that are there. */
static void add_place(struct places *places, const char *first, int length, const char *second) {
    char *folder = places->folders[places->count];
    snprintf(folder, PLACE_SIZE, "%.*s%s", length, first, second);
    for (unsigned i = 0; i < places->count; i++) {
        if (is_same(places->folders[i], folder)) {
            return;
        }
    }
    places->count++;
}

static struct places places_of(const char *configuration) {
    struct places places = {.count = 0};
    const char *slash = strrchr(configuration, '/');
    const int own = slash == NULL ? 0 : (int)(slash - configuration) + 1;
    add_place(&places, configuration, own, "");
    add_place(&places, configuration, own, "../topologies/");
    add_place(&places, "", 0, TOPOLOGY_SEARCH_SOURCE "/");
    add_place(&places, "", 0, TOPOLOGY_SEARCH_INSTALLED "/");
    return places;
}

bool topology_search(const char *configuration, const char *name, char *path, size_t size) {
    const bool absolute = name[0] == '/';
    const struct places places = places_of(configuration);
    for (unsigned i = 0; i < (absolute ? 1 : places.count); i++) {
        char tried[PLACE_SIZE + ERROR_FILE_SIZE];
        snprintf(tried, sizeof tried, "%s%.*s", absolute ? "" : places.folders[i], ERROR_FILE_SIZE, name);
        if (access(tried, F_OK) == 0) {
            snprintf(path, size, "%s", tried);
            return true;
        }
    }
    return false;
}

static int is_yaml(const struct dirent *entry) {
    return entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".yaml");
}

/** In order of bytes, whatever the locale. */
static int by_name(const struct dirent **one, const struct dirent **other) {
    return strcmp((*one)->d_name, (*other)->d_name);
}

static bool has_name(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/** Adds the files *.yaml of a folder that are not there yet. */
static void add_names(struct names *names, const char *folder) {
    struct dirent **entries;
    const int n = scandir(folder[0] == '\0' ? "." : folder, &entries, is_yaml, by_name);
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(entries[i]->d_name) + 1;
        if (names->count < NAMES_LIMIT && !has_name(names, entries[i]->d_name)) {
            names->names[names->count] = memory_allocate(size, 1);
            memcpy(names->names[names->count++], entries[i]->d_name, size);
        }
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
}

/** The name that this one, with its ending or without, was probably meant to be; NULL if there is none. */
static const char *nearest_of(const struct names *names, const char *name) {
    char whole[ERROR_FILE_SIZE];
    snprintf(whole, sizeof whole, "%.*s.yaml", ERROR_FILE_SIZE - 6, name);
    const char *nearest = nearest_name(name, (const char *const *)names->names, names->count);
    return nearest != NULL ? nearest : nearest_name(whole, (const char *const *)names->names, names->count);
}

static void __attribute__((format(printf, 2, 3))) append(char *text, const char *format, ...) {
    const size_t length = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + length, ERROR_MESSAGE_SIZE - length, format, values);
    va_end(values);
}

/** "did you mean `x`? Looked in …", or "there are …; looked in …". What the configuration's own folder holds need not be topologies. */
static void suggest(char *hint, const struct places *places, const char *name) {
    struct names names = {.count = 0};
    for (unsigned i = 1; i < places->count; i++) {
        add_names(&names, places->folders[i]);
    }
    const size_t n_topologies = names.count;
    add_names(&names, places->folders[0]);
    const char *nearest = nearest_of(&names, name);
    hint[0] = '\0';
    if (nearest != NULL) {
        append(hint, "did you mean `%s`? ", nearest);
    } else if (n_topologies > 0) {
        append(hint, "there are ");
        for (size_t i = 0; i < n_topologies; i++) {
            append(hint, "%s%s", names.names[i], i + 1 < n_topologies ? ", " : "; ");
        }
    }
    append(hint, nearest != NULL ? "Looked in " : "looked in ");
    for (unsigned i = 0; i < places->count; i++) {
        append(hint, "%s%s", i == 0 ? "" : ", ", places->folders[i][0] == '\0' ? "./" : places->folders[i]);
    }
    for (size_t i = 0; i < names.count; i++) {
        free(names.names[i]);
    }
}

bool topology_search_value(const char *configuration, const struct tree_node *value, char *path, size_t size,
                           struct error_list *errors) {
    char found[PLACE_SIZE + ERROR_FILE_SIZE], hint[ERROR_MESSAGE_SIZE];
    if (!topology_search(configuration, value->text, found, sizeof found)) {
        const struct places places = places_of(configuration);
        if (value->text[0] == '/') {
            snprintf(hint, sizeof hint,
                     "a name without a folder is looked up among the topologies that come with the program");
        } else {
            suggest(hint, &places, value->text);
        }
        tree_report(errors, value->place, ERROR_ID_FILE_MISSING, hint, "there is no topology file `%.80s`",
                    value->text);
        return false;
    }
    if (strlen(found) >= size) {
        tree_report(errors, value->place, ERROR_ID_FILE_PATH, NULL, "the path is longer than %zu bytes", size - 1);
        return false;
    }
    memcpy(path, found, strlen(found) + 1);
    return true;
}
