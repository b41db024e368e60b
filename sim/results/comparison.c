// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/comparison.h"

#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparison *comparison_create(uint32_t n_policies, const char *const *policies, uint32_t n_seeds) {
    struct comparison *comparison = memory_allocate(1, sizeof *comparison);
    comparison->n_policies = n_policies;
    comparison->n_seeds = n_seeds;
    comparison->policies = memory_allocate(n_policies, sizeof *comparison->policies);
    comparison->summaries = memory_allocate((size_t)n_policies * n_seeds, sizeof *comparison->summaries);
    for (uint32_t policy = 0; policy < n_policies; policy++) {
        snprintf(comparison->policies[policy], sizeof comparison->policies[policy], "%s", policies[policy]);
    }
    return comparison;
}

void comparison_set(struct comparison *comparison, uint32_t policy, uint32_t seed, struct summary *summary) {
    REQUIRE(policy < comparison->n_policies && seed < comparison->n_seeds, "no place %u, %u in a comparison", policy,
            seed);
    struct summary **place = &comparison->summaries[(size_t)policy * comparison->n_seeds + seed];
    REQUIRE(*place == NULL, "two summaries for policy %u, seed number %u", policy, seed);
    *place = summary;
}

/** Whether two runs have the same policy, or the same seed. */
static bool share(const struct measurement *one, const struct measurement *two, bool by_seed) {
    return by_seed ? one->seed == two->seed : strcmp(one->policy, two->policy) == 0;
}

/** Numbers policies or seeds in the order in which they first occur: fills the number of each run and returns how many there are. */
static uint32_t number_runs(struct measurement *const *runs, uint32_t n_runs, bool by_seed, uint32_t *numbers) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_runs; i++) {
        uint32_t first = 0;
        while (first < i && !share(runs[first], runs[i], by_seed)) {
            first++;
        }
        numbers[i] = first < i ? numbers[first] : count++;
    }
    return count;
}

struct comparison *comparison_of_runs(struct measurement *const *runs, uint32_t n_runs) {
    uint32_t *policies = memory_allocate(n_runs, sizeof *policies), *seeds = memory_allocate(n_runs, sizeof *seeds);
    const char **names = memory_allocate(n_runs, sizeof *names);
    const uint32_t n_policies = number_runs(runs, n_runs, false, policies);
    const uint32_t n_seeds = number_runs(runs, n_runs, true, seeds);
    for (uint32_t i = 0; i < n_runs; i++) {
        names[policies[i]] = runs[i]->policy;
    }
    struct comparison *comparison = comparison_create(n_policies, names, n_seeds);
    for (uint32_t i = 0; i < n_runs; i++) {
        comparison_set(comparison, policies[i], seeds[i], summary_create(runs[i]));
    }
    free(names);
    free(seeds);
    free(policies);
    return comparison;
}

static const struct summary *find(const struct comparison *comparison, uint32_t policy, uint32_t seed) {
    return comparison->summaries[(size_t)policy * comparison->n_seeds + seed];
}

const struct summary *comparison_any(const struct comparison *comparison) {
    for (size_t i = 0; i < (size_t)comparison->n_policies * comparison->n_seeds; i++) {
        if (comparison->summaries[i] != NULL) {
            return comparison->summaries[i];
        }
    }
    return NULL;
}

/** What the offsets of a row's metric are in. */
static const void *part_of(const struct comparison_row *row, const struct summary *summary) {
    return row->per_phase ? (const void *)&summary->phases[row->phase] : summary;
}

/** A row's value for one run; NAN if it was not run or is not defined. */
static double row_value(const struct comparison_row *row, const struct summary *summary) {
    if (summary == NULL || (row->of_finished && summary->outcome != MEASUREMENT_FINISHED) ||
        (row->per_phase && row->phase >= summary->n_phases)) {
        return NAN;
    }
    return metric_value(row->metric, part_of(row, summary));
}

bool comparison_row_is_thin(const struct comparison *comparison, const struct comparison_row *row, uint64_t *count) {
    bool thin = false;
    for (size_t i = 0; i < (size_t)comparison->n_policies * comparison->n_seeds; i++) {
        const struct summary *summary = comparison->summaries[i];
        uint64_t values;
        if (!isnan(row_value(row, summary)) && metric_is_thin(row->metric, part_of(row, summary), &values)) {
            *count = !thin || values < *count ? values : *count;
            thin = true;
        }
    }
    return thin;
}

static const struct comparison_range undefined = {
    .mean = NAN, .low = NAN, .high = NAN, .interval = {.low = NAN, .high = NAN}};

/** Moves the values that are defined to the front; returns how many there are. */
static uint32_t keep_defined(double *values, uint32_t n_values) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_values; i++) {
        if (!isnan(values[i])) {
            values[count++] = values[i];
        }
    }
    return count;
}

