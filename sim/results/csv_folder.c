// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/csv_folder.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *folder, const char *name) {
    const size_t size = strlen(folder) + strlen(name) + sizeof "/.csv";
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s/%s.csv", folder, name);
    return path;
}

static bool write_all(const struct csv_folder *folder, const char *place, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < folder->n_files; i++) {
        char *path = join(place, folder->name(i));
        struct file_writer file = {0};
        done = file_writer_open(&file, path, error);
        if (done) {
            folder->write(folder->context, i, file.stream);
            done = file_writer_commit(&file, error);
        }
        free(path);
    }
    return done;
}

/** Removes a folder of ours with all that may be in it. */
static void remove_all(const struct csv_folder *folder, const char *place) {
    for (size_t i = 0; i < folder->n_files; i++) {
        char *path = join(place, folder->name(i));
        unlink(path);
        free(path);
    }
    rmdir(place);
}

static bool refuse(const char *path, const char *reason, struct error *error) {
    return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, path,
                          "the folder cannot be written: %s", reason);
}

/** A path without the slashes at its end, which shells put there. */
static char *without_slashes(const char *path) {
    size_t length = strlen(path);
    for (; length > 1 && path[length - 1] == '/'; length--) {
    }
    char *copy = memory_allocate(length + 1, 1);
    snprintf(copy, length + 1, "%s", path);
    return copy;
}

static bool write_folder(const struct csv_folder *folder, const char *path, struct error *error) {
    struct stat status;
    if (lstat(path, &status) == 0) {
        return refuse(path, "it exists already; choose another name, or remove it first", error);
    }
    char *temporary = file_temporary_name(path);
    bool done = mkdir(temporary, 0777) == 0 || refuse(path, strerror(errno), error);
    if (done) {
        done = write_all(folder, temporary, error) &&
               (rename(temporary, path) == 0 || refuse(path, strerror(errno), error));
        if (!done) {
            remove_all(folder, temporary);
        }
    }
    free(temporary);
    return done;
}

bool csv_folder_write(const struct csv_folder *folder, const char *path, struct error *error) {
    char *name = without_slashes(path);
    const bool done = write_folder(folder, name, error);
    free(name);
    return done;
}
