// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/expert_load_csv.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_LIMIT_BYTES = 1 << 28,
    FIELD_SHOWN = 64, /* characters of a field in messages */
    LARGEST_LAYER = 65535,
    MOST_PLACES_OF_A_ROW = 64, /* a file with more gaps is refused before memory is taken for them */
};

/* Where a row's values are from, so that mistakes found later have a place. */
struct row {
    uint32_t layer, expert;
    unsigned line;
    const char *text; /* its line */
    size_t length;
};

/* The text being read: the line in hand, and what the lines before it held. */
struct reading {
    const char *name;
    struct error *error;
    struct line line;
    const char *at; /* first character of the line not yet taken */
    struct expert_load_domain *domains;
    uint32_t n_domains;
    struct row *rows;
    double *values; /* [n_rows × n_domains] */
    size_t n_rows, capacity;
    uint32_t first_layer, last_layer, n_experts;
};

static bool report(const struct reading *reading, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error at a place of the line in hand. False. */
static bool report(const struct reading *reading, const char *at, const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(reading->error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, "%s", message);
    if (reading->error) {
        line_locate(&reading->line, reading->name, at ? (size_t)(at - reading->line.text) + 1 : 0, reading->error);
    }
    return false;
}

/* A mistake of the whole file. */
static bool report_file(const struct reading *reading, const char *message) {
    return error_set_file(reading->error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, reading->name, "%s", message);
}

static bool next_line(struct reading *reading) {
    const bool is = line_next(&reading->line);
    reading->at = reading->line.text;
    return is;
}

/* A field of a line, without blanks around it. */
struct field {
    const char *begin, *end;
};

/* A field as "%.*s" wants it. */
#define SHOWN(field) (int)number_smaller((size_t)(field.end - field.begin), FIELD_SHOWN), field.begin

/* Takes the next field of the line. False if the line has ended. */
static bool take_field(struct reading *reading, struct field *field) {
    const char *end = reading->line.text + reading->line.length;
    if (reading->at > end) {
        return false;
    }
    const char *comma = memchr(reading->at, ',', (size_t)(end - reading->at));
    *field = (struct field){.begin = reading->at, .end = comma ? comma : end};
    reading->at = field->end + 1;
    while (field->begin < field->end && isspace((unsigned char)*field->begin)) {
        field->begin++;
    }
    while (field->end > field->begin && isspace((unsigned char)field->end[-1])) {
        field->end--;
    }
    return true;
}

static bool field_is(struct field field, const char *text) {
    const size_t length = (size_t)(field.end - field.begin);
    return strlen(text) == length && memcmp(field.begin, text, length) == 0;
}

static bool is_known(const struct reading *reading, struct field name) {
    for (uint32_t i = 0; i < reading->n_domains; i++) {
        if (field_is(name, reading->domains[i].name)) {
            return true;
        }
    }
    return false;
}

static bool read_heading(struct reading *reading) {
    static const char *const first[] = {"layer", "expert"};
    struct field field;
    for (int i = 0; i < 2; i++) {
        if (!take_field(reading, &field) || !field_is(field, first[i])) {
            return report(reading, reading->line.text, "the heading is layer,expert and then a name for each column");
        }
    }
    while (take_field(reading, &field)) {
        const ptrdiff_t length = field.end - field.begin;
        if (length == 0 || length >= EXPERT_LOAD_NAME_SIZE) {
            return report(reading, field.begin, "a column needs a name of 1 to %d characters",
                          EXPERT_LOAD_NAME_SIZE - 1);
        }
        if (is_known(reading, field)) {
            return report(reading, field.begin, "two columns are called `%.*s`", SHOWN(field));
        }
        if (reading->n_domains == EXPERT_LOAD_LARGEST_DOMAINS) {
            return report(reading, field.begin, "there are more than %d columns of values",
                          EXPERT_LOAD_LARGEST_DOMAINS);
        }
        memcpy(reading->domains[reading->n_domains++].name, field.begin, (size_t)length);
    }
    return reading->n_domains > 0 || report(reading, reading->line.text, "there is no column of values");
}

static bool take_number(struct reading *reading, const char *what, uint32_t largest, uint32_t *number) {
    struct field field;
    uint64_t value;
    if (!take_field(reading, &field)) {
        return report(reading, NULL, "the row has no %s", what);
    }
    const size_t digits = line_number(field.begin, &value);
    if (digits == 0 || field.begin + digits != field.end || value > largest) {
        return report(reading, field.begin, "the %s is a whole number from 0 to %u, not `%.*s`", what, largest,
                      SHOWN(field));
    }
    *number = (uint32_t)value;
    return true;
}

static bool take_value(struct reading *reading, const char *domain, double *value) {
    struct field field;
    char *end = NULL;
    if (!take_field(reading, &field)) {
        return report(reading, NULL, "the row has no value for `%s`", domain);
    }
    const size_t length =
        strspn(field.begin, "+-.0123456789eE"); /* strtod would read more: 0x1, nan, an empty field's next line */
    *value = length > 0 ? strtod(field.begin, &end) : NAN;
    if (end != field.end || field.begin + length != end || !isfinite(*value)) {
        return report(reading, field.begin, "the load in column `%s` is a number, not `%.*s`", domain, SHOWN(field));
    }
    return *value >= 0 ||
           report(reading, field.begin, "the load in column `%s` is negative: %.*s", domain, SHOWN(field));
}

static void grow(struct reading *reading) {
    if (reading->n_rows == reading->capacity) {
        reading->capacity = reading->capacity ? 2 * reading->capacity : 1024;
        reading->rows = memory_resize(reading->rows, reading->capacity, sizeof *reading->rows);
        reading->values =
            memory_resize(reading->values, reading->capacity * reading->n_domains, sizeof *reading->values);
    }
}

static bool read_row(struct reading *reading) {
    grow(reading);
    struct row *row = &reading->rows[reading->n_rows];
    *row = (struct row){.line = reading->line.number, .text = reading->line.text, .length = reading->line.length};
    if (!take_number(reading, "layer", LARGEST_LAYER, &row->layer) ||
        !take_number(reading, "expert", EXPERT_LOAD_LARGEST_EXPERTS - 1, &row->expert)) {
        return false;
    }
    double *values = reading->values + reading->n_rows * reading->n_domains;
    for (uint32_t i = 0; i < reading->n_domains; i++) {
        if (!take_value(reading, reading->domains[i].name, &values[i])) {
            return false;
        }
    }
    if (reading->at <= reading->line.text + reading->line.length) {
        return report(reading, reading->at, "the row has more values than the heading has columns");
    }
    const bool first = reading->n_rows++ == 0;
    reading->first_layer = first || row->layer < reading->first_layer ? row->layer : reading->first_layer;
    reading->last_layer = row->layer > reading->last_layer ? row->layer : reading->last_layer;
    reading->n_experts = row->expert >= reading->n_experts ? row->expert + 1 : reading->n_experts;
    return true;
}

/* Puts the line of a row in hand again. */
static void take_up(struct reading *reading, const struct row *row) {
    reading->line = (struct line){.text = row->text, .length = row->length, .number = row->line};
}

/* Finds what is there twice, or not at all. */
static bool check_rows(struct reading *reading, const unsigned *line_of) {
    const uint32_t experts = reading->n_experts;
    for (uint32_t layer = 0; layer <= reading->last_layer - reading->first_layer; layer++) {
        uint32_t present = 0;
        for (uint32_t expert = 0; expert < experts; expert++) {
            present += line_of[(size_t)layer * experts + expert] > 0;
        }
        char message[ERROR_MESSAGE_SIZE];
        if (present == 0) {
            snprintf(message, sizeof message, "layer %u is missing: there are layers %u to %u",
                     reading->first_layer + layer, reading->first_layer, reading->last_layer);
            return report_file(reading, message);
        }
        for (uint32_t expert = 0; expert < experts; expert++) {
            if (line_of[(size_t)layer * experts + expert] == 0) {
                snprintf(message, sizeof message, "layer %u has no expert %u: other layers have %u experts",
                         reading->first_layer + layer, expert, experts);
                return report_file(reading, message);
            }
        }
    }
    return true;
}

/* Notes each row's place; a second row for the same expert is a mistake. */
static bool place_rows(struct reading *reading, unsigned *line_of) {
    for (size_t i = 0; i < reading->n_rows; i++) {
        const struct row *row = &reading->rows[i];
        unsigned *line = &line_of[(size_t)(row->layer - reading->first_layer) * reading->n_experts + row->expert];
        if (*line > 0) {
            take_up(reading, row);
            return report(reading, reading->line.text, "layer %u, expert %u was given before, in line %u", row->layer,
                          row->expert, *line);
        }
        *line = row->line;
    }
    return check_rows(reading, line_of);
}

static struct expert_load *assemble(const struct reading *reading) {
    struct expert_load *load =
        expert_load_create(1, reading->n_domains, reading->last_layer - reading->first_layer + 1, reading->n_experts);
    load->first_layer = reading->first_layer;
    memcpy(load->domains, reading->domains, reading->n_domains * sizeof *load->domains);
    snprintf(load->file, sizeof load->file, "%s", reading->name);
    for (size_t i = 0; i < reading->n_rows; i++) {
        const struct row *row = &reading->rows[i];
        for (uint32_t domain = 0; domain < reading->n_domains; domain++) {
            expert_load_row(load, 0, domain, row->layer - reading->first_layer)[row->expert] =
                reading->values[i * reading->n_domains + domain];
        }
    }
    return load;
}

static struct expert_load *finish(struct reading *reading) {
    const size_t layers = (size_t)reading->last_layer - reading->first_layer + 1;
    if (reading->n_rows == 0) {
        report_file(reading, "there are no rows");
        return NULL;
    }
    if (layers > EXPERT_LOAD_LARGEST_LAYERS || layers * reading->n_experts > MOST_PLACES_OF_A_ROW * reading->n_rows) {
        char message[ERROR_MESSAGE_SIZE];
        snprintf(message, sizeof message, "layers %u to %u with %u experts each would be %zu rows, the file has %zu",
                 reading->first_layer, reading->last_layer, reading->n_experts, layers * reading->n_experts,
                 reading->n_rows);
        report_file(reading, message);
        return NULL;
    }
    unsigned *line_of = memory_allocate(layers * reading->n_experts, sizeof *line_of);
    struct expert_load *load = place_rows(reading, line_of) ? assemble(reading) : NULL;
    free(line_of);
    return load;
}

struct expert_load *expert_load_csv_parse(const char *name, const char *text, struct error *error) {
    struct reading reading = {.name = name, .error = error, .line = {.next = text}};
    struct expert_load *load = NULL;
    reading.domains = memory_allocate(EXPERT_LOAD_LARGEST_DOMAINS, sizeof *reading.domains);
    if (!next_line(&reading)) {
        report_file(&reading, "there is no heading");
        goto out;
    }
    if (!read_heading(&reading)) {
        goto out;
    }
    while (next_line(&reading)) {
        if (!read_row(&reading)) {
            goto out;
        }
    }
    load = finish(&reading);
out:
    free(reading.domains);
    free(reading.rows);
    free(reading.values);
    return load;
}

struct expert_load *expert_load_csv_read(const char *path, struct error *error) {
    struct file_text text;
    if (!file_read(path, FILE_LIMIT_BYTES, &text, error)) {
        return NULL;
    }
    struct expert_load *load = expert_load_csv_parse(path, text.bytes, error);
    free(text.bytes);
    return load;
}
