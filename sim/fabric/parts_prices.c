// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/parts_prices.h"

#include "base/error_id.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "config/tree.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"currency", "prices", "energy", "overhead"};
enum { NAMES = sizeof names / sizeof names[0] };

/** A number that is not negative. */
static bool read_number(const struct tree_node *node, const char *name, double *value, struct error_list *errors) {
    struct error error;
    if (node->kind != TREE_VALUE || node->is_null) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, "a price is a plain number, without currency",
                    "`%.80s` is %s", name, tree_kind_name(node));
        return false;
    }
    if (!quantity_parse_real(node->text, QUANTITY_REAL, value, &error)) {
        tree_locate(&error, node->place);
        error_list_add(errors, &error);
        return false;
    }
    return true;
}

static void read_currency(const struct tree_node *node, struct parts_prices *prices, struct error_list *errors) {
    if (node->kind != TREE_VALUE || node->is_null || strlen(node->text) >= sizeof prices->currency) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, "for example USD",
                    "`currency` is a word of at most %d bytes", PARTS_CURRENCY_SIZE - 1);
        return;
    }
    snprintf(prices->currency, sizeof prices->currency, "%s", node->text);
}

static void read_prices(const struct tree_node *node, struct parts_prices *prices, struct error_list *errors) {
    if (node->kind != TREE_MAPPING || node->n_entries > PARTS_PRICES) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE,
                    "parts and their prices follow, for example \"NIC*\": 1500; at most 128", "`prices` is %s",
                    node->kind == TREE_MAPPING ? "too long" : tree_kind_name(node));
        return;
    }
    for (uint32_t i = 0; i < node->n_entries; i++) {
        const struct tree_entry *entry = &node->entries[i];
        struct parts_price *price = &prices->prices[prices->n_prices];
        if (read_number(entry->value, entry->key, &price->price, errors)) {
            snprintf(price->pattern, sizeof price->pattern, "%s", entry->key);
            price->line = entry->key_place.line;
            price->column = entry->key_place.column;
            prices->n_prices++;
        }
    }
}

static void read_entry(const struct tree_entry *entry, struct parts_prices *prices, struct error_list *errors) {
    if (strcmp(entry->key, "currency") == 0) {
        read_currency(entry->value, prices, errors);
    } else if (strcmp(entry->key, "prices") == 0) {
        read_prices(entry->value, prices, errors);
    } else if (strcmp(entry->key, "energy") == 0) {
        read_number(entry->value, entry->key, &prices->energy, errors);
    } else if (strcmp(entry->key, "overhead") == 0) {
        if (read_number(entry->value, entry->key, &prices->overhead, errors) && prices->overhead < 1) {
            tree_report(errors, entry->value->place, ERROR_ID_VALUE_RANGE, "power of the building ÷ power of the parts",
                        "`overhead` is below 1");
        }
    } else {
        const char *nearest = nearest_name(entry->key, names, NAMES);
        char hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, nearest != NULL ? "did you mean `%s`?" : "keys here: %s, prices, energy, overhead",
                 nearest != NULL ? nearest : names[0]);
        tree_report(errors, entry->key_place, ERROR_ID_KEY_UNKNOWN, hint, "unknown key `%.60s` in a file of prices",
                    entry->key);
    }
}

bool parts_prices_read(const char *path, struct parts_prices *prices, struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct tree *tree = tree_create();
    const struct tree_node *root = tree_read(tree, path, errors);
    *prices = (struct parts_prices){.overhead = 1};
    snprintf(prices->path, sizeof prices->path, "%s", path);
    if (root != NULL && root->kind != TREE_MAPPING) {
        tree_report(errors, root->place, ERROR_ID_VALUE_TYPE, "it has lines such as prices: {\"NIC*\": 1500}",
                    "the file of prices is %s", tree_kind_name(root));
    } else if (root != NULL) {
        for (uint32_t i = 0; i < root->n_entries; i++) {
            read_entry(&root->entries[i], prices, errors);
        }
        if (tree_find(root, "prices") == NULL) {
            tree_report(errors, (struct tree_place){.source = root->place.source}, ERROR_ID_KEY_MISSING,
                        "for example prices: {\"NIC*\": 1500}", "key `prices` is missing");
        }
    }
    tree_free(tree);
    return errors->count + errors->dropped == before;
}

static void note_unused(const struct parts_prices *prices, const struct parts_price *price, struct error_list *notes) {
    struct error note;
    error_set_file(&note, EXIT_CODE_OK, 0, prices->path, "no part is named like \"%.80s\"", price->pattern);
    note.line = price->line;
    note.column = price->column;
    error_list_add(notes, &note);
}

void parts_prices_apply(const struct parts_prices *prices, const struct parts *parts, struct parts_cost *cost,
                        struct error_list *notes) {
    bool used[PARTS_PRICES] = {false};
    *cost = (struct parts_cost){0};
    for (uint32_t line = 0; line < parts->n_lines; line++) {
        cost->each[line] = NAN;
        for (uint32_t i = 0; i < prices->n_prices; i++) {
            const bool fits = fnmatch(prices->prices[i].pattern, parts->lines[line].name, 0) == 0;
            used[i] = used[i] || fits;
            if (fits && isnan(cost->each[line])) {
                cost->each[line] = prices->prices[i].price;
            }
        }
        cost->n_without += isnan(cost->each[line]);
        cost->total += isnan(cost->each[line]) ? 0 : (double)parts->lines[line].count * cost->each[line];
    }
    for (uint32_t i = 0; i < prices->n_prices && notes != NULL; i++) {
        if (!used[i]) {
            note_unused(prices, &prices->prices[i], notes);
        }
    }
}
