// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/value_reader.h"

#include "base/nearest.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/** What a reader of a value works with. */
struct value {
    const struct key *key;
    const struct tree_node *node;
    void *base;
    struct error_list *errors;
};

/** Reports a mistake at the value; the hint is what the key allows. */
static bool refuse(const struct value *value, enum error_id id, const char *what) {
    char allows[KEY_LINE_SIZE], hint[ERROR_MESSAGE_SIZE];
    snprintf(hint, sizeof hint, "`%s` is %.450s", value->key->name, key_allows(allows, value->key));
    tree_report(value->errors, value->node->place, id, hint, "%s", what);
    return false;
}

/** Reports an error of a quantity, which has no place of its own yet. */
static bool refuse_quantity(const struct value *value, struct error *error) {
    tree_locate(error, value->node->place);
    error_list_add(value->errors, error);
    return false;
}

static bool refuse_range(const struct value *value) {
    char what[ERROR_MESSAGE_SIZE];
    snprintf(what, sizeof what, "%.60s is out of range", value->node->text);
    return refuse(value, ERROR_ID_VALUE_RANGE, what);
}

/** A limit of a key in base units; the table's own text, so a failure is a bug. */
static uint64_t limit_of(const struct key *key, const char *text, uint64_t otherwise) {
    uint64_t limit = otherwise;
    if (text != NULL) {
        const bool good = quantity_parse(text, key->kind, &limit, NULL);
        REQUIRE(good, "limit `%s` of key `%s`", text, key->name);
    }
    return limit;
}

static double real_limit_of(const struct key *key, const char *text, double otherwise) {
    double limit = otherwise;
    if (text != NULL) {
        const bool good = quantity_parse_real(text, key->kind, &limit, NULL);
        REQUIRE(good, "limit `%s` of key `%s`", text, key->name);
    }
    return limit;
}

static bool store_quantity(const struct value *value, void *field) {
    const struct key *key = value->key;
    const uint64_t widest = key->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    uint64_t number;
    struct error error;
    if (!quantity_parse(value->node->text, key->kind, &number, &error)) {
        return refuse_quantity(value, &error);
    }
    if (number < limit_of(key, key->minimum, 0) || number > limit_of(key, key->maximum, widest)) {
        return refuse_range(value);
    }
    REQUIRE(number <= widest, "key `%s` allows more than its field holds", key->name);
    if (key->size == sizeof(uint32_t)) {
        const uint32_t narrow = (uint32_t)number;
        memcpy(field, &narrow, sizeof narrow);
    } else {
        memcpy(field, &number, sizeof number);
    }
    return true;
}

static bool store_signed(const struct value *value, void *field) {
    int64_t number, minimum = INT32_MIN, maximum = INT32_MAX;
    struct error error;
    if (!quantity_parse_signed(value->node->text, &number, &error)) {
        return refuse_quantity(value, &error);
    }
    if (value->key->minimum != NULL) {
        quantity_parse_signed(value->key->minimum, &minimum, NULL);
    }
    if (value->key->maximum != NULL) {
        quantity_parse_signed(value->key->maximum, &maximum, NULL);
    }
    if (number < minimum || number > maximum) {
        return refuse_range(value);
    }
    const int32_t narrow = (int32_t)number;
    memcpy(field, &narrow, sizeof narrow);
    return true;
}

static bool store_real(const struct value *value, void *field) {
    const struct key *key = value->key;
    double number;
    struct error error;
    if (!quantity_parse_real(value->node->text, key->kind, &number, &error)) {
        return refuse_quantity(value, &error);
    }
    if (number < real_limit_of(key, key->minimum, 0) || number > real_limit_of(key, key->maximum, 1e18)) {
        return refuse_range(value);
    }
    memcpy(field, &number, sizeof number);
    return true;
}

