// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/sweep_table.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text) {
    char *copy = memory_allocate(strlen(text) + 1, 1);
    strcpy(copy, text);
    return copy;
}

struct sweep_table *sweep_table_create(const char *title, const char *program_version, uint32_t n_axes,
                                       const char *const *axes) {
    struct sweep_table *table = memory_allocate(1, sizeof *table);
    table->title = copy_of(title);
    table->program_version = copy_of(program_version);
    table->n_axes = n_axes;
    table->axes = memory_allocate(n_axes, sizeof *table->axes);
    for (uint32_t i = 0; i < n_axes; i++) {
        snprintf(table->axes[i], sizeof table->axes[i], "%s", axes[i]);
    }
    return table;
}

struct sweep_point *sweep_table_add_point(struct sweep_table *table, uint64_t number, const char *const *values) {
    table->points = memory_resize(table->points, (size_t)table->n_points + 1, sizeof *table->points);
    struct sweep_point *point = &table->points[table->n_points++];
    *point = (struct sweep_point){.number = number,
                                  .error = copy_of(""),
                                  .configuration = copy_of(""),
                                  .values = memory_allocate(table->n_axes, sizeof *point->values)};
    for (uint32_t i = 0; i < table->n_axes; i++) {
        point->values[i] = copy_of(values[i]);
    }
    return point;
}

void sweep_table_set_text(char **text, const char *value) {
    char *copy = copy_of(value);
    free(*text);
    *text = copy;
}

/** Finds a metric of the program by its id, among those of phases or of whole runs. */
static const struct metric *find_metric(const char *id, bool per_phase) {
    for (size_t s = 0; s < metric_sections_count; s++) {
        const struct metric_section *section = &metric_sections[s];
        for (size_t i = 0; section->per_phase == per_phase && i < section->count; i++) {
            if (strcmp(section->metrics[i].id, id) == 0) {
                return &section->metrics[i];
            }
        }
    }
    return NULL;
}

/** Words of a metric, as in the rows of a comparison. */
static void name_metric(struct sweep_metric *made, const char *phase, int length) {
    const struct metric *metric = made->metric;
    const char *separator = metric->row[0] != '\0' ? " " : "";
    if (length > 0) {
        snprintf(made->title, sizeof made->title, "%.*s%s%s", length, phase, separator, metric->row);
    } else {
        snprintf(made->title, sizeof made->title, "%s%s%s", metric->group, separator, metric->row);
    }
}

uint32_t sweep_table_metric(struct sweep_table *table, const char *name) {
    for (uint32_t i = 0; i < table->n_metrics; i++) {
        if (strcmp(table->metrics[i].name, name) == 0) {
            return i;
        }
    }
    const char *slash = strrchr(name, '/');
    const struct metric *metric = find_metric(slash != NULL ? slash + 1 : name, slash != NULL);
    if (metric == NULL) {
        return UINT32_MAX;
    }
    table->metrics = memory_resize(table->metrics, (size_t)table->n_metrics + 1, sizeof *table->metrics);
    struct sweep_metric *made = &table->metrics[table->n_metrics];
    *made = (struct sweep_metric){.metric = metric};
    snprintf(made->name, sizeof made->name, "%s", name);
    name_metric(made, name, slash != NULL ? (int)(slash - name) : 0);
    return table->n_metrics++;
}

static void set_value(struct sweep_run *run, uint32_t metric, double value) {
    if (metric >= run->n_values) {
        run->values = memory_resize(run->values, (size_t)metric + 1, sizeof *run->values);
        for (; run->n_values <= metric; run->n_values++) {
            run->values[run->n_values] = NAN;
        }
    }
    run->values[metric] = isnan(value) ? NAN : value; /* one pattern of bits, whatever made it */
}

void sweep_table_set_values(const struct sweep_table *table, struct sweep_run *run, const double *values,
                            const uint32_t *indexes, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (indexes[i] < table->n_metrics) {
            set_value(run, indexes[i], values[i]);
        }
    }
}

/** All metrics of a section for a run, or for a phase of it. */
static void add_values(struct sweep_table *table, struct sweep_run *run, const struct metric_section *section,
                       const void *part, const char *phase) {
    const bool defined = !section->of_finished || run->outcome == MEASUREMENT_FINISHED;
    for (size_t i = 0; i < section->count; i++) {
        char name[SWEEP_TABLE_METRIC_SIZE];
        snprintf(name, sizeof name, "%s%s%s", phase, phase[0] != '\0' ? "/" : "", section->metrics[i].id);
        const uint32_t metric = sweep_table_metric(table, name);
        REQUIRE(metric != UINT32_MAX, "metric %s is known", name);
        set_value(run, metric, defined ? metric_value(&section->metrics[i], part) : NAN);
    }
}

