// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/export.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/column.h"
#include "results/comparison.h"
#include "results/csv.h"
#include "results/export_counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Writes the content of one file; the stream's errors are checked by the caller. */
typedef void (*writer)(const struct load *load, const struct column_table *table, FILE *stream);

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
static void write_runs(const struct load *load, const struct column_table *table, FILE *stream) {
    put_names("policy,seed,outcome", table, stream);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        const struct measurement *measurement = load->runs[run];
        csv_text(stream, measurement->policy);
        fprintf(stream, ",%" PRIu64 ",", measurement->seed);
        csv_text(stream, comparison_outcome_name(measurement->outcome));
        put_columns(table, table->rows(measurement), stream);
    }
}

static void write_counters(const struct load *load, const struct column_table *table, FILE *stream) {
    (void)table;
    fputs("policy,seed,place,counter,value\n", stream);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        export_counters(load->runs[run], stream);
    }
}

static char *join(const char *folder, const char *name) {
    const size_t size = strlen(folder) + strlen(name) + sizeof "/.csv";
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s/%s.csv", folder, name);
    return path;
}

static bool write_file(const struct load *load, const char *folder, const char *name, writer write,
                       const struct column_table *table, struct error *error) {
    char *path = join(folder, name);
    struct file_writer file = {0};
    bool done = file_writer_open(&file, path, error);
    if (done) {
        write(load, table, file.stream);
        done = file_writer_commit(&file, error);
    }
    free(path);
    return done;
}

static bool write_all(const struct load *load, const char *folder, struct error *error) {
    bool done = write_file(load, folder, "runs", write_runs, &column_totals, error) &&
                write_file(load, folder, "counters", write_counters, NULL, error);
    for (size_t i = 0; done && i < column_tables_count; i++) {
        done = write_file(load, folder, column_tables[i].name, write_table, &column_tables[i], error);
    }
    return done;
}

/** Removes a folder of ours with all that may be in it. */
static void remove_folder(const char *folder) {
    static const char *const others[] = {"runs", "counters"};
    for (size_t i = 0; i < column_tables_count + 2; i++) {
        char *path = join(folder, i < column_tables_count ? column_tables[i].name : others[i - column_tables_count]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
}

static bool refuse(const char *folder, const char *reason, struct error *error) {
    return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, folder,
                          "the folder cannot be written: %s", reason);
}

bool export_csv(const struct load *load, const char *folder, struct error *error) {
    struct stat status;
    if (lstat(folder, &status) == 0) {
        return refuse(folder, "it exists already; choose another name, or remove it first", error);
    }
    char *temporary = file_temporary_name(folder);
    bool done = mkdir(temporary, 0777) == 0 || refuse(folder, strerror(errno), error);
    if (done) {
        done = write_all(load, temporary, error) &&
               (rename(temporary, folder) == 0 || refuse(folder, strerror(errno), error));
        if (!done) {
            remove_folder(temporary);
        }
    }
    free(temporary);
    return done;
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