static bool store_flag(const struct value *value, void *field) {
    const bool yes = strcmp(value->node->text, "true") == 0;
    if (!yes && strcmp(value->node->text, "false") != 0) {
        char what[ERROR_MESSAGE_SIZE];
        snprintf(what, sizeof what, "\"%.40s\" is neither true nor false", value->node->text);
        return refuse(value, ERROR_ID_VALUE_TYPE, what);
    }
    memcpy(field, &yes, sizeof yes);
    return true;
}

/** Number of a text among the key's names; reports it if there is none. */
static bool find_name(const struct value *value, uint32_t *number) {
    const char *const *names = value->key->names;
    uint32_t n = 0;
    for (; names[n] != NULL; n++) {
        if (strcmp(names[n], value->node->text) == 0) {
            *number = n;
            return true;
        }
    }
    const char *nearest = nearest_name(value->node->text, names, n);
    char allows[KEY_LINE_SIZE], hint[ERROR_MESSAGE_SIZE];
    snprintf(hint, sizeof hint, "%s%s%s%.400s", nearest == NULL ? "" : "did you mean `", nearest == NULL ? "" : nearest,
             nearest == NULL ? "" : "`? Allowed: ", key_allows(allows, value->key));
    tree_report(value->errors, value->node->place, ERROR_ID_VALUE_NAME, hint, "`%.60s` is no value of `%s`",
                value->node->text, value->key->name);
    return false;
}

/** Has a text more than one line, or what would steer a terminal on which it is shown? */
static bool has_control(const char *text) {
    while (*text != '\0' && text_control(text) == 0) {
        text++;
    }
    return *text != '\0';
}

static bool store_text(const struct value *value, char *field) {
    const size_t length = strlen(value->node->text);
    uint32_t number;
    if (value->key->names != NULL && !find_name(value, &number)) {
        return false;
    }
    if (length >= value->key->size || length == 0 || has_control(value->node->text)) {
        char what[ERROR_MESSAGE_SIZE];
        snprintf(what, sizeof what,
                 length == 0                  ? "the text is empty"
                 : length >= value->key->size ? "the text has %zu bytes"
                                              : "the text has more than one line, or control characters",
                 length);
        return refuse(value, ERROR_ID_VALUE_LENGTH, what);
    }
    memset(field, 0, value->key->size);
    memcpy(field, value->node->text, length);
    return true;
}

static bool store_choice(const struct value *value, void *field) {
    uint32_t number;
    if (!find_name(value, &number)) {
        return false;
    }
    memcpy(field, &number, sizeof number);
    return true;
}

/** A list of names; one name alone stands for a list of it. */
static bool store_set(const struct value *value, bool *flags) {
    const struct tree_node *list = value->node;
    const uint32_t n = list->kind == TREE_LIST ? list->n_entries : 1;
    bool good = n > 0 || refuse(value, ERROR_ID_VALUE_LENGTH, "the list is empty");
    for (size_t i = 0; value->key->names[i] != NULL; i++) {
        flags[i] = false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct value item = *value;
        uint32_t number;
        item.node = list->kind == TREE_LIST ? list->entries[i].value : list;
        if (item.node->kind != TREE_VALUE) {
            good = refuse(&item, ERROR_ID_VALUE_TYPE, "a name is needed");
        } else if (!find_name(&item, &number)) {
            good = false;
        } else if (flags[number]) {
            good = refuse(&item, ERROR_ID_VALUE_TYPE, "this is named twice; each once, in whatever order");
        } else {
            flags[number] = true;
        }
    }
    return good;
}

static bool is_printable(const char *text) {
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            return false;
        }
    }
    return true;
}

