// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Hands every file named on the command line (or in folders named there) to a fuzz target: the corpus as an ordinary
 * test, with any compiler. Speaks TAP: one test a file, so that the last line printed names the file of a crash.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_LIMIT_BYTES = 1 << 20, PATH_SIZE = 4096 };

/** Runs the target on one file; true if it could be read. */
static bool replay_file(const char *path, unsigned number) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        printf("not ok %u - %s cannot be opened\n", number, path);
        return false;
    }
    static uint8_t data[INPUT_LIMIT_BYTES];
    const size_t size = fread(data, 1, sizeof data, stream);
    fclose(stream);
    /* a copy of the exact size, so that a sanitizer sees a read past the end */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        copy[i] = data[i];
    }
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    printf("ok %u - %s\n", number, path);
    return true;
}

/** Runs the target on all files of a folder, in order of their names; returns how many could not be read. */
static unsigned replay_folder(const char *folder, unsigned *number) {
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        printf("not ok %u - %s is no folder\n", ++*number, folder);
        return 1;
    }
    unsigned unread = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char path[PATH_SIZE];
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            unread += !replay_file(path, ++*number);
        }
        free(entries[i]);
    }
    free(entries);
    return unread;
}

int main(int argc, char **argv) {
    unsigned number = 0, unread = 0;
    for (int i = 1; i < argc; i++) {
        unread += replay_folder(argv[i], &number);
    }
    printf("1..%u\n", number);
    return unread == 0 && number > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
