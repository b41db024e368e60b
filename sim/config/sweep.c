// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/sweep.h"

#include "base/memory.h"
#include "config/experiment.h"
#include "config/key_path.h"
#include "config/sweep_range.h"
#include "config/sweep_repeats.h"
#include "config/tree_internal.h"
#include "config/value_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t usual_limit = 10000, highest_limit = 1000000; /* as in sweep_keys.c */

/** One reading. */
struct reading {
    struct tree *tree;
    const struct tree_node *section;
    struct sweep *sweep;
    struct error_list *errors;
    const char *name; /* of the section */
    bool all;         /* check every value */
};

static void report(const struct reading *reading, struct tree_place place, const char *hint, const char *what) {
    tree_report(reading->errors, place, ERROR_ID_SWEEP, hint, "%s", what);
}

/** The key of an entry; NULL, with the mistake reported, if it is none that a sweep may set. */
static const struct key *key_of(const struct reading *reading, const struct tree_entry *entry, struct key_path *path) {
    char hint[ERROR_MESSAGE_SIZE];
    if (!key_path_find(entry->key, path)) {
        tree_report(reading->errors, entry->key_place, ERROR_ID_KEY_UNKNOWN,
                    key_path_hint(entry->key, hint, sizeof hint), "`%.60s` in `%s` is no key of a configuration",
                    entry->key, reading->name);
        return NULL;
    }
    if (strcmp(entry->key, "name") == 0) {
        report(reading, entry->key_place, "points are told apart by what they set", "`name` cannot be swept");
        return NULL;
    }
    return path->key;
}

/** Can the key take this value? Reported if not. What special keys take is found when the point is read. */
static void check_value(const struct reading *reading, const struct key_path *path, const struct tree_node *value) {
    if (key_is_special(path->key)) {
        return;
    }
    void *scratch = memory_allocate(1, path->of_topology ? sizeof(struct topology) : sizeof(struct experiment));
    value_reader_store(path->key, value, (char *)scratch + path->section->offset, reading->errors);
    free(scratch);
}

/** Values of an axis as it stands in the file: a list, or a range. 0, with the mistake reported, if there are none. */
static uint64_t count_values(const struct reading *reading, const struct tree_entry *entry) {
    const struct tree_node *node = entry->value;
    struct key_path path;
    struct sweep_range range;
    const struct key *key = key_of(reading, entry, &path);
    if (key == NULL) {
        return 0;
    }
    if (node->kind == TREE_MAPPING && !key_is_special(key)) {
        return sweep_range_read(node, key, &range, reading->errors) ? range.count : 0;
    }
    if (node->kind != TREE_LIST) {
        report(reading, node->place, "a swept key has a list of values, or a range {from: A, to: B, step: C}",
               "an axis is a list or a range");
        return 0;
    }
    if (node->n_entries == 0) {
        report(reading, node->place, "name values, or leave the key out", "this axis has no values");
    }
    return node->n_entries;
}

/** Notes that a key is swept; reports it if it is already. Points of a list may name the same keys. */
static void add_axis(const struct reading *reading, const struct tree_entry *entry, bool again) {
    struct sweep *sweep = reading->sweep;
    for (uint32_t i = 0; i < sweep->n_axes; i++) {
        if (strcmp(sweep->axes[i], entry->key) == 0) {
            if (!again) {
                tree_report(reading->errors, entry->key_place, ERROR_ID_SWEEP, "each key is swept in one place only",
                            "`%.60s` is swept twice", entry->key);
            }
            return;
        }
    }
    if (sweep->n_axes == SWEEP_AXES) {
        report(reading, entry->key_place, "sweep fewer keys", "more than 32 keys are swept");
        return;
    }
    sweep->axes[sweep->n_axes++] = entry->key;
}

static void add_dimension(struct reading *reading, const struct tree_node *source, const struct tree_entry *axis,
                          uint64_t count) {
    if (reading->sweep->n_dimensions == SWEEP_DIMENSIONS) {
        report(reading, source->place, "sweep fewer keys", "a sweep has at most 32 dimensions");
        return;
    }
    reading->sweep->dimensions[reading->sweep->n_dimensions++] =
        (struct sweep_dimension){.n_positions = count, .axis = axis, .source = source};
}

static void scan_grid(struct reading *reading, const struct tree_node *grid) {
    for (uint32_t i = 0; i < grid->n_entries; i++) {
        const struct tree_entry *entry = &grid->entries[i];
        add_axis(reading, entry, false);
        add_dimension(reading, entry->value, entry, count_values(reading, entry));
    }
}