struct comparison_range comparison_range_of(double *values, uint32_t n_values) {
    struct comparison_range range = {.low = INFINITY, .high = -INFINITY, .count = keep_defined(values, n_values)};
    if (range.count == 0) {
        return undefined;
    }
    for (uint32_t i = 0; i < range.count; i++) {
        range.mean += values[i];
        range.low = fmin(range.low, values[i]);
        range.high = fmax(range.high, values[i]);
    }
    range.mean /= range.count;
    range.interval = interval_of_mean(values, range.count);
    return range;
}

static void take_values(const struct comparison *comparison, const struct comparison_row *row, uint32_t policy,
                        double *values) {
    for (uint32_t seed = 0; seed < comparison->n_seeds; seed++) {
        values[seed] = row_value(row, find(comparison, policy, seed));
    }
}

uint32_t comparison_reference(const struct comparison *comparison, uint32_t policy) {
    const char *name = comparison->policies[policy];
    const size_t length = strlen(name), more = strlen(MEASUREMENT_FLUID_SUFFIX);
    if (length <= more || strcmp(&name[length - more], MEASUREMENT_FLUID_SUFFIX) != 0) {
        return 0;
    }
    for (uint32_t other = 0; other < comparison->n_policies; other++) {
        if (strncmp(comparison->policies[other], name, length - more) == 0 &&
            comparison->policies[other][length - more] == '\0') {
            return other;
        }
    }
    return 0;
}

/** The ratios of a policy to its reference, seed by seed; false if one of that one's is 0. */
static bool take_ratios(const struct comparison *comparison, const struct comparison_row *row, uint32_t policy,
                        double *values) {
    const uint32_t reference = comparison_reference(comparison, policy);
    bool positive = true;
    take_values(comparison, row, policy, values);
    for (uint32_t seed = 0; seed < comparison->n_seeds; seed++) {
        const double first = row_value(row, find(comparison, reference, seed));
        positive = positive && (isnan(first) || isnan(values[seed]) || first > 0.0);
        values[seed] /= first; /* NAN if either is */
    }
    return positive;
}

static void fill_policy(const struct comparison *comparison, struct comparison_row *row, uint32_t policy) {
    double *values = memory_allocate(comparison->n_seeds, sizeof *values);
    take_values(comparison, row, policy, values);
    row->ranges[policy] = comparison_range_of(values, comparison->n_seeds);
    const bool positive = take_ratios(comparison, row, policy, values);
    row->ratios[policy] = positive ? comparison_range_of(values, comparison->n_seeds) : undefined;
    free(values);
}

/** Fills the ranges; tells whether the row says anything. */
static bool fill_row(const struct comparison *comparison, struct comparison_row *row, bool detail) {
    bool defined = false, any = false;
    for (uint32_t policy = 0; policy < comparison->n_policies; policy++) {
        fill_policy(comparison, row, policy);
        defined = defined || row->ranges[policy].count > 0;
        any = any || row->ranges[policy].high > 0.0;
    }
    return defined && (detail || row->metric->visibility != METRIC_DETAIL) &&
           (any || row->metric->visibility != METRIC_IF_ANY);
}

static void name_row(struct comparison_row *row, const char *phase_name) {
    const char *first = row->per_phase ? phase_name : row->metric->group;
    snprintf(row->name, sizeof row->name, "%s%s%s", first, row->metric->row[0] != '\0' ? " " : "", row->metric->row);
}

static void add_rows(const struct comparison *comparison, const struct metric_section *section, uint32_t phase,
                     const char *phase_name, bool detail, struct comparison_rows *rows) {
    for (size_t i = 0; i < section->count; i++) {
        rows->rows = memory_resize(rows->rows, (size_t)rows->count + 1, sizeof *rows->rows);
        struct comparison_row *row = &rows->rows[rows->count];
        *row = (struct comparison_row){
            .metric = &section->metrics[i],
            .of_finished = section->of_finished,
            .per_phase = section->per_phase,
            .phase = phase,
            .ranges = memory_allocate(comparison->n_policies, sizeof *row->ranges),
            .ratios = memory_allocate(comparison->n_policies, sizeof *row->ratios),
        };
        name_row(row, phase_name);
        if (fill_row(comparison, row, detail)) {
            rows->count++;
        } else {
            free(row->ranges);
            free(row->ratios);
        }
    }
}

struct comparison_rows comparison_rows(const struct comparison *comparison, bool detail) {
    struct comparison_rows rows = {0};
    const struct summary *any = comparison_any(comparison);
    if (any == NULL) {
        return rows;
    }
    for (size_t i = 0; i < metric_sections_count; i++) {
        const struct metric_section *section = &metric_sections[i];
        if (section->of_design) {
            continue;
        }
        if (!section->per_phase) {
            add_rows(comparison, section, 0, "", detail, &rows);
            continue;
        }
        for (uint32_t phase = 0; phase < any->n_phases; phase++) {
            if (any->phases[phase].kind != MEASUREMENT_PHASE_CONTROL) {
                add_rows(comparison, section, phase, any->phases[phase].name, detail, &rows);
            }
        }
    }
    return rows;
}

