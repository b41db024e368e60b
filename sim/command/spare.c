// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/spare.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "config/experiment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same_place(const struct stat *left, const struct stat *right) {
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

static const char *name_in(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *status) {
    const size_t length = (size_t)(name_in(path) - path);
    char *folder = memory_allocate(length + 2, 1);
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    const bool found = stat(folder, status) == 0;
    free(folder);
    return found;
}

bool spare_is_same(const char *left, const char *right) {
    struct stat left_place, right_place;
    if (!left || !right || left[0] == '\0' || right[0] == '\0') {
        return false;
    }
    const bool left_exists = stat(left, &left_place) == 0, right_exists = stat(right, &right_place) == 0;
    if (left_exists || right_exists) {
        return left_exists && right_exists && is_same_place(&left_place, &right_place);
    }
    return strcmp(name_in(left), name_in(right)) == 0 && stat_folder(left, &left_place) &&
           stat_folder(right, &right_place) && is_same_place(&left_place, &right_place);
}

bool spare_file(const char *input, const char *output, const char *option, struct error *error) {
    if (output[0] == '\0') {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "%s needs the name of a file", option);
    }
    if (spare_is_same(input, output)) {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                         "the result would replace %s, which it is made from: choose another %s", output, option);
    }
    return true;
}

bool spare_inputs(const char *configuration, const struct experiment *experiment, const char *output,
                  const char *option, struct error *error) {
    const char *const inputs[] = {configuration,
                                  experiment->topology_path,
                                  experiment->matrix_path,
                                  experiment->workload_path,
                                  experiment->traffic.routing.path,
                                  experiment->placement.path};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (!spare_file(inputs[i], output, option, error)) {
            return false;
        }
    }
    return true;
}