/** A list of texts; one alone stands for a list of it. */
static bool store_names(const struct value *value, char *field) {
    const struct tree_node *list = value->node;
    const uint32_t n = list->kind == TREE_LIST ? list->n_entries : 1,
                   capacity = (uint32_t)(value->key->size / KEY_NAME_SIZE);
    struct key one = *value->key;
    one.size = KEY_NAME_SIZE;
    if (n > capacity) {
        return refuse(value, ERROR_ID_VALUE_LENGTH, "these are too many");
    }
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        struct value item = *value;
        item.key = &one;
        item.node = list->kind == TREE_LIST ? list->entries[i].value : list;
        const bool is_text = item.node->kind == TREE_VALUE && !item.node->is_null && is_printable(item.node->text);
        good = (is_text ? store_text(&item, field + (size_t)i * KEY_NAME_SIZE)
                        : refuse(&item, ERROR_ID_VALUE_TYPE, "a text is needed")) &&
               good;
    }
    memcpy((char *)value->base + value->key->count_offset, &n, sizeof n);
    return good;
}

static bool store_item(const struct value *list, const struct tree_node *node, uint64_t *number) {
    struct value item = *list;
    struct error error;
    item.node = node;
    if (node->kind != TREE_VALUE) {
        return refuse(&item, ERROR_ID_VALUE_TYPE, "a whole number is needed");
    }
    return quantity_parse(node->text, QUANTITY_COUNT, number, &error) || refuse_quantity(&item, &error);
}

static bool store_numbers(const struct value *value, void *field) {
    const uint32_t capacity = (uint32_t)(value->key->size / sizeof(uint64_t));
    const bool is_list = value->node->kind == TREE_LIST;
    uint64_t count = value->node->n_entries;
    if (!is_list && !store_item(value, value->node, &count)) {
        return false;
    }
    if (count == 0 || count > capacity) {
        char what[ERROR_MESSAGE_SIZE];
        snprintf(what, sizeof what, "%" PRIu64 " numbers are %s", count, count == 0 ? "too few" : "too many");
        return refuse(value, ERROR_ID_VALUE_LENGTH, what);
    }
    bool good = true;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = i + 1;
        good = (!is_list || store_item(value, value->node->entries[i].value, &number)) && good;
        memcpy((char *)field + i * sizeof number, &number, sizeof number);
    }
    const uint32_t narrow = (uint32_t)count;
    memcpy((char *)value->base + value->key->count_offset, &narrow, sizeof narrow);
    return good;
}

/** Does the key take a list? Everything else is a single value. */
static bool takes_list(const struct key *key) {
    return key->type == KEY_SET || key->type == KEY_NUMBERS || key->type == KEY_NAMES;
}

bool value_reader_store(const struct key *key, const struct tree_node *node, void *base, struct error_list *errors) {
    const struct value value = {.key = key, .node = node, .base = base, .errors = errors};
    char *field = (char *)base + key->offset;
    if (node->kind == TREE_MAPPING || (node->kind == TREE_LIST && !takes_list(key)) ||
        (node->kind == TREE_VALUE && node->is_null)) {
        char what[ERROR_MESSAGE_SIZE];
        snprintf(what, sizeof what, "the value of `%s` is %s", key->name, tree_kind_name(node));
        return refuse(&value, ERROR_ID_VALUE_TYPE, what);
    }
    switch (key->type) {
    case KEY_QUANTITY:
        return store_quantity(&value, field);
    case KEY_SIGNED:
        return store_signed(&value, field);
    case KEY_REAL:
        return store_real(&value, field);
    case KEY_FLAG:
        return store_flag(&value, field);
    case KEY_CHOICE:
        return store_choice(&value, field);
    case KEY_TEXT:
        return store_text(&value, field);
    case KEY_SET:
        return store_set(&value, (bool *)field);
    case KEY_NAMES:
        return store_names(&value, field);
    case KEY_NUMBERS:
        return store_numbers(&value, field);
    case KEY_TOPOLOGY:
    case KEY_POLICIES:
    case KEY_FAILURES:
    case KEY_BACKGROUNDS:
    case KEY_AXES:
    case KEY_POINTS:
        break;
    }
    BUG("key `%s` is read elsewhere", key->name);
}