void sweep_table_add_run(struct sweep_table *table, struct sweep_point *point, const struct summary *summary) {
    point->runs = memory_resize(point->runs, (size_t)point->n_runs + 1, sizeof *point->runs);
    struct sweep_run *run = &point->runs[point->n_runs++];
    *run = (struct sweep_run){
        .seed = summary->seed, .outcome = summary->outcome, .traffic_digest = summary->traffic_digest};
    snprintf(run->policy, sizeof run->policy, "%s", summary->policy);
    for (size_t s = 0; s < metric_sections_count; s++) {
        const struct metric_section *section = &metric_sections[s];
        if (!section->per_phase && !section->of_design) {
            add_values(table, run, section, summary, "");
        }
        for (uint32_t p = 0; section->per_phase && p < summary->n_phases; p++) {
            if (summary->phases[p].kind != MEASUREMENT_PHASE_CONTROL) {
                add_values(table, run, section, &summary->phases[p], summary->phases[p].name);
            }
        }
    }
}

static void free_runs(struct sweep_point *point) {
    for (uint32_t i = 0; i < point->n_runs; i++) {
        free(point->runs[i].values);
    }
    free(point->runs);
    point->runs = NULL;
    point->n_runs = 0;
}

void sweep_table_absorb(struct sweep_table *table, struct sweep_point *point, const struct sweep_table *other,
                        struct sweep_point *given) {
    free_runs(point);
    point->hash = given->hash;
    point->outcome = given->outcome;
    sweep_table_set_text(&point->error, given->error);
    sweep_table_set_text(&point->configuration, given->configuration);
    point->runs = given->runs;
    point->n_runs = given->n_runs;
    given->runs = NULL;
    given->n_runs = 0;
    for (uint32_t i = 0; i < point->n_runs; i++) {
        struct sweep_run *run = &point->runs[i];
        const struct sweep_run old = *run;
        run->values = NULL;
        run->n_values = 0;
        for (uint32_t m = 0; m < old.n_values; m++) {
            set_value(run, sweep_table_metric(table, other->metrics[m].name), old.values[m]);
        }
        free(old.values);
    }
}

double sweep_table_value(const struct sweep_run *run, uint32_t metric) {
    return metric < run->n_values ? run->values[metric] : NAN;
}

struct comparison_range sweep_table_range(const struct sweep_point *point, uint32_t first, uint32_t end,
                                          uint32_t metric) {
    double *values = memory_allocate(end - first, sizeof *values);
    for (uint32_t i = first; i < end; i++) {
        values[i - first] = sweep_table_value(&point->runs[i], metric);
    }
    const struct comparison_range range = comparison_range_of(values, end - first);
    free(values);
    return range;
}

uint32_t sweep_table_policy_end(const struct sweep_point *point, uint32_t first) {
    uint32_t end = first + 1;
    while (end < point->n_runs && strcmp(point->runs[end].policy, point->runs[first].policy) == 0) {
        end++;
    }
    return end;
}

enum measurement_outcome sweep_table_outcome(const struct sweep_point *point, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (point->runs[i].outcome != MEASUREMENT_FINISHED) {
            return point->runs[i].outcome;
        }
    }
    return MEASUREMENT_FINISHED;
}

const char *sweep_table_outcome_name(enum sweep_outcome outcome) {
    static const char *const names[] = {
        [SWEEP_MISSING] = "not run", [SWEEP_DONE] = "done", [SWEEP_REFUSED] = "refused", [SWEEP_FAILED] = "failed"};
    return names[outcome];
}

void sweep_table_free(struct sweep_table *table) {
    if (table == NULL) {
        return;
    }
    for (uint32_t p = 0; p < table->n_points; p++) {
        struct sweep_point *point = &table->points[p];
        free_runs(point);
        for (uint32_t i = 0; i < table->n_axes; i++) {
            free(point->values[i]);
        }
        free(point->values);
        free(point->error);
        free(point->configuration);
    }
    free(table->points);
    free(table->metrics);
    free(table->axes);
    free(table->title);
    free(table->program_version);
    free(table);
}
