// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/sweep_range.h"

#include "config/tree_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char form[] = "a range is {from: A, to: B, step: C}, {from: A, to: B, factor: C} or {from: A, to: B, "
                           "count: N}";
static const double slack = 1e-9; /* of a step: 0.1 + 0.1 + 0.1 is to reach 0.3 */
static const double most_values = 1e15;

/** Keys that a range can be of: numbers. */
static bool is_number(const struct key *key) {
    return key->type == KEY_QUANTITY || key->type == KEY_REAL || key->type == KEY_SIGNED;
}

static bool refuse(const struct tree_node *node, struct error_list *errors, const char *what) {
    tree_report(errors, node->place, ERROR_ID_SWEEP, form, "%s", what);
    return false;
}

/** A number of the key's kind in its base unit. */
static bool read_number(const struct tree_node *node, const struct key *key, double *value, struct error_list *errors) {
    struct error error;
    if (node->kind != TREE_VALUE || node->is_null) {
        return refuse(node, errors, "a number is needed");
    }
    int64_t whole = 0;
    const bool good = key->type == KEY_SIGNED ? quantity_parse_signed(node->text, &whole, &error)
                                              : quantity_parse_real(node->text, key->kind, value, &error);
    if (!good) {
        tree_locate(&error, node->place);
        error_list_add(errors, &error);
    } else if (key->type == KEY_SIGNED) {
        *value = (double)whole;
    }
    return good;
}

/** A plain number. */
static bool read_plain(const struct tree_node *node, double *value, struct error_list *errors) {
    static const struct key plain = {.type = KEY_REAL, .kind = QUANTITY_REAL};
    return read_number(node, &plain, value, errors);
}

/** Are all names of the mapping known? */
static bool check_names(const struct tree_node *node, struct error_list *errors) {
    static const char *const names[] = {"from", "to", "step", "factor", "count"};
    enum { NAMES = sizeof names / sizeof names[0] };
    bool good = true;
    for (uint32_t i = 0; i < node->n_entries; i++) {
        size_t n = 0;
        while (n < NAMES && strcmp(names[n], node->entries[i].key) != 0) {
            n++;
        }
        if (n == NAMES) {
            tree_report(errors, node->entries[i].key_place, ERROR_ID_SWEEP, form, "a range has no `%.40s`",
                        node->entries[i].key);
            good = false;
        }
    }
    return good;
}

static bool count_steps(const struct tree_node *node, double to, struct sweep_range *range, struct error_list *errors) {
    if (!(range->step > 0)) {
        return refuse(node, errors, "`step` is not above 0");
    }
    range->count = (uint64_t)fmin(floor((to - range->from) / range->step + slack) + 1, most_values);
    return true;
}

static bool count_factors(const struct tree_node *node, double to, struct sweep_range *range,
                          struct error_list *errors) {
    if (!(range->factor > 1) || !(range->from > 0)) {
        return refuse(node, errors, "with `factor`, it must be above 1 and `from` above 0");
    }
    range->count = (uint64_t)fmin(floor(log(to / range->from) / log(range->factor) + slack) + 1, most_values);
    return true;
}

static bool spread(const struct tree_node *node, double to, double count, struct sweep_range *range,
                   struct error_list *errors) {
    if (count < 2 || count != floor(count)) {
        return refuse(node, errors, "`count` is a whole number from 2 on");
    }
    range->count = (uint64_t)fmin(count, most_values);
    range->step = (to - range->from) / (count - 1);
    return true;
}

/** How the values follow each other. */
static bool read_pace(const struct tree_node *node, const struct key *key, double to, struct sweep_range *range,
                      struct error_list *errors) {
    const struct tree_entry *step = tree_find(node, "step"), *factor = tree_find(node, "factor");
    const struct tree_entry *count = tree_find(node, "count");
    double number;
    if ((step != NULL) + (factor != NULL) + (count != NULL) != 1) {
        return refuse(node, errors, "one of `step`, `factor` and `count` is needed");
    }
    if (step != NULL) {
        return read_number(step->value, key, &range->step, errors) && count_steps(step->value, to, range, errors);
    }
    if (factor != NULL) {
        return read_plain(factor->value, &range->factor, errors) && count_factors(factor->value, to, range, errors);
    }
    return read_plain(count->value, &number, errors) && spread(count->value, to, number, range, errors);
}

bool sweep_range_read(const struct tree_node *node, const struct key *key, struct sweep_range *range,
                      struct error_list *errors) {
    const struct tree_entry *from = tree_find(node, "from"), *to = tree_find(node, "to");
    double end;
    *range = (struct sweep_range){0};
    if (!is_number(key)) {
        char what[ERROR_MESSAGE_SIZE];
        snprintf(what, sizeof what, "`%s` is no number: it is swept over a list of values", key->name);
        return refuse(node, errors, what);
    }
    if (!check_names(node, errors)) {
        return false;
    }
    if (from == NULL || to == NULL) {
        return refuse(node, errors, "a range needs `from` and `to`");
    }
    if (!read_number(from->value, key, &range->from, errors) || !read_number(to->value, key, &end, errors)) {
        return false;
    }
    if (end < range->from) {
        return refuse(node, errors, "the range is empty: `to` is below `from`");
    }
    return read_pace(node, key, end, range, errors);
}

/** Twelve significant digits, so that 0.1 + 2 × 0.1 is 0.3. Of what counts whole units all digits before the point are kept. */
static double tidy(const struct key *key, double value) {
    if (key->type == KEY_QUANTITY && value >= 1e12) {
        return rint(value);
    }
    char text[64];
    snprintf(text, sizeof text, "%.12g", value);
    return strtod(text, NULL);
}

/** The value as YAML. False if the key wants whole numbers and this is none. */
static bool print_value(const struct key *key, double value, char text[QUANTITY_TEXT_SIZE]) {
    if (key->type == KEY_REAL) {
        quantity_print_real(text, key->kind, value);
        return true;
    }
    if (value != floor(value) || value >= 0x1p64) {
        return false;
    }
    if (key->type == KEY_SIGNED) {
        snprintf(text, QUANTITY_TEXT_SIZE, "%" PRId64, (int64_t)value);
    } else {
        quantity_print(text, key->kind, (uint64_t)value);
    }
    return true;
}

struct tree_node *sweep_range_value(struct tree *tree, const struct tree_node *node, const struct key *key,
                                    const struct sweep_range *range, uint64_t i, struct error_list *errors) {
    const double steps = (double)i;
    const double value =
        tidy(key, range->factor > 0 ? range->from * pow(range->factor, steps) : range->from + steps * range->step);
    char text[QUANTITY_TEXT_SIZE];
    if (!print_value(key, value, text)) {
        tree_report(errors, node->place, ERROR_ID_SWEEP, "choose a step, factor or count that keeps to whole numbers",
                    "value %" PRIu64 " of the range, %.12g, is no whole number below 2^64, and `%s` takes no other",
                    i + 1, value, key->name);
        return NULL;
    }
    struct tree_node *made = tree_allocate(tree, sizeof *made);
    *made = (struct tree_node){.kind = TREE_VALUE, .place = node->place, .text = tree_copy(tree, text, strlen(text))};
    return made;
}
