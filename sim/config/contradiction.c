// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/contradiction.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** A setting as a user would name it. */
struct setting {
    char name[96];
    struct tree_place place;      /* source NULL = a default */
    const struct tree_node *node; /* NULL = a default */
};

/** The entry of a path whose last part may be the number of a list's item ("policies.2"); a single value stands for a list of it. */
static const struct tree_entry *find_entry(const struct tree_node *root, const char *path) {
    const struct tree_entry *entry = tree_find_path(root, path);
    const char *last = strrchr(path, '.');
    if (entry != NULL || last == NULL) {
        return entry;
    }
    char list[96];
    char *end;
    const unsigned long item = strtoul(last + 1, &end, 10);
    snprintf(list, sizeof list, "%.*s", (int)(last - path), path);
    entry = end > last + 1 && *end == '\0' ? tree_find_path(root, list) : NULL;
    if (entry == NULL || entry->value->kind != TREE_LIST) {
        return entry;
    }
    return item < entry->value->n_entries ? &entry->value->entries[item] : NULL;
}

/** Finds a setting: in the cluster section, then in the topology; or in the configuration. A spine's values may be the leaf's, a model's its preset's. */
static struct setting find(const struct contradiction_scope *scope, const char *path) {
    struct setting setting = {0};
    const char *last = strrchr(path, '.');
    char below[96];
    snprintf(setting.name, sizeof setting.name, "%s", path);
    const struct tree_entry *entry = find_entry(scope->experiment, path);
    if (entry == NULL && strncmp(path, "model.", 6) == 0) {
        entry = tree_find_path(scope->experiment, "model.preset");
        snprintf(setting.name, sizeof setting.name, "%s", entry == NULL ? path : "model.preset");
    }
    if (entry == NULL && (strncmp(path, "fabric.", 7) == 0 || last == NULL)) {
        snprintf(below, sizeof below, "cluster.%s", last == NULL ? path : last + 1);
        entry = tree_find_path(scope->experiment, below);
        if (entry != NULL) {
            memcpy(setting.name, below, sizeof below);
        }
    }
    if (entry == NULL) {
        entry = tree_find_path(scope->topology, path);
    }
    if (entry == NULL && strncmp(path, "spine.", 6) == 0) {
        snprintf(below, sizeof below, "leaf.%s", path + 6);
        entry = tree_find_path(scope->topology, below);
    }
    if (entry != NULL) {
        setting.place = entry->value->place;
        setting.node = entry->value;
    }
    return setting;
}

/** Was anything on this line found wrong before? Contradictions do not count: one value may contradict several. */
static bool is_wrong(const struct error_list *errors, struct tree_place place) {
    for (unsigned i = 0; place.source != NULL && i < errors->count; i++) {
        const struct error *error = &errors->errors[i];
        const bool judged = error->id >= ERROR_ID_CONFLICT_SCALE && error->id <= ERROR_ID_UNSUPPORTED;
        if (!judged && error->line == place.line && strcmp(error->file, place.source->name) == 0) {
            return true;
        }
    }
    return false;
}

/** Was the setting found wrong before, or, of a section, any of its keys? */
static bool was_wrong(const struct error_list *errors, const struct setting *setting) {
    bool wrong = is_wrong(errors, setting->place);
    for (uint32_t i = 0; setting->node != NULL && setting->node->kind == TREE_MAPPING && i < setting->node->n_entries;
         i++) {
        const struct tree_entry *entry = &setting->node->entries[i];
        wrong = wrong || is_wrong(errors, entry->key_place) || is_wrong(errors, entry->value->place);
    }
    return wrong;
}

/** Mistakes other than contradictions. */
static bool has_mistakes(const struct error_list *errors) {
    for (unsigned i = 0; i < errors->count; i++) {
        if (errors->errors[i].id < ERROR_ID_CONFLICT_SCALE || errors->errors[i].id > ERROR_ID_UNSUPPORTED) {
            return true;
        }
    }
    return errors->dropped > 0;
}

/** "`nvlink.gpus` is set at topologies/x.yaml:12:9" or "is its default". */
static void describe(char *hint, size_t size, const struct setting *other) {
    if (other->place.source == NULL) {
        snprintf(hint, size, "`%s` is not given: this is its default", other->name);
    } else if (other->place.line == 0) { // a value that a .topo file has no words for
        snprintf(hint, size, "`%s` is as %.200s has it", other->name, other->place.source->name);
    } else {
        snprintf(hint, size, "`%s` is set at %.200s:%u:%u", other->name, other->place.source->name, other->place.line,
                 other->place.column);
    }
}

/** Reports a contradiction unless a mistake may be behind it; hint NULL = where the other setting is. */
static void report(const struct contradiction_scope *scope, enum error_id id, const char *first, const char *second,
                   const char *hint, const char *message) {
    struct setting at = find(scope, first), other = find(scope, second);
    const bool unknown = at.place.source == NULL || other.place.source == NULL;
    if (was_wrong(scope->errors, &at) || was_wrong(scope->errors, &other) || (unknown && has_mistakes(scope->errors))) {
        return;
    }
    if (at.place.source == NULL) {
        const struct setting swap = at;
        at = other;
        other = swap;
    }
    if (at.place.source == NULL) {
        const struct tree_node *file = scope->experiment != NULL ? scope->experiment : scope->topology;
        at.place.source = file->place.source;
    }
    char place[ERROR_MESSAGE_SIZE];
    describe(place, sizeof place, &other);
    if (hint == NULL && strcmp(first, second) != 0) {
        hint = place;
    }
    tree_report(scope->errors, at.place, id, hint, "%s", message);
}

void contradiction_report(const struct contradiction_scope *scope, enum error_id id, const char *first,
                          const char *second, const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(scope, id, first, second, NULL, message);
}

void contradiction_report_hint(const struct contradiction_scope *scope, enum error_id id, const char *first,
                               const char *second, const char *hint, const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(scope, id, first, second, hint, message);
}
