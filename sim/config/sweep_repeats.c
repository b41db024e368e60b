// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/sweep_repeats.h"

#include "base/memory.h"
#include "config/tree_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Order of what is written: by kind, text and children; 0: alike. */
static int compare_nodes(const struct tree_node *one, const struct tree_node *other) {
    int order = (int)one->kind - (int)other->kind;
    if (order == 0 && one->kind == TREE_VALUE) {
        order = strcmp(one->text, other->text);
    }
    for (uint32_t i = 0; order == 0 && i < one->n_entries && i < other->n_entries; i++) {
        const struct tree_entry *mine = &one->entries[i], *yours = &other->entries[i];
        order = mine->key != NULL && yours->key != NULL ? strcmp(mine->key, yours->key) : 0;
        order = order != 0 ? order : compare_nodes(mine->value, yours->value);
    }
    return order != 0 ? order : (one->n_entries > other->n_entries) - (one->n_entries < other->n_entries);
}

/* Of two positions of a list of values, or of a range. */
static int compare_values(const struct tree_node *values, uint64_t one, uint64_t other) {
    return values->kind == TREE_LIST ? compare_nodes(values->entries[one].value, values->entries[other].value)
                                     : (one > other) - (one < other);
}

static bool is_zip(const struct sweep_dimension *dimension) {
    return dimension->axis == NULL && dimension->source->kind == TREE_MAPPING;
}

static int compare_positions(const struct sweep_dimension *dimension, uint64_t one, uint64_t other) {
    const struct tree_node *source = dimension->source;
    int order = 0;
    if (!is_zip(dimension)) {
        return compare_values(source, one, other);
    }
    for (uint32_t i = 0; order == 0 && i < source->n_entries; i++) {
        order = compare_values(source->entries[i].value, one, other);
    }
    return order;
}

/* A position, for qsort. */
struct placed {
    const struct sweep_dimension *dimension;
    uint64_t position;
};

/* Those that are alike stay in the order of the file. */
static int compare(const void *one, const void *other) {
    const struct placed *a = one, *b = other;
    const int order = compare_positions(a->dimension, a->position, b->position);
    return order != 0 ? order : (a->position > b->position) - (a->position < b->position);
}

static struct tree_place place_of(const struct sweep_dimension *dimension, uint64_t position) {
    const struct tree_node *source = dimension->source;
    const struct tree_node *values = is_zip(dimension) ? source->entries[0].value : source;
    return values->kind == TREE_LIST ? values->entries[position].value->place : values->place;
}

void sweep_repeats_check(const struct sweep_dimension *dimension, struct error_list *errors) {
    const uint64_t n = dimension->n_positions;
    if (dimension->axis != NULL && dimension->source->kind != TREE_LIST) {
        return; // a range
    }
    struct placed *placed = memory_allocate(n, sizeof *placed);
    for (uint64_t i = 0; i < n; i++) {
        placed[i] = (struct placed){dimension, i};
    }
    qsort(placed, n, sizeof *placed, compare);
    for (uint64_t i = 1; i < n; i++) {
        const uint64_t earlier = placed[i - 1].position, later = placed[i].position;
        if (compare_positions(dimension, earlier, later) == 0) {
            tree_report(errors, place_of(dimension, later), ERROR_ID_SWEEP, "leave one of them out",
                        "number %" PRIu64 " of this list is the same as number %" PRIu64, later + 1, earlier + 1);
        }
    }
    free(placed);
}
