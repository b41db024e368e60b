// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/placement_file.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"
#include "config/placement_yaml.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 28, COLUMNS = 4 };

static const char heading[] = "layer,expert,replica,rank";
static const char *const columns[COLUMNS] = {"layer", "expert", "replica", "rank"};

/* The file being read, and its present line. */
struct reading {
    struct placement_file *file;
    struct error_list *errors;
    struct line line;
    bool has_heading;
};

static void __attribute__((format(printf, 4, 5)))
report(const struct reading *reading, size_t column, const char *hint, const char *format, ...) {
    struct error error;
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_PLACEMENT, "%s", message);
    error_hint(&error, "%s", hint ? hint : "");
    line_locate(&reading->line, reading->file->name, column, &error);
    error_list_add(reading->errors, &error);
}

/* Takes a whole number of a column at *at, and what divides it from the next. False after a mistake, which was reported. */
static bool take_number(const struct reading *reading, int column, size_t *at, uint32_t *number) {
    const char *text = reading->line.text + *at;
    uint64_t value;
    const size_t blank = strspn(text, " \t"), digits = line_number(text + blank, &value);
    const size_t after = blank + digits + strspn(text + blank + digits, " \t");
    const bool last = column + 1 == COLUMNS;
    const size_t place = *at + blank + 1;
    if (digits == 0 || value > PLACEMENT_FILE_LARGEST) {
        report(reading, place, digits == 0 ? "each line has layer, expert, replica and rank, divided by commas" : NULL,
               "%s must be a whole number from 0 to %d", columns[column], PLACEMENT_FILE_LARGEST);
        return false;
    }
    if (last ? *at + after != reading->line.length : text[after] != ',') {
        report(reading, *at + after + 1, NULL, last ? "the line ends with %s" : "a comma must follow %s",
               columns[column]);
        return false;
    }
    *number = (uint32_t)value;
    *at += after + 1;
    return true;
}

void placement_file_add(struct placement_file *file, const struct placement_file_row *row) {
    if (file->n_rows == file->capacity) {
        file->capacity = file->capacity ? 2 * file->capacity : 64;
        file->rows = memory_resize(file->rows, file->capacity, sizeof *file->rows);
    }
    file->rows[file->n_rows++] = *row;
}

static void read_line(struct reading *reading) {
    if (!reading->has_heading) {
        reading->has_heading = true;
        const struct line *line = &reading->line;
        if (line->length != sizeof heading - 1 || strncmp(line->text, heading, line->length) != 0) {
            report(reading, 1, heading, "the first line must name the columns");
        }
        return;
    }
    struct placement_file_row row = {.line = reading->line.number, .column = 1};
    size_t at = 0;
    if (take_number(reading, 0, &at, &row.layer) && take_number(reading, 1, &at, &row.expert) &&
        take_number(reading, 2, &at, &row.replica) && take_number(reading, 3, &at, &row.rank)) {
        placement_file_add(reading->file, &row);
    }
}

static int compare_numbers(uint32_t left, uint32_t right) {
    return (left > right) - (left < right);
}

static int by_key(const void *left_pointer, const void *right_pointer) {
    const struct placement_file_row *left = left_pointer, *right = right_pointer;
    const int layer = compare_numbers(left->layer, right->layer), expert = compare_numbers(left->expert, right->expert);
    const int replica = compare_numbers(left->replica, right->replica);
    const int line = compare_numbers(left->line, right->line);
    return layer     ? layer
           : expert  ? expert
           : replica ? replica
           : line    ? line
                     : compare_numbers(left->column, right->column);
}

/* Sorted rows: no replica twice, none left out. */
static void check_replicas(struct reading *reading) {
    const struct placement_file *file = reading->file;
    reading->line.text = NULL;
    for (uint32_t i = 0; i < file->n_rows; i++) {
        const struct placement_file_row *row = &file->rows[i], *before = i > 0 ? &file->rows[i - 1] : NULL;
        const bool same = before && before->layer == row->layer && before->expert == row->expert;
        const uint32_t wanted = same ? before->replica + 1 : 0;
        reading->line.number = row->line;
        if (same && before->replica == row->replica) {
            report(reading, row->column, NULL, "layer %u, expert %u, replica %u was given before, in line %u",
                   row->layer, row->expert, row->replica, before->line);
        } else if (row->replica != wanted) {
            report(reading, row->column, "replicas of an expert are numbered 0, 1, … without gaps",
                   "layer %u, expert %u has a replica %u but no replica %u", row->layer, row->expert, row->replica,
                   wanted);
        }
    }
}

