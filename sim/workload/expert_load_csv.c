// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/expert_load_csv.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_LIMIT_BYTES = 1 << 28,
    FIELD_SIZE = 64,
    LARGEST_LAYER = 65535,
    MOST_PLACES_OF_A_ROW = 64, /* a file with more gaps is refused before memory is taken for them */
};

/* Where a row's values are from, so that mistakes found later have a place. */
struct row {
    uint32_t layer, expert;
    unsigned line;
    const char *text; /* its line */
};

/* The text being read: the line in hand, and what the lines before it held. */
struct reading {
    const char *name;
    struct error *error;
    const char *line_text, *at; /* at: first character not yet taken */
    size_t line_length;
    unsigned line;
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
        snprintf(reading->error->file, sizeof reading->error->file, "%s", reading->name);
        snprintf(reading->error->source, sizeof reading->error->source, "%.*s", (int)reading->line_length,
                 reading->line_text);
        reading->error->line = reading->line;
        reading->error->column = at ? (unsigned)(at - reading->line_text) + 1 : 0;
    }
    return false;
}

/* A mistake of the whole file. */
static bool report_file(const struct reading *reading, const char *message) {
    return error_set_file(reading->error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, reading->name, "%s", message);
}

/* Takes the next line that says something; false at the end. */
static bool next_line(struct reading *reading, const char **rest) {
    while (**rest != '\0') {
        reading->line++;
        reading->line_text = reading->at = *rest;
        const size_t length = strcspn(*rest, "\n");
        *rest += length + ((*rest)[length] == '\n');
        reading->line_length = length > 0 && reading->line_text[length - 1] == '\r' ? length - 1 : length;
        const size_t blank = strspn(reading->line_text, " \t");
        if (blank < reading->line_length && reading->line_text[blank] != '#') {
            return true;
        }
    }
    return false;
}

/* Takes the next field of the line, without blanks around it. False if the line has ended. What does not fit is cut off: no name or number is so long. */
static bool take_field(struct reading *reading, char *field, const char **begin) {
    const char *end = reading->line_text + reading->line_length;
    if (reading->at > end) {
        return false;
    }
    const char *comma = memchr(reading->at, ',', (size_t)(end - reading->at));
    const char *stop = comma ? comma : end;
    const char *from = reading->at;
    reading->at = comma ? comma + 1 : end + 1;
    while (from < stop && isspace((unsigned char)*from)) {
        from++;
    }
    while (stop > from && isspace((unsigned char)stop[-1])) {
        stop--;
    }
    *begin = from;
    snprintf(field, FIELD_SIZE, "%.*s", (int)(stop - from < FIELD_SIZE ? stop - from : FIELD_SIZE - 1), from);
    return true;
}

static bool is_known(const struct reading *reading, const char *name) {
    for (uint32_t i = 0; i < reading->n_domains; i++) {
        if (strcmp(reading->domains[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_heading(struct reading *reading) {
    static const char *const first[] = {"layer", "expert"};
    char field[FIELD_SIZE];
    const char *begin = NULL;
    for (int i = 0; i < 2; i++) {
        if (!take_field(reading, field, &begin) || strcmp(field, first[i]) != 0) {
            return report(reading, reading->line_text, "the heading is layer,expert and then a name for each column");
        }
    }
    while (take_field(reading, field, &begin)) {
        if (field[0] == '\0' || strlen(field) >= EXPERT_LOAD_NAME_SIZE) {
            return report(reading, begin, "a column needs a name of 1 to %d characters", EXPERT_LOAD_NAME_SIZE - 1);
        }
        if (is_known(reading, field)) {
            return report(reading, begin, "two columns are called `%s`", field);
        }
        if (reading->n_domains == EXPERT_LOAD_LARGEST_DOMAINS) {
            return report(reading, begin, "there are more than %d columns of values", EXPERT_LOAD_LARGEST_DOMAINS);
        }
        snprintf(reading->domains[reading->n_domains++].name, EXPERT_LOAD_NAME_SIZE, "%s", field);
    }
    return reading->n_domains > 0 || report(reading, reading->line_text, "there is no column of values");
}

static bool take_number(struct reading *reading, const char *what, uint32_t largest, uint32_t *number) {
    char field[FIELD_SIZE];
    const char *begin = NULL;
    char *end;
    if (!take_field(reading, field, &begin)) {
        return report(reading, NULL, "the row has no %s", what);
    }
    const unsigned long value = strtoul(field, &end, 10);
    if (!isdigit((unsigned char)field[0]) || *end != '\0' || value > largest) {
        return report(reading, begin, "the %s is a whole number from 0 to %u, not `%s`", what, largest, field);
    }
    *number = (uint32_t)value;
    return true;
}

static bool take_value(struct reading *reading, const char *domain, double *value) {
    char field[FIELD_SIZE];
    const char *begin = NULL;
    char *end;
    if (!take_field(reading, field, &begin)) {
        return report(reading, NULL, "the row has no value for `%s`", domain);
    }
    *value = strtod(field, &end);
    if (field[0] == '\0' || *end != '\0' || strpbrk(field, "xX") || !isfinite(*value)) {
        return report(reading, begin, "the load in column `%s` is a number, not `%s`", domain, field);
    }
    return *value >= 0 || report(reading, begin, "the load in column `%s` is negative: %s", domain, field);
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
    *row = (struct row){.line = reading->line, .text = reading->line_text};
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
    if (reading->at <= reading->line_text + reading->line_length) {
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
    reading->line = row->line;
    reading->line_text = row->text;
    reading->line_length = strcspn(row->text, "\r\n");
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
            return report(reading, reading->line_text, "layer %u, expert %u was given before, in line %u", row->layer,
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
    struct reading reading = {.name = name, .error = error};
    struct expert_load *load = NULL;
    reading.domains = memory_allocate(EXPERT_LOAD_LARGEST_DOMAINS, sizeof *reading.domains);
    if (!next_line(&reading, &text)) {
        report_file(&reading, "there is no heading");
        goto out;
    }
    if (!read_heading(&reading)) {
        goto out;
    }
    while (next_line(&reading, &text)) {
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
