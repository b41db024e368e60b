// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_setup.h"

#include "base/memory.h"
#include "config/experiment_file.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void validate_setup_add(struct validate_setup *setup, const struct tree_node *list) {
    static const char form[] = "`set` is a list of KEY=VALUE, as --set takes them";
    if (!list) {
        return;
    }
    if (list->kind != TREE_LIST) {
        tree_report(setup->errors, list->place, ERROR_ID_VALUE_TYPE, form, "`set` is %s", tree_kind_name(list));
        return;
    }
    for (uint32_t i = 0; i < list->n_entries; i++) {
        const struct tree_node *item = list->entries[i].value;
        if (item->kind != TREE_VALUE || item->is_null) {
            tree_report(setup->errors, item->place, ERROR_ID_VALUE_TYPE, form, "an override is %s",
                        tree_kind_name(item));
        } else if (setup->n_set == VALIDATE_SETUP_OVERRIDES) {
            tree_report(setup->errors, item->place, ERROR_ID_VALUE_LENGTH, NULL, "more than %d overrides",
                        VALIDATE_SETUP_OVERRIDES);
            return;
        } else {
            setup->set[setup->n_set++] = item;
        }
    }
}

bool validate_setup_refuse(const struct validate_setup *setup, const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    tree_report(setup->errors, setup->place, ERROR_ID_CONFLICT_TRAFFIC, NULL, "%s", message);
    return false;
}

/* A path as the table's file says it: relative to that file's folder. */
static bool resolve(const struct validate_setup *setup, const char *name, char *path, size_t size) {
    const char *slash = strrchr(setup->file, '/');
    const int folder = slash && name[0] != '/' ? (int)(slash - setup->file) + 1 : 0;
    return snprintf(path, size, "%.*s%s", folder, setup->file, name) < (int)size;
}

/* A configuration that cannot be read is a mistake of the row that names it. */
static void blame_row(const struct validate_setup *setup, struct error *error) {
    const struct error cause = *error;
    snprintf(error->message, sizeof(error->message), "%s: %.200s", cause.file, cause.message);
    tree_locate(error, setup->place);
}

/* A mistake of an override is shown in the table, where it was made; one of the kind's own at the row. */
static void blame_override(const struct validate_setup *setup, struct error *error) {
    const unsigned column = error->column;
    char text[ERROR_SOURCE_SIZE];
    memcpy(text, error->source, sizeof(text));
    tree_locate(error, setup->place);
    for (uint32_t i = 0; i < setup->n_set; i++) {
        const struct tree_node *item = setup->set[i];
        if (strncmp(item->text, text, sizeof(text) - 1) == 0) {
            tree_locate(error, item->place);
            error->column += item->quoted + (column > 0 ? column - 1 : 0);
            return;
        }
    }
}

static void relocate(const struct validate_setup *setup, struct error *error) {
    if (strcmp(error->file, "--set") == 0) {
        blame_override(setup, error);
    } else if (error->exit_code == EXIT_CODE_INPUT_OUTPUT && error->line == 0) {
        blame_row(setup, error);
    }
}

bool validate_setup_read(const struct validate_setup *setup, struct validate_row *row,
                         char own[][VALIDATE_SETUP_OVERRIDE_SIZE], uint32_t n_own) {
    const char *overrides[2 * VALIDATE_SETUP_OVERRIDES];
    char path[ERROR_FILE_SIZE];
    uint32_t n = 0;
    REQUIRE(n_own <= VALIDATE_SETUP_OVERRIDES, "%u overrides of a kind", n_own);
    for (uint32_t i = 0; i < setup->n_set; i++) {
        overrides[n++] = setup->set[i]->text;
    }
    for (uint32_t i = 0; i < n_own; i++) {
        overrides[n++] = own[i];
    }
    if (!resolve(setup, row->configuration, path, sizeof(path))) {
        return validate_setup_refuse(setup, "the path of the configuration is longer than %zu bytes", sizeof(path) - 1);
    }
    struct error_list found = {0};
    struct experiment *experiment = memory_allocate(1, sizeof(*experiment));
    const bool good = experiment_read(path, overrides, n, experiment, &found);
    for (unsigned i = 0; i < found.count; i++) {
        relocate(setup, &found.errors[i]);
        error_list_add(setup->errors, &found.errors[i]);
    }
    if (good && experiment->n_policies == 1) {
        row->experiment = experiment;
        return true;
    }
    if (good) {
        validate_setup_refuse(setup, "the configuration has %u policies; a row needs one: set policies=[…]",
                              experiment->n_policies);
    }
    free(experiment);
    return false;
}