static void scan_zip(struct reading *reading, const struct tree_node *zip) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < zip->n_entries; i++) {
        const uint64_t here = count_values(reading, &zip->entries[i]);
        add_axis(reading, &zip->entries[i], false);
        if (i > 0 && here > 0 && count > 0 && here != count) {
            tree_report(reading->errors, zip->entries[i].value->place, ERROR_ID_SWEEP,
                        "keys of `zip` go together, first with first: as many values for each",
                        "`%.60s` has %" PRIu64 " values, `%.60s` has %" PRIu64, zip->entries[i].key, here,
                        zip->entries[0].key, count);
        }
        count = count == 0 ? here : count;
    }
    if (zip->n_entries > 0) {
        add_dimension(reading, zip, NULL, count);
    }
}

static void scan_list(struct reading *reading, const struct tree_node *list) {
    const uint32_t inherited = reading->sweep->n_axes;
    for (uint32_t i = 0; i < list->n_entries; i++) {
        const struct tree_node *item = list->entries[i].value;
        if (item->kind != TREE_MAPPING || item->n_entries == 0) {
            report(reading, item->place, "for example - {traffic.gate: zipf, traffic.zipf_exponent: 0.8}",
                   "a point of the list is a mapping of keys to values");
            continue;
        }
        for (uint32_t k = 0; k < item->n_entries; k++) {
            struct key_path path;
            const struct tree_entry *entry = &item->entries[k];
            bool again = false;
            for (uint32_t a = inherited; a < reading->sweep->n_axes; a++) {
                again = again || strcmp(reading->sweep->axes[a], entry->key) == 0;
            }
            add_axis(reading, entry, again);
            if (key_of(reading, entry, &path) != NULL && reading->all) {
                check_value(reading, &path, entry->value);
            }
        }
    }
    if (list->n_entries == 0) {
        report(reading, list->place, "name points, or leave it out", "`list` is empty");
    } else {
        add_dimension(reading, list, NULL, list->n_entries);
    }
}

/** Counts what there is, before anything is expanded. */
static void scan(struct reading *reading) {
    for (uint32_t i = 0; i < reading->section->n_entries; i++) {
        const struct tree_entry *entry = &reading->section->entries[i];
        const bool list = strcmp(entry->key, "list") == 0, zip = strcmp(entry->key, "zip") == 0;
        if (!list && !zip && strcmp(entry->key, "grid") != 0) {
            continue; /* seeds, limit, and what the section's reader refuses */
        }
        const enum tree_kind kind = list ? TREE_LIST : TREE_MAPPING;
        if (entry->value->kind != kind) {
            tree_report(reading->errors, entry->value->place, ERROR_ID_VALUE_TYPE,
                        list ? "its points follow, each a mapping" : "its keys follow, each with a list of values",
                        "`%s.%s` is %s", reading->name, entry->key, tree_kind_name(entry->value));
            continue;
        }
        (list ? scan_list : zip ? scan_zip : scan_grid)(reading, entry->value);
    }
}

static uint64_t limit_of(const struct tree_node *section) {
    const struct tree_entry *entry = tree_find(section, "limit");
    uint64_t limit = usual_limit;
    if (entry != NULL && entry->value->kind == TREE_VALUE) {
        quantity_parse(entry->value->text, QUANTITY_COUNT, &limit, NULL); /* reported by the section's reader */
    }
    return limit < highest_limit ? limit : highest_limit;
}

/** "1000 × 1000 × 1000 = 1e+09": the product, and how it comes about. */
static double multiply(const struct reading *reading, char *text, size_t size) {
    double product = 1;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < reading->sweep->n_dimensions && length < size; i++) {
        product *= (double)reading->sweep->dimensions[i].n_positions;
        length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64, i == 0 ? "" : " × ",
                                   reading->sweep->dimensions[i].n_positions);
    }
    return product;
}

static bool check_size(struct reading *reading) {
    char arithmetic[256];
    const uint64_t limit = limit_of(reading->section);
    const double product = multiply(reading, arithmetic, sizeof arithmetic);
    if (reading->sweep->n_dimensions == 0) {
        char hint[ERROR_MESSAGE_SIZE], what[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, "for example grid: {traffic.tokens_per_gpu: [256, 1024]}; `moefabric explain %s`",
                 reading->name);
        snprintf(what, sizeof what, "the %s is empty: it names no key",
                 strcmp(reading->name, "sweep") == 0 ? "sweep" : "design space");
        report(reading, reading->section->place, hint, what);
        return false;
    }
    if (product > (double)limit) {
        char hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, "take fewer values, or raise `%s.limit` (up to 1000000)", reading->name);
        tree_report(reading->errors, reading->section->place, ERROR_ID_SWEEP, hint,
                    "%s = %.15g points, and the limit is %" PRIu64, arithmetic, product, limit);
        return false;
    }
    reading->sweep->n_points = (uint64_t)product;
    return true;
}

