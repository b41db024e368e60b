// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/sweep_print.h"

#include "base/memory.h"
#include "base/table.h"
#include "results/comparison_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, CELL_SIZE = 96, MOST_COLUMNS = 64 };

/* What the three questions ask of a design: how long, how bad the tail, how much of the fabric is used, what goes wrong. */
static const char *const headlines[] = {"rank_time.max",
                                        "rank_time.p99",
                                        "slowdown.p99",
                                        "busbw",
                                        "worst_queue",
                                        "step_time",
                                        "time_to_train",
                                        "tokens_per_s",
                                        "tokens_per_s_gpu",
                                        "output_token_time",
                                        "power",
                                        "all_to_all.p99",
                                        "network_power",
                                        "cost",
                                        "goodput",
                                        NULL};
static const char *const details[] = {"simulated_time",
                                      "message_time.p50",
                                      "message_time.p99",
                                      "time",
                                      "ideal_share",
                                      "algbw",
                                      "fabric_payload",
                                      "ecn_marks",
                                      "paused_time",
                                      "drops_lossy",
                                      "drops_lossless",
                                      "retransmissions",
                                      "undelivered",
                                      "switches",
                                      "optical_modules",
                                      "gpu_memory",
                                      NULL};

static bool is_among(const struct metric *metric, const char *const *ids) {
    for (; *ids != NULL; ids++) {
        if (strcmp(metric->id, *ids) == 0) {
            return true;
        }
    }
    return false;
}

/** The largest value of a metric; NAN if it is not defined for any run. */
static double largest_of(const struct sweep_table *table, uint32_t metric) {
    double largest = NAN;
    for (uint32_t p = 0; p < table->n_points; p++) {
        for (uint32_t r = 0; r < table->points[p].n_runs; r++) {
            largest = fmax(largest, sweep_table_value(&table->points[p].runs[r], metric)); /* passes NAN over */
        }
    }
    return largest;
}

/** Rows that only tell of what should never happen are shown where it does. */
static bool is_shown(const struct sweep_table *table, uint32_t metric) {
    const double largest = largest_of(table, metric);
    return !isnan(largest) && (largest > 0 || table->metrics[metric].metric->visibility != METRIC_IF_ANY);
}

uint32_t sweep_print_headlines(const struct sweep_table *table, bool detail, uint32_t *metrics, uint32_t most) {
    uint32_t n = 0;
    for (uint32_t m = 0; m < table->n_metrics && n < most; m++) {
        const struct metric *metric = table->metrics[m].metric;
        const bool of_phase = strchr(table->metrics[m].name, '/') != NULL;
        const bool headline = is_among(metric, headlines) && (!of_phase || strcmp(metric->id, "busbw") == 0);
        if ((headline || (detail && is_among(metric, details))) && is_shown(table, m)) {
            metrics[n++] = m;
        }
    }
    return n;
}

/** Columns of the table: metrics and their units. */
struct columns {
    uint32_t metrics[MOST_COLUMNS], count;
    double units[MOST_COLUMNS];
};

static struct columns make_columns(const struct sweep_table *table, struct table *printed, bool detail) {
    struct columns columns = {0};
    columns.count = sweep_print_headlines(table, detail, columns.metrics, MOST_COLUMNS);
    table_column(printed, "point", TABLE_RIGHT);
    for (uint32_t a = 0; a < table->n_axes; a++) {
        table_column(printed, table->axes[a], TABLE_RIGHT);
    }
    table_column(printed, "policy", TABLE_LEFT);
    for (uint32_t i = 0; i < columns.count; i++) {
        const struct sweep_metric *metric = &table->metrics[columns.metrics[i]];
        char unit[METRIC_UNIT_SIZE], title[sizeof metric->title + METRIC_UNIT_SIZE + 4];
        columns.units[i] = metric_unit(metric->metric->quantity, largest_of(table, columns.metrics[i]), unit);
        snprintf(title, sizeof title, "%s, %s", metric->title, unit);
        table_column(printed, title, TABLE_RIGHT);
    }
    return columns;
}

static void start_row(const struct sweep_table *table, const struct sweep_point *point, struct table *printed) {
    table_cell(printed, "%" PRIu64, point->number);
    for (uint32_t a = 0; a < table->n_axes; a++) {
        table_cell(printed, "%s", point->values[a]);
    }
}

static void add_rows(const struct sweep_table *table, const struct sweep_point *point, const struct columns *columns,
                     struct table *printed) {
    for (uint32_t first = 0, end; first < point->n_runs; first = end) {
        end = sweep_table_policy_end(point, first);
        const enum measurement_outcome outcome = sweep_table_outcome(point, first, end);
        start_row(table, point, printed);
        table_cell(printed, "%s%s%s", point->runs[first].policy, outcome != MEASUREMENT_FINISHED ? ": " : "",
                   outcome != MEASUREMENT_FINISHED ? comparison_outcome_name(outcome) : "");
        for (uint32_t i = 0; i < columns->count; i++) {
            char text[CELL_SIZE];
            const struct comparison_range range = sweep_table_range(point, first, end, columns->metrics[i]);
            comparison_text_value(text, sizeof text, &range, table->metrics[columns->metrics[i]].metric->quantity,
                                  columns->units[i]);
            table_cell(printed, "%s", text);
        }
        table_end_row(printed);
    }
    if (point->n_runs == 0) {
        start_row(table, point, printed);
        table_cell(printed, "%s", sweep_table_outcome_name(point->outcome));
        table_end_row(printed);
    }
}

/** What the columns mean, and the numbers in parentheses. */
static void print_legend(const struct sweep_table *table, const struct columns *columns, FILE *stream) {
    const char *last = NULL;
    fputs("\n", stream);
    for (uint32_t i = 0; i < columns->count; i++) {
        const char *group = table->metrics[columns->metrics[i]].metric->group;
        if (last == NULL || strcmp(last, group) != 0) {
            fprintf(stream, "  %s: %s\n", group, metric_legend(group));
        }
        last = group;
    }
    fputs("  (low–high): 95 % confidence interval of the mean over seeds; with fewer than 5 seeds lowest and highest\n",
          stream);
}

static void print_errors(const struct sweep_table *table, FILE *stream) {
    bool begun = false;
    for (uint32_t p = 0; p < table->n_points; p++) {
        const struct sweep_point *point = &table->points[p];
        if (point->error[0] != '\0') {
            fprintf(stream, "%s  point %" PRIu64 " %s: %s\n", begun ? "" : "\n", point->number,
                    sweep_table_outcome_name(point->outcome), point->error);
            begun = true;
        }
    }
}

void sweep_print(const struct sweep_table *table, bool detail, FILE *stream) {
    struct table *printed = table_create();
    const struct columns columns = make_columns(table, printed, detail);
    for (uint32_t p = 0; p < table->n_points; p++) {
        add_rows(table, &table->points[p], &columns, printed);
    }
    table_print(printed, stream, INDENT);
    table_free(printed);
    if (columns.count > 0) {
        print_legend(table, &columns, stream);
    }
    print_errors(table, stream);
}
