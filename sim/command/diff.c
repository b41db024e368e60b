// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/text.h"
#include "command/arguments.h"
#include "command/command.h"
#include "config/configuration_difference.h"
#include "results/comparison.h"
#include "results/comparison_table.h"
#include "results/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct arguments_grammar command_diff_grammar = {
    .command = "diff",
    .operand = "RESULT RESULT",
    .operand_required = true,
    .more_operands = true,
    .options = ARGUMENTS_DETAIL | ARGUMENTS_JSON,
    .description = "Says what differs between two result files: keys of their configurations, and for each policy that "
                   "both have the numbers\n"
                   "side by side, with the ratio of the second to the first, seed by seed. With five seeds or more in "
                   "common, ~ marks ratios\n"
                   "that the seeds do not tell from 1.",
    .examples = "  moefabric diff before.h5 after.h5\n"
                "  moefabric diff before.h5 after.h5 --detail\n",
};

/** The two files. */
struct pair {
    const struct load *first, *second;
    const char *names[2];
};

static const struct measurement *find_run(const struct load *load, const char *policy, uint64_t seed) {
    for (uint32_t i = 0; i < load->n_runs; i++) {
        if (load->runs[i]->seed == seed && strcmp(load->runs[i]->policy, policy) == 0) {
            return load->runs[i];
        }
    }
    return NULL;
}

/** Runs of a policy that both files have, as a comparison of the files; *alike tells whether each pair had the same traffic. NULL if there are none. */
static struct comparison *compare_policy(const struct pair *pair, const char *policy, bool *alike) {
    uint32_t n_seeds = 0;
    for (uint32_t i = 0; i < pair->first->n_runs; i++) {
        const struct measurement *run = pair->first->runs[i];
        n_seeds += strcmp(run->policy, policy) == 0 && find_run(pair->second, policy, run->seed) != NULL;
    }
    if (n_seeds == 0) {
        return NULL;
    }
    struct comparison *comparison = comparison_create(2, pair->names, n_seeds);
    uint32_t seed = 0;
    *alike = true;
    for (uint32_t i = 0; i < pair->first->n_runs; i++) {
        const struct measurement *run = pair->first->runs[i];
        const struct measurement *other = find_run(pair->second, policy, run->seed);
        if (strcmp(run->policy, policy) == 0 && other != NULL) {
            *alike = *alike && run->totals.traffic_digest == other->totals.traffic_digest;
            comparison_set(comparison, 0, seed, summary_create(run));
            comparison_set(comparison, 1, seed++, summary_create(other));
        }
    }
    return comparison;
}

/** Whether all rows are the same in each seed. */
static bool is_same(const struct comparison *comparison) {
    struct comparison_rows rows = comparison_rows(comparison, true);
    bool same = true;
    for (uint32_t i = 0; i < rows.count && same; i++) {
        const struct comparison_range *ranges = rows.rows[i].ranges, *ratio = &rows.rows[i].ratios[1];
        same = ranges[0].count == ranges[1].count && ranges[0].mean == ranges[1].mean &&
               ranges[0].low == ranges[1].low && ranges[0].high == ranges[1].high &&
               (ratio->count == 0 || (ratio->low == 1.0 && ratio->high == 1.0));
    }
    comparison_rows_free(&rows);
    return same;
}

static void print_policy(const struct pair *pair, const char *policy, bool detail) {
    bool alike = true;
    struct comparison *comparison = compare_policy(pair, policy, &alike);
    printf("\n%s: ", policy);
    if (comparison == NULL) {
        printf("no seed in common\n");
    } else if (is_same(comparison)) {
        printf("every number is the same, %" PRIu32 " seed%s\n", comparison->n_seeds,
               comparison->n_seeds > 1 ? "s" : "");
    } else {
        printf("%s\n\n", alike ? "the same traffic" : "the traffic differs, so runs of a seed are no pairs");
        comparison_table_print(comparison, detail, stdout);
    }
    comparison_free(comparison);
}

static void print_lacking(const struct load *load, const struct load *other, const char *name) {
    for (uint32_t i = 0; i < load->n_runs; i++) {
        const char *policy = load->runs[i]->policy;
        if (!load_has_policy(load, policy, i) && !load_has_policy(other, policy, other->n_runs)) {
            printf("\n%s: only in %s\n", policy, name);
        }
    }
}

