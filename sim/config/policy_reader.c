// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/policy_reader.h"

#include "base/nearest.h"
#include "config/key.h"
#include "config/section_reader.h"
#include "config/value_reader.h"

#include <string.h>

static const char form[] =
    "a policy is PATH[(QUEUE_PAIRS)]+CONGESTION[+split_messages][+early_pacing][+polarised][+global_context]";

/** A short form being read. */
struct short_form {
    const struct tree_node *node;
    struct experiment_policy *policy;
    struct error_list *errors;
};

static const struct key *policy_key(const char *name) {
    return key_find(key_section(experiment_keys(), "policies"), name);
}

/** Number of names of a key. */
static size_t count_names(const struct key *key) {
    size_t n = 0;
    while (key->names[n] != NULL) {
        n++;
    }
    return n;
}

static bool is_name_of(const struct key *key, const char *text) {
    for (size_t i = 0; key->names[i] != NULL; i++) {
        if (strcmp(key->names[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/** The place of a part of the text: parts are ASCII or wrong from there on. */
static struct tree_place place_of(const struct short_form *form_, size_t offset) {
    struct tree_place place = form_->node->place;
    place.column += (unsigned)offset + form_->node->quoted;
    return place;
}

static void report_part(const struct short_form *is, size_t offset, const char *part, const char *const *names,
                        size_t n, const char *what) {
    char hint[ERROR_MESSAGE_SIZE];
    const char *nearest = nearest_name(part, names, n);
    size_t length = 0;
    hint[0] = '\0';
    if (nearest != NULL) {
        length = (size_t)snprintf(hint, sizeof hint, "did you mean `%s`? ", nearest);
    }
    length += (size_t)snprintf(hint + length, sizeof hint - length, "%s:", what);
    for (size_t i = 0; i < n && length < sizeof hint; i++) {
        length += (size_t)snprintf(hint + length, sizeof hint - length, "%s %s", i == 0 ? "" : ",", names[i]);
    }
    tree_report(is->errors, place_of(is, offset), ERROR_ID_POLICY, hint, "`%.60s` is unknown", part);
}

/** PATH or PATH(QUEUE_PAIRS). */
static void read_path(const struct short_form *is, char *part) {
    const struct key *key = policy_key("path");
    char *open = strchr(part, '(');
    if (open != NULL) {
        const size_t length = strlen(open);
        const size_t offset = (size_t)(open - part) + 1;
        if (open[length - 1] != ')') {
            tree_report(is->errors, place_of(is, offset - 1), ERROR_ID_POLICY, form, "the bracket is not closed");
            return;
        }
        open[length - 1] = '\0';
        *open = '\0';
        struct tree_node number = {.kind = TREE_VALUE, .place = place_of(is, offset), .text = open + 1};
        value_reader_store(policy_key("queue_pairs"), &number, is->policy, is->errors);
    }
    if (!is_name_of(key, part)) {
        report_part(is, 0, part, key->names, count_names(key), "paths");
        return;
    }
    snprintf(is->policy->path, sizeof is->policy->path, "%.63s", part);
}

/** CONGESTION, split_messages, early_pacing, polarised or global_context. */
static void read_part(const struct short_form *is, size_t offset, const char *part) {
    const struct key *key = policy_key("congestion");
    if (strcmp(part, "split_messages") == 0) {
        is->policy->split_messages = true;
    } else if (strcmp(part, "early_pacing") == 0) {
        is->policy->early_pacing = true;
    } else if (strcmp(part, "polarised") == 0) {
        is->policy->polarised = true;
    } else if (strcmp(part, "global_context") == 0) {
        is->policy->global_context = true;
    } else if (is->policy->congestion[0] == '\0' && is_name_of(key, part)) {
        snprintf(is->policy->congestion, sizeof is->policy->congestion, "%.63s", part);
    } else if (is_name_of(key, part)) {
        tree_report(is->errors, place_of(is, offset), ERROR_ID_POLICY, form,
                    "a policy has one congestion controller, `%s` is the second", part);
    } else {
        const char *names[16] = {"split_messages", "early_pacing", "polarised", "global_context"};
        size_t n = 4;
        for (size_t i = 0; key->names[i] != NULL && n < 16; i++) {
            names[n++] = key->names[i];
        }
        report_part(is, offset, part, names, n, "controllers and options");
    }
}

static void read_short(const struct short_form *is) {
    const unsigned before = is->errors->count + is->errors->dropped;
    const size_t length = strlen(is->node->text);
    char text[EXPERIMENT_NAME_SIZE * 2];
    if (length >= sizeof text) {
        tree_report(is->errors, is->node->place, ERROR_ID_POLICY, form, "the policy has %zu bytes", length);
        return;
    }
    for (size_t start = 0; start <= length;) {
        const size_t part = strcspn(is->node->text + start, "+");
        snprintf(text, sizeof text, "%.*s", (int)part, is->node->text + start);
        if (start == 0) {
            read_path(is, text);
        } else {
            read_part(is, start, text);
        }
        start += part + 1;
    }
    if (is->policy->congestion[0] == '\0' && is->errors->count + is->errors->dropped == before) {
        tree_report(is->errors, is->node->place, ERROR_ID_POLICY, form, "`%.60s` names no congestion controller",
                    is->node->text);
    }
}

void policy_reader_print(char *buffer, size_t size, const struct experiment_policy *policy) {
    char pairs[16] = "";
    if (policy->queue_pairs != 1) {
        snprintf(pairs, sizeof pairs, "(%u)", (unsigned)policy->queue_pairs);
    }
    snprintf(buffer, size, "%s%s+%s%s%s%s%s", policy->path, pairs, policy->congestion,
             policy->split_messages ? "+split_messages" : "", policy->early_pacing ? "+early_pacing" : "",
             policy->polarised ? "+polarised" : "", policy->global_context ? "+global_context" : "");
}

static void read_item(const struct tree_node *node, struct experiment_policy *policy, struct error_list *errors) {
    const struct section *section = key_section(experiment_keys(), "policies");
    memset(policy, 0, sizeof *policy);
    section_reader_section_defaults(section, policy);
    if (node->kind == TREE_MAPPING) {
        section_reader_read_section(section, node, policy, errors);
    } else if (node->kind == TREE_VALUE && !node->is_null) {
        read_short(&(struct short_form){.node = node, .policy = policy, .errors = errors});
    } else {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, form, "a policy is %s", tree_kind_name(node));
    }
    if (policy->name[0] == '\0') {
        policy_reader_print(policy->name, sizeof policy->name, policy);
    }
}

void policy_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors) {
    if (node->kind != TREE_LIST) {
        read_item(node, &experiment->policies[0], errors);
        experiment->n_policies = 1;
        return;
    }
    if (node->n_entries == 0 || node->n_entries > EXPERIMENT_COLUMNS) {
        tree_report(errors, node->place, ERROR_ID_VALUE_LENGTH, form, "%u policies are %s (1 to %d are allowed)",
                    (unsigned)node->n_entries, node->n_entries == 0 ? "too few" : "too many", EXPERIMENT_COLUMNS);
    }
    for (uint32_t i = 0; i < node->n_entries && i < EXPERIMENT_COLUMNS; i++) {
        read_item(node->entries[i].value, &experiment->policies[i], errors);
        experiment->n_policies = i + 1;
    }
}
