// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/export.h"

#include "results/column.h"
#include "results/comparison.h"
#include "results/csv.h"
#include "results/csv_folder.h"
#include "results/export_counters.h"

#include <inttypes.h>
#include <string.h>

static uint64_t whole_field(const char *field, enum column_type type) {
    uint32_t small;
    uint64_t large;
    if (type == COLUMN_UINT32) {
        memcpy(&small, field, sizeof small);
        return small;
    }
    memcpy(&large, field, sizeof large);
    return large;
}

static double number_field(const char *field) {
    double value;
    memcpy(&value, field, sizeof value);
    return value;
}

static void put_field(const struct column *column, const char *row, FILE *stream) {
    const char *field = row + column->offset;
    switch (column->type) {
    case COLUMN_TEXT:
        csv_text(stream, field);
        break;
    case COLUMN_DOUBLE:
        csv_number(stream, number_field(field));
        break;
    case COLUMN_UINT32:
    case COLUMN_UINT64:
        fprintf(stream, "%" PRIu64, whole_field(field, column->type));
        break;
    }
}

static void put_columns(const struct column_table *table, const char *row, FILE *stream) {
    for (size_t i = 0; i < table->n_columns; i++) {
        fputc(',', stream);
        put_field(&table->columns[i], row, stream);
    }
    fputc('\n', stream);
}

static void put_names(const char *first, const struct column_table *table, FILE *stream) {
    fputs(first, stream);
    for (size_t i = 0; i < table->n_columns; i++) {
        fprintf(stream, ",%s", table->columns[i].name);
    }
    fputc('\n', stream);
}

/** All rows of a table, of all runs. */
static void write_table(const struct load *load, const struct column_table *table, FILE *stream) {
    put_names("policy,seed,row", table, stream);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        const struct measurement *measurement = load->runs[run];
        const char *rows = table->rows(measurement);
        for (uint64_t i = 0; i < table->n_rows(measurement); i++) {
            csv_text(stream, measurement->policy);
            fprintf(stream, ",%" PRIu64 ",%" PRIu64, measurement->seed, i);
            put_columns(table, rows + i * table->row_bytes, stream);
        }
    }
}

/** One line a run: how it ended, and its sums. */
static void write_runs(const struct load *load, FILE *stream) {
    const struct column_table *table = &column_totals;
    put_names("policy,seed,outcome", table, stream);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        const struct measurement *measurement = load->runs[run];
        csv_text(stream, measurement->policy);
        fprintf(stream, ",%" PRIu64 ",", measurement->seed);
        csv_text(stream, comparison_outcome_name(measurement->outcome));
        put_columns(table, table->rows(measurement), stream);
    }
}

static void write_counters(const struct load *load, FILE *stream) {
    fputs("policy,seed,place,counter,value\n", stream);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        export_counters(load->runs[run], stream);
    }
}

enum { FIRST_TABLE = 2 }; /* behind runs and counters */

static const char *name_of(size_t file) {
    static const char *const others[FIRST_TABLE] = {"runs", "counters"};
    return file < FIRST_TABLE ? others[file] : column_tables[file - FIRST_TABLE].name;
}

static void write_file(const void *context, size_t file, FILE *stream) {
    if (file == 0) {
        write_runs(context, stream);
    } else if (file == 1) {
        write_counters(context, stream);
    } else {
        write_table(context, &column_tables[file - FIRST_TABLE], stream);
    }
}

bool export_csv(const struct load *load, const char *folder, struct error *error) {
    const struct csv_folder all = {
        .name = name_of, .write = write_file, .context = load, .n_files = FIRST_TABLE + column_tables_count};
    return csv_folder_write(&all, folder, error);
}

static void put_json_field(const struct column *column, const char *row, struct json *json) {
    const char *field = row + column->offset;
    switch (column->type) {
    case COLUMN_TEXT:
        json_text(json, field);
        break;
    case COLUMN_DOUBLE:
        json_number(json, number_field(field));
        break;
    case COLUMN_UINT32:
    case COLUMN_UINT64:
        json_whole(json, whole_field(field, column->type));
        break;
    }
}

static void put_json_table(const struct column_table *table, const struct measurement *measurement, struct json *json) {
    const char *rows = table->rows(measurement);
    json_name(json, table->name);
    json_object(json);
    for (size_t i = 0; i < table->n_columns; i++) {
        json_name(json, table->columns[i].name);
        json_array(json);
        for (uint64_t row = 0; row < table->n_rows(measurement); row++) {
            put_json_field(&table->columns[i], rows + row * table->row_bytes, json);
        }
        json_array_end(json);
    }
    json_object_end(json);
}

static void put_json_run(const struct measurement *measurement, struct json *json) {
    json_object(json);
    json_member_text(json, "policy", measurement->policy);
    json_member_whole(json, "seed", measurement->seed);
    json_member_text(json, "outcome", comparison_outcome_name(measurement->outcome));
    put_json_table(&column_totals, measurement, json);
    for (size_t i = 0; i < column_tables_count; i++) {
        put_json_table(&column_tables[i], measurement, json);
    }
    json_object_end(json);
}

void export_json(const struct load *load, struct json *json) {
    json_object(json);
    json_member_text(json, "title", load->title);
    json_member_text(json, "program_version", load->program_version);
    json_member_text(json, "configuration", load->configuration);
    json_name(json, "runs");
    json_array(json);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        put_json_run(load->runs[run], json);
    }
    json_array_end(json);
    json_object_end(json);
}