static void read_csv(struct reading *reading, const char *text) {
    reading->line = (struct line){.next = text};
    while (line_next(&reading->line)) {
        read_line(reading);
    }
}

bool placement_file_read_text(const char *name, const char *text, struct placement_file *file,
                              struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct reading reading = {.file = file, .errors = errors};
    snprintf(file->name, sizeof file->name, "%s", name);
    if (placement_yaml_is_name(name)) {
        placement_yaml_read(name, text, file, errors);
    } else {
        read_csv(&reading, text);
    }
    if (file->n_rows > 1) {
        qsort(file->rows, file->n_rows, sizeof *file->rows, by_key);
    }
    if (errors->count + errors->dropped == before) { // else much would only follow from what was told
        check_replicas(&reading);
        if (file->n_rows == 0) {
            reading.line = (struct line){.number = 1};
            report(&reading, 1, NULL, "the file places no expert");
        }
    }
    return errors->count + errors->dropped == before;
}

bool placement_file_read(const char *path, struct placement_file *file, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!file_read(path, FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return false;
    }
    const bool good = placement_file_read_text(path, text.bytes, file, errors);
    free(text.bytes);
    return good;
}

uint32_t placement_file_layer(const struct placement_file *file, uint32_t layer, uint32_t *first) {
    uint32_t begin = 0, count = 0;
    while (begin < file->n_rows && file->rows[begin].layer < layer) {
        begin++;
    }
    while (begin + count < file->n_rows && file->rows[begin + count].layer == layer) {
        count++;
    }
    *first = begin;
    return count;
}

static void check_row(struct reading *reading, const struct placement_file_row *row,
                      const struct placement_file_fit *fit) {
    reading->line.number = row->line;
    if (row->expert >= fit->experts) {
        report(reading, row->column, NULL, "expert %u does not exist: %u experts have the numbers 0 to %u", row->expert,
               fit->experts, fit->experts - 1);
    }
    if (row->rank >= fit->ranks) {
        report(reading, row->column, "ranks are counted within the expert-parallel group",
               "rank %u does not exist: a group of %u GPUs has the ranks 0 to %u", row->rank, fit->ranks,
               fit->ranks - 1);
    }
}

/* Experts that no row names; several in a row are one message, at the row before which they are missing, or at the last one. */
static void check_missing(struct reading *reading, const struct placement_file_row *rows, uint32_t n,
                          const struct placement_file_fit *fit) {
    uint32_t wanted = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const uint32_t expert = i < n && rows[i].expert < fit->experts ? rows[i].expert : fit->experts;
        const struct placement_file_row *at = &rows[i < n ? i : n - 1];
        reading->line.number = at->line;
        if (expert == wanted + 1) {
            report(reading, at->column, NULL, "layer %u: expert %u is missing", fit->layer, wanted);
        } else if (expert > wanted) {
            report(reading, at->column, NULL, "layer %u: experts %u to %u are missing", fit->layer, wanted, expert - 1);
        }
        wanted = expert + 1 > wanted ? expert + 1 : wanted;
    }
}

bool placement_file_check(const struct placement_file *file, const struct placement_file_fit *fit,
                          struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct placement_file named = {0}; // for its name only
    struct reading reading = {.file = &named, .errors = errors};
    memcpy(named.name, file->name, sizeof named.name);
    uint32_t first;
    const uint32_t n = placement_file_layer(file, fit->layer, &first);
    if (n == 0) {
        reading.line.number = file->rows[0].line;
        report(&reading, file->rows[0].column, "placement.layer says which layer is taken",
               "the file has no layer %u (its layers are %u to %u)", fit->layer, file->rows[0].layer,
               file->rows[file->n_rows - 1].layer);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        check_row(&reading, &file->rows[first + i], fit);
    }
    check_missing(&reading, file->rows + first, n, fit);
    return errors->count + errors->dropped == before;
}

void placement_file_fini(struct placement_file *file) {
    free(file->rows);
    *file = (struct placement_file){0};
}
