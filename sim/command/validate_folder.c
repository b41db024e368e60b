// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_folder.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the source tree, as the build knows it: sim/command/meson.build. */
#ifndef VALIDATE_SOURCE_ROOT
#define VALIDATE_SOURCE_ROOT "."
#endif

enum { STEPS_UP = 32 };

static const char tables[] = "configs/validation";

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Goes up by "../": names stay short, and errors show them as they are from here. */
static bool find_default(char path[PATH_MAX]) {
    size_t length = 0;
    for (int step = 0; step < STEPS_UP; step++) {
        snprintf(path + length, PATH_MAX - length, "%s", tables);
        if (is_folder(path)) {
            return true;
        }
        memcpy(path + length, "../", 3);
        length += 3;
    }
    return snprintf(path, PATH_MAX, "%s/%s", VALIDATE_SOURCE_ROOT, tables) < PATH_MAX && is_folder(path);
}

static int is_table(const struct dirent *entry) {
    return entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".yaml");
}

/* In order of bytes, whatever the locale. */
static int by_name(const struct dirent **one, const struct dirent **other) {
    return strcmp((*one)->d_name, (*other)->d_name);
}

static void add(struct validate_folder *folder, const char *parent, const char *name) {
    const size_t size = strlen(parent) + strlen(name) + 2;
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s%s%s", parent, parent[0] == '\0' || parent[strlen(parent) - 1] == '/' ? "" : "/", name);
    folder->paths = memory_resize(folder->paths, folder->n_paths + 1, sizeof(*folder->paths));
    folder->paths[folder->n_paths++] = path;
}

static bool list(const char *path, struct validate_folder *folder, struct error *error) {
    struct dirent **entries;
    const int n = scandir(path, &entries, is_table, by_name);
    if (n < 0) {
        return error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNREADABLE, "%.300s cannot be listed: %s", path,
                         strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        add(folder, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return n > 0 || error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_MISSING,
                              "there is no table (*.yaml) in %.300s", path);
}

bool validate_folder_list(const char *path, struct validate_folder *folder, struct error *error) {
    char found[PATH_MAX];
    *folder = (struct validate_folder){0};
    if (!path && !find_default(found)) {
        error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_MISSING, "there is no folder %s here or above", tables);
        error_hint(error, "`moefabric validate PATH` takes a folder of tables, or one table");
        return false;
    }
    if (!path) {
        path = found;
    }
    if (is_folder(path)) {
        return list(path, folder, error);
    }
    add(folder, "", path); // whatever is wrong with it is told where it is read
    return true;
}

void validate_folder_free(struct validate_folder *folder) {
    for (uint32_t i = 0; i < folder->n_paths; i++) {
        free(folder->paths[i]);
    }
    free(folder->paths);
    *folder = (struct validate_folder){0};
}
