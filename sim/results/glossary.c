// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/glossary.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "results/column.h"
#include "results/metric.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Whether a name is that of a metric, or of the group of metrics that it belongs to. */
static bool is_metric(const struct metric *metric, const char *name) {
    char row[128];
    const size_t length = strcspn(metric->id, ".");
    snprintf(row, sizeof row, "%s %s", metric->group, metric->row);
    return strcasecmp(metric->id, name) == 0 || strcasecmp(row, name) == 0 || strcasecmp(metric->group, name) == 0 ||
           (strlen(name) == length && strncasecmp(metric->id, name, length) == 0);
}

static const char *visibility_of(const struct metric *metric) {
    static const char *const texts[] = {[METRIC_ALWAYS] = "",
                                        [METRIC_DETAIL] = "; shown by `run`, and with --detail",
                                        [METRIC_IF_ANY] = "; shown if not zero"};
    return texts[metric->visibility];
}

static void explain_metric(FILE *stream, const struct metric_section *section, const struct metric *metric) {
    const bool phase = section->per_phase;
    const char *row = phase ? metric->row : metric->group;
    const char *unit = metric_kept_unit(metric->quantity);
    fprintf(stream, "metric `%s`: row \"%s%s%s%s\", in JSON %s%s\n    %s\n", metric->id, phase ? "PHASE " : "", row,
            !phase && metric->row[0] != '\0' ? " " : "", phase ? "" : metric->row,
            strcmp(unit, "1") == 0 ? "a plain number" : unit, visibility_of(metric), metric_legend(metric->group));
}

static bool explain_metrics(FILE *stream, const char *name) {
    bool found = false;
    for (size_t s = 0; s < metric_sections_count; s++) {
        for (size_t i = 0; i < metric_sections[s].count; i++) {
            if (is_metric(&metric_sections[s].metrics[i], name)) {
                explain_metric(stream, &metric_sections[s], &metric_sections[s].metrics[i]);
                found = true;
            }
        }
    }
    return found;
}

/** Whether a name is that of a column, with its table before it or without. */
static bool is_column(const struct column_table *table, const struct column *column, const char *name) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", table->name, column->name);
    return strcmp(column->name, name) == 0 || strcmp(whole, name) == 0;
}

static bool explain_columns(FILE *stream, const struct column_table *table, const char *name) {
    bool found = false;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (is_column(table, column, name)) {
            fprintf(stream, "column `%s/%s` of result files, in %s\n    %s\n", table->name, column->name,
                    strcmp(column->units, "1") == 0 ? "plain numbers" : column->units, column->long_name);
            found = true;
        }
    }
    return found;
}

bool glossary_explain(FILE *stream, const char *name) {
    bool found = explain_metrics(stream, name);
    found = explain_columns(stream, &column_totals, name) || found;
    for (size_t i = 0; i < column_tables_count; i++) {
        found = explain_columns(stream, &column_tables[i], name) || found;
    }
    return found;
}

void glossary_reference(FILE *stream) {
    fputs("| in JSON | row of the table | unit in JSON | meaning |\n|---|---|---|---|\n", stream);
    for (size_t s = 0; s < metric_sections_count; s++) {
        for (size_t i = 0; i < metric_sections[s].count; i++) {
            const struct metric *metric = &metric_sections[s].metrics[i];
            const bool phase = metric_sections[s].per_phase;
            fprintf(stream, "| `%s` | %s%s%s | %s | %s%s |\n", metric->id, phase ? "PHASE " : metric->group,
                    !phase && metric->row[0] != '\0' ? " " : "", metric->row, metric_kept_unit(metric->quantity),
                    metric_legend(metric->group), visibility_of(metric));
        }
    }
}

const char *glossary_nearest(const char *name) {
    const char **names = NULL;
    size_t n = 0;
    for (size_t s = 0; s < metric_sections_count; s++) {
        for (size_t i = 0; i < metric_sections[s].count; i++) {
            names = memory_resize(names, n + 1, sizeof *names);
            names[n++] = metric_sections[s].metrics[i].id;
        }
    }
    for (size_t t = 0; t < column_tables_count; t++) {
        for (size_t i = 0; i < column_tables[t].n_columns; i++) {
            names = memory_resize(names, n + 1, sizeof *names);
            names[n++] = column_tables[t].columns[i].name;
        }
    }
    const char *nearest = nearest_name(name, names, n);
    free(names);
    return nearest;
}