/** Value i of an axis, and what it sets; NULL, with the mistake reported, if a range has no such value. */
static struct tree_node *value_of(struct tree *tree, const struct tree_entry *entry, uint64_t i,
                                  struct error_list *errors) {
    struct key_path path;
    struct sweep_range range;
    if (entry->value->kind == TREE_LIST) {
        return entry->value->entries[i].value;
    }
    const bool found = key_path_find(entry->key, &path) && sweep_range_read(entry->value, path.key, &range, errors);
    REQUIRE(found, "the range of `%s` was there before", entry->key);
    return sweep_range_value(tree, entry->value, path.key, &range, i, errors);
}

static void check_axis(const struct reading *reading, const struct tree_entry *entry, uint64_t count) {
    struct key_path path;
    const bool found = key_path_find(entry->key, &path);
    REQUIRE(found, "key `%s` was there before", entry->key);
    for (uint64_t i = 0; i < count; i++) {
        const struct tree_node *value = value_of(reading->tree, entry, i, reading->errors);
        if (value != NULL) {
            check_value(reading, &path, value);
        }
    }
}

/** Every value of `grid` and `zip`; no point is there twice. */
static void check_values(const struct reading *reading) {
    for (uint32_t i = 0; i < reading->sweep->n_dimensions; i++) {
        const struct sweep_dimension *dimension = &reading->sweep->dimensions[i];
        sweep_repeats_check(dimension, reading->errors);
        if (dimension->axis != NULL) {
            check_axis(reading, dimension->axis, dimension->n_positions);
        } else if (dimension->source->kind == TREE_MAPPING) {
            for (uint32_t k = 0; k < dimension->source->n_entries; k++) {
                check_axis(reading, &dimension->source->entries[k], dimension->n_positions);
            }
        }
    }
}

bool sweep_read(struct tree *tree, const struct tree_node *section, const char *name, bool all, struct sweep *sweep,
                struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct reading reading = {
        .tree = tree, .section = section, .sweep = sweep, .errors = errors, .name = name, .all = all};
    *sweep = (struct sweep){.tree = tree};
    scan(&reading);
    if (errors->count + errors->dropped == before && check_size(&reading) && all) {
        check_values(&reading);
    }
    const bool good = errors->count + errors->dropped == before;
    sweep->n_points = good ? sweep->n_points : 0;
    return good;
}

/** The position of a point in a dimension: the last one changes fastest. */
static uint64_t position_of(const struct sweep *sweep, uint64_t point, uint32_t number) {
    for (uint32_t i = sweep->n_dimensions; i-- > number + 1;) {
        point /= sweep->dimensions[i].n_positions;
    }
    return point % sweep->dimensions[number].n_positions;
}

/** One point being visited. */
struct visit {
    const struct sweep *sweep;
    void (*call)(void *context, const struct sweep_setting *setting);
    void *context;
    struct error_list *errors;
};

static void visit_value(const struct visit *visit, const struct tree_entry *entry, struct tree_node *value) {
    const struct sweep_setting setting = {.key = entry->key, .key_place = entry->key_place, .value = value};
    if (value != NULL) {
        visit->call(visit->context, &setting);
    }
}

static void visit_axis(const struct visit *visit, const struct tree_entry *entry, uint64_t position) {
    visit_value(visit, entry, value_of(visit->sweep->tree, entry, position, visit->errors));
}

static void visit_dimension(const struct visit *visit, const struct sweep_dimension *dimension, uint64_t position) {
    if (dimension->axis != NULL) {
        visit_axis(visit, dimension->axis, position);
        return;
    }
    const bool zip = dimension->source->kind == TREE_MAPPING;
    const struct tree_node *entries = zip ? dimension->source : dimension->source->entries[position].value;
    for (uint32_t k = 0; k < entries->n_entries; k++) {
        if (zip) {
            visit_axis(visit, &entries->entries[k], position);
        } else {
            visit_value(visit, &entries->entries[k], entries->entries[k].value);
        }
    }
}

void sweep_visit(const struct sweep *sweep, uint64_t point,
                 void (*visit)(void *context, const struct sweep_setting *setting), void *context,
                 struct error_list *errors) {
    const struct visit visiting = {.sweep = sweep, .call = visit, .context = context, .errors = errors};
    REQUIRE(point < sweep->n_points, "point %" PRIu64 " of a sweep of %" PRIu64, point, sweep->n_points);
    for (uint32_t i = 0; i < sweep->n_dimensions; i++) {
        visit_dimension(&visiting, &sweep->dimensions[i], position_of(sweep, point, i));
    }
}