/* The configurations of results are of unknown origin. */
static void print_disarmed(const char *text) {
    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        length = text_control(text);
        putchar(length > 0 ? '?' : *text);
    }
}

static void print_changes(const struct configuration_difference *difference) {
    if (difference->count == 0) {
        puts("The configurations are the same.");
    }
    for (uint32_t i = 0; i < difference->count; i++) {
        const struct configuration_change *change = &difference->changes[i];
        print_disarmed(change->key);
        fputs(": ", stdout);
        print_disarmed(change->before != NULL ? change->before : "(not there)");
        fputs(" → ", stdout);
        print_disarmed(change->after != NULL ? change->after : "(not there)");
        putchar('\n');
    }
}

static void print_text(const struct pair *pair, const struct configuration_difference *difference, bool detail) {
    print_changes(difference);
    for (uint32_t i = 0; i < pair->first->n_runs; i++) {
        const char *policy = pair->first->runs[i]->policy;
        if (!load_has_policy(pair->first, policy, i) && load_has_policy(pair->second, policy, pair->second->n_runs)) {
            print_policy(pair, policy, detail);
        }
    }
    print_lacking(pair->first, pair->second, pair->names[0]);
    print_lacking(pair->second, pair->first, pair->names[1]);
}

static void put_change(const struct configuration_change *change, struct json *json) {
    json_object(json);
    json_member_text(json, "key", change->key);
    json_member_text(json, "before", change->before);
    json_member_text(json, "after", change->after);
    json_object_end(json);
}

static void put_policy(const struct pair *pair, const char *policy, struct json *json) {
    bool alike = true;
    struct comparison *comparison = compare_policy(pair, policy, &alike);
    json_object(json);
    json_member_text(json, "policy", policy);
    json_member_boolean(json, "in_first", load_has_policy(pair->first, policy, pair->first->n_runs));
    json_member_boolean(json, "in_second", load_has_policy(pair->second, policy, pair->second->n_runs));
    json_member_boolean(json, "same_traffic", comparison != NULL && alike);
    if (comparison != NULL) {
        json_name(json, "comparison");
        comparison_json(comparison, json);
    }
    json_object_end(json);
    comparison_free(comparison);
}

static void print_json(const struct pair *pair, const struct configuration_difference *difference) {
    struct json json = json_begin(stdout);
    json_object(&json);
    json_name(&json, "configuration");
    json_array(&json);
    for (uint32_t i = 0; i < difference->count; i++) {
        put_change(&difference->changes[i], &json);
    }
    json_array_end(&json);
    json_name(&json, "policies");
    json_array(&json);
    for (uint32_t i = 0; i < pair->first->n_runs; i++) {
        if (!load_has_policy(pair->first, pair->first->runs[i]->policy, i)) {
            put_policy(pair, pair->first->runs[i]->policy, &json);
        }
    }
    for (uint32_t i = 0; i < pair->second->n_runs; i++) {
        const char *policy = pair->second->runs[i]->policy;
        if (!load_has_policy(pair->second, policy, i) && !load_has_policy(pair->first, policy, pair->first->n_runs)) {
            put_policy(pair, policy, &json);
        }
    }
    json_array_end(&json);
    json_object_end(&json);
    json_end(&json);
}

static bool compare_files(const struct arguments *given, const struct pair *pair, struct error *error) {
    struct configuration_difference difference;
    if (!configuration_difference_find(pair->first->configuration, pair->second->configuration, &difference, error)) {
        return false;
    }
    if (given->json) {
        print_json(pair, &difference);
    } else {
        print_text(pair, &difference, given->detail);
    }
    configuration_difference_free(&difference);
    return true;
}

static int refuse_count(uint32_t n) {
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "two result files are needed, not %" PRIu32, n);
    error_hint(&error, "`moefabric diff --help` tells what is allowed");
    error_print(stderr, &error);
    return EXIT_CODE_USAGE;
}

int command_diff(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_diff_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (given.n_operands != 2) {
        return refuse_count(given.n_operands);
    }
    struct load *first = load_read(given.operands[0], &error);
    struct load *second = first != NULL ? load_read(given.operands[1], &error) : NULL;
    const struct pair pair = {first, second, {given.operands[0], given.operands[1]}};
    const bool done = second != NULL && compare_files(&given, &pair, &error);
    load_free(first);
    load_free(second);
    if (!done) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    return EXIT_CODE_OK;
}