bool comparison_is_open(const struct comparison_range *ratio) {
    return ratio->interval.low < ratio->interval.high && ratio->interval.low <= 1.0 && ratio->interval.high >= 1.0;
}

void comparison_rows_free(struct comparison_rows *rows) {
    for (uint32_t i = 0; i < rows->count; i++) {
        free(rows->rows[i].ranges);
        free(rows->rows[i].ratios);
    }
    free(rows->rows);
    *rows = (struct comparison_rows){0};
}

static void put_policy_values(const struct comparison *comparison, const struct comparison_row *row, uint32_t policy,
                              struct json *json) {
    const struct comparison_range *range = &row->ranges[policy];
    json_object(json);
    json_member_text(json, "policy", comparison->policies[policy]);
    json_member_number(json, "mean", range->mean);
    json_member_number(json, "lowest", range->low);
    json_member_number(json, "highest", range->high);
    json_member_number(json, "interval_low", range->interval.low);
    json_member_number(json, "interval_high", range->interval.high);
    json_member_number(json, "ratio_to_first", row->ratios[policy].mean);
    json_member_number(json, "lowest_ratio", row->ratios[policy].low);
    json_member_number(json, "highest_ratio", row->ratios[policy].high);
    json_member_number(json, "ratio_interval_low", row->ratios[policy].interval.low);
    json_member_number(json, "ratio_interval_high", row->ratios[policy].interval.high);
    json_name(json, "seeds");
    json_array(json);
    for (uint32_t seed = 0; seed < comparison->n_seeds; seed++) {
        json_number(json, row_value(row, find(comparison, policy, seed)));
    }
    json_array_end(json);
    json_object_end(json);
}

static void put_row(const struct comparison *comparison, const struct comparison_row *row, struct json *json) {
    json_object(json);
    json_member_text(json, "metric", row->metric->id);
    if (row->per_phase) {
        json_member_text(json, "phase", comparison_any(comparison)->phases[row->phase].name);
    }
    json_member_text(json, "name", row->name);
    json_member_text(json, "unit", metric_kept_unit(row->metric->quantity));
    json_member_text(json, "meaning", metric_legend(row->metric->group));
    json_name(json, "policies");
    json_array(json);
    for (uint32_t policy = 0; policy < comparison->n_policies; policy++) {
        put_policy_values(comparison, row, policy, json);
    }
    json_array_end(json);
    json_object_end(json);
}

const char *comparison_outcome_name(enum measurement_outcome outcome) {
    static const char *const names[] = {
        [MEASUREMENT_FINISHED] = "finished",
        [MEASUREMENT_LIMIT] = "limit reached",
        [MEASUREMENT_STALLED] = "stalled",
        [MEASUREMENT_INTERRUPTED] = "interrupted",
        [MEASUREMENT_WALL_TIME] = "wall time reached",
        [MEASUREMENT_MEMORY] = "memory reached",
    };
    return names[outcome];
}

/** What is no number with a range: outcome, digest, where the worst queue was, and why flows were slow. */
static void put_run(const struct summary *summary, struct json *json) {
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, summary->traffic_digest);
    json_object(json);
    json_member_text(json, "policy", summary->policy);
    json_member_whole(json, "seed", summary->seed);
    json_member_text(json, "outcome", comparison_outcome_name(summary->outcome));
    json_member_text(json, "traffic_digest", digest);
    if (summary->hot_rank != MEASUREMENT_NONE) {
        json_member_whole(json, "hot_rank", summary->hot_rank);
    }
    json_member_text(json, "worst_queue", summary->worst_queue[0] != '\0' ? summary->worst_queue : NULL);
    json_name(json, "explanations");
    json_array(json);
    for (uint32_t i = 0; i < summary->n_explanations; i++) {
        json_text(json, summary->explanations[i].text);
    }
    json_array_end(json);
    json_object_end(json);
}

void comparison_json(const struct comparison *comparison, struct json *json) {
    struct comparison_rows rows = comparison_rows(comparison, true);
    json_object(json);
    json_name(json, "runs");
    json_array(json);
    for (size_t i = 0; i < (size_t)comparison->n_policies * comparison->n_seeds; i++) {
        if (comparison->summaries[i] != NULL) {
            put_run(comparison->summaries[i], json);
        }
    }
    json_array_end(json);
    json_name(json, "metrics");
    json_array(json);
    for (uint32_t i = 0; i < rows.count; i++) {
        put_row(comparison, &rows.rows[i], json);
    }
    json_array_end(json);
    json_object_end(json);
    comparison_rows_free(&rows);
}

void comparison_free(struct comparison *comparison) {
    if (comparison == NULL) {
        return;
    }
    for (size_t i = 0; i < (size_t)comparison->n_policies * comparison->n_seeds; i++) {
        summary_free(comparison->summaries[i]);
    }
    free(comparison->summaries);
    free(comparison->policies);
    free(comparison);
}
