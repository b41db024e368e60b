// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/flow_file.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 30, WORD_SIZE = 64, NODES_MOST = 1 << 24 };

#define LARGEST_START_PS ((UINT64_C(1) << 48) - 1)
#define LARGEST_BYTES (UINT64_C(1) << 40)

/* What a line says, in its order. */
enum field { FIELD_SOURCE, FIELD_DESTINATION, FIELD_GROUP, FIELD_PORT, FIELD_BYTES, FIELD_START, FIELDS };

/* The file being read, and how far. */
struct reading {
    const char *name;
    struct error_list *errors;
    struct connection_matrix *matrix;
    struct line line;
    uint64_t said_flows, group; /* of the first flow */
    bool has_count, has_group;
};

static bool report(struct reading *reading, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool report(struct reading *reading, size_t column, const char *format, ...) {
    struct error error;
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_MATRIX, "%s", message);
    error_hint(&error, "a flow is SOURCE DESTINATION PRIORITY_GROUP DESTINATION_PORT BYTES START_SECONDS");
    line_locate(&reading->line, reading->name, column, &error);
    error_list_add(reading->errors, &error);
    return false;
}

/* The number of a field, in picoseconds for the start. False if the word is none. */
static bool read_field(enum field field, const char *word, size_t length, uint64_t *value) {
    static const uint64_t largest[FIELDS] = {NODES_MOST - 1, NODES_MOST - 1, UINT8_MAX,
                                             UINT32_MAX,     LARGEST_BYTES,  LARGEST_START_PS};
    char text[WORD_SIZE];
    struct error ignored;
    const bool is_number = field == FIELD_START ? snprintf(text, sizeof text, "%.*s s",
                                                           (int)number_smaller(length, WORD_SIZE), word) < WORD_SIZE &&
                                                      quantity_parse(text, QUANTITY_TIME, value, &ignored)
                                                : line_number(word, value) == length;
    return is_number && *value <= largest[field];
}

/* The words of a line. False, with the mistake reported, if they are no flow. */
static bool read_words(struct reading *reading, uint64_t values[FIELDS]) {
    static const char *const names[FIELDS] = {
        "a source",           "a destination",        "a priority group (0 to 255)",
        "a destination port", "a size (0 to 2^40 B)", "a start in seconds, of whole picoseconds"};
    size_t at = 0;
    for (int field = 0; field < FIELDS; field++) {
        const char *text = reading->line.text;
        at += strspn(text + at, " \t\r");
        const size_t length = at < reading->line.length ? strcspn(text + at, " \t\r\n") : 0;
        if (length == 0) {
            return report(reading, at + 1, "the line ends where %s is needed", names[field]);
        }
        if (!read_field((enum field)field, text + at, length, &values[field])) {
            return report(reading, at + 1, "%s is needed here, not `%.*s`", names[field],
                          (int)number_smaller(length, WORD_SIZE), text + at);
        }
        at += length;
    }
    at += strspn(reading->line.text + at, " \t\r");
    return at >= reading->line.length || report(reading, at + 1, "a flow is six numbers");
}

static void read_flow(struct reading *reading) {
    uint64_t values[FIELDS];
    struct connection_matrix *matrix = reading->matrix;
    if (!read_words(reading, values)) {
        return;
    }
    if (values[FIELD_SOURCE] == values[FIELD_DESTINATION]) {
        report(reading, 1, "node %" PRIu64 " would send to itself", values[FIELD_SOURCE]);
    } else if (values[FIELD_BYTES] == 0) {
        report(reading, 1, "the flow has no bytes");
    } else if (reading->has_group && values[FIELD_GROUP] != reading->group) {
        report(reading, 1,
               "flows of priority groups %" PRIu64 " and %" PRIu64 " cannot be simulated: data has one class",
               reading->group, values[FIELD_GROUP]);
    } else {
        const uint64_t last = number_larger(values[FIELD_SOURCE], values[FIELD_DESTINATION]);
        matrix->n_nodes = (uint32_t)number_larger(matrix->n_nodes, last + 1);
        reading->group = values[FIELD_GROUP];
        reading->has_group = true;
        connection_matrix_add(matrix, &(struct connection){.source = (uint32_t)values[FIELD_SOURCE],
                                                           .destination = (uint32_t)values[FIELD_DESTINATION],
                                                           .bytes = values[FIELD_BYTES],
                                                           .start_ps = values[FIELD_START],
                                                           .line = reading->line.number});
    }
}

static void read_count(struct reading *reading) {
    const size_t begin = strspn(reading->line.text, " \t\r");
    const size_t digits = line_number(reading->line.text + begin, &reading->said_flows);
    const size_t rest = begin + digits + strspn(reading->line.text + begin + digits, " \t\r");
    reading->has_count = true;
    if (digits == 0 || rest < reading->line.length) {
        report(reading, begin + 1, "the first line is the number of flows");
    }
}

bool flow_file_read_hpcc(const char *name, const char *text, struct connection_matrix *matrix,
                         struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct reading reading = {.name = name, .errors = errors, .matrix = matrix, .line = {.next = text}};
    for (uint64_t lines = 0; (!reading.has_count || lines <= reading.said_flows) && line_next(&reading.line); lines++) {
        if (reading.has_count) {
            read_flow(&reading);
        } else {
            read_count(&reading);
        }
    }
    if (errors->count + errors->dropped == before &&
        (!reading.has_count || matrix->n_connections != reading.said_flows)) {
        reading.line = (struct line){.number = 1};
        report(&reading, 1, "the first line says %" PRIu64 " flows, the file has %" PRIu32, reading.said_flows,
               matrix->n_connections);
    }
    return errors->count + errors->dropped == before;
}

bool flow_file_read(const char *path, struct connection_matrix *matrix, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!text_ends_with(path, ".txt")) {
        return connection_matrix_read(path, matrix, errors);
    }
    if (!file_read(path, FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return false;
    }
    const bool good = flow_file_read_hpcc(path, text.bytes, matrix, errors);
    free(text.bytes);
    return good;
}
