// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/sweep_csv.h"

#include "results/csv.h"
#include "results/csv_folder.h"

#include <inttypes.h>

static void put_axis_names(const struct sweep_table *table, FILE *stream) {
    for (uint32_t a = 0; a < table->n_axes; a++) {
        fputc(',', stream);
        csv_text(stream, table->axes[a]);
    }
}

static void put_axis_values(const struct sweep_table *table, const struct sweep_point *point, FILE *stream) {
    for (uint32_t a = 0; a < table->n_axes; a++) {
        fputc(',', stream);
        csv_text(stream, point->values[a]);
    }
}

static void write_points(const struct sweep_table *table, FILE *stream) {
    fputs("point", stream);
    put_axis_names(table, stream);
    fputs(",hash,outcome,error\n", stream);
    for (uint32_t p = 0; p < table->n_points; p++) {
        const struct sweep_point *point = &table->points[p];
        fprintf(stream, "%" PRIu64, point->number);
        put_axis_values(table, point, stream);
        fprintf(stream, ",%016" PRIx64 ",%s,", point->hash, sweep_table_outcome_name(point->outcome));
        csv_text(stream, point->error);
        fputc('\n', stream);
    }
}

static void write_runs(const struct sweep_table *table, FILE *stream) {
    fputs("point", stream);
    put_axis_names(table, stream);
    fputs(",policy,seed,outcome", stream);
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        fputc(',', stream);
        csv_text(stream, table->metrics[m].name);
    }
    fputc('\n', stream);
    for (uint32_t p = 0; p < table->n_points; p++) {
        const struct sweep_point *point = &table->points[p];
        for (uint32_t r = 0; r < point->n_runs; r++) {
            fprintf(stream, "%" PRIu64, point->number);
            put_axis_values(table, point, stream);
            fputc(',', stream);
            csv_text(stream, point->runs[r].policy);
            fprintf(stream, ",%" PRIu64 ",%s", point->runs[r].seed, comparison_outcome_name(point->runs[r].outcome));
            for (uint32_t m = 0; m < table->n_metrics; m++) {
                fputc(',', stream);
                csv_number(stream, sweep_table_value(&point->runs[r], m));
            }
            fputc('\n', stream);
        }
    }
}

static void write_metrics(const struct sweep_table *table, FILE *stream) {
    fputs("metric,unit,meaning\n", stream);
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        csv_text(stream, table->metrics[m].name);
        fprintf(stream, ",%s,", metric_kept_unit(table->metrics[m].metric->quantity));
        csv_text(stream, metric_legend(table->metrics[m].metric->group));
        fputc('\n', stream);
    }
}

static const struct {
    const char *name;
    void (*write)(const struct sweep_table *table, FILE *stream);
} files[] = {{"points", write_points}, {"runs", write_runs}, {"metrics", write_metrics}};

static const char *name_of(size_t file) {
    return files[file].name;
}

static void write_file(const void *context, size_t file, FILE *stream) {
    files[file].write(context, stream);
}

bool sweep_csv_export(const struct sweep_table *table, const char *folder, struct error *error) {
    const struct csv_folder all = {
        .name = name_of, .write = write_file, .context = table, .n_files = sizeof files / sizeof files[0]};
    return csv_folder_write(&all, folder, error);
}

static void put_policy(const struct sweep_table *table, const struct sweep_point *point, uint32_t first, uint32_t end,
                       struct json *json) {
    json_object(json);
    json_member_text(json, "policy", point->runs[first].policy);
    json_member_whole(json, "seeds", end - first);
    json_member_text(json, "outcome", comparison_outcome_name(sweep_table_outcome(point, first, end)));
    json_name(json, "metrics");
    json_object(json);
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        const struct comparison_range range = sweep_table_range(point, first, end, m);
        if (range.count > 0) {
            json_name(json, table->metrics[m].name);
            json_object(json);
            json_member_number(json, "mean", range.mean);
            json_member_number(json, "lowest", range.low);
            json_member_number(json, "highest", range.high);
            json_member_number(json, "interval_low", range.interval.low);
            json_member_number(json, "interval_high", range.interval.high);
            json_object_end(json);
        }
    }
    json_object_end(json);
    json_object_end(json);
}

static void put_point(const struct sweep_table *table, const struct sweep_point *point, struct json *json) {
    json_object(json);
    json_member_whole(json, "point", point->number);
    json_name(json, "sets");
    json_object(json);
    for (uint32_t a = 0; a < table->n_axes; a++) {
        json_member_text(json, table->axes[a], point->values[a][0] != '\0' ? point->values[a] : NULL);
    }
    json_object_end(json);
    json_member_text(json, "outcome", sweep_table_outcome_name(point->outcome));
    json_member_text(json, "error", point->error[0] != '\0' ? point->error : NULL);
    json_name(json, "policies");
    json_array(json);
    for (uint32_t first = 0, end; first < point->n_runs; first = end) {
        end = sweep_table_policy_end(point, first);
        put_policy(table, point, first, end, json);
    }
    json_array_end(json);
    json_object_end(json);
}

void sweep_csv_json(const struct sweep_table *table, struct json *json) {
    json_object(json);
    json_member_text(json, "title", table->title);
    json_name(json, "units");
    json_object(json);
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        json_member_text(json, table->metrics[m].name, metric_kept_unit(table->metrics[m].metric->quantity));
    }
    json_object_end(json);
    json_name(json, "points");
    json_array(json);
    for (uint32_t p = 0; p < table->n_points; p++) {
        put_point(table, &table->points[p], json);
    }
    json_array_end(json);
    json_object_end(json);
}
