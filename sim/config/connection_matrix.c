// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/connection_matrix.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 30, WORD_SIZE = 64 };

#define LARGEST_START_PS ((UINT64_C(1) << 48) - 1)

/* A word of a line, and where it stands. */
struct word {
    const char *begin; /* in the line */
    size_t length;
    unsigned column;
    char text[WORD_SIZE]; /* what fits of it: more than any word that is known */
};

/* The file being read, and how far. */
struct reading {
    const char *name;
    struct error_list *errors;
    struct connection_matrix *matrix;
    struct line line;
    size_t at; /* in the line: what is behind it has been taken */
    uint64_t said_connections, said_triggers;
    bool has_nodes, has_connections;
    unsigned header_line; /* with the number of connections */
};

static void report(struct reading *reading, unsigned column, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void report(struct reading *reading, unsigned column, const char *hint, const char *format, ...) {
    struct error error;
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_MATRIX, "%s", message);
    error_hint(&error, "%s", hint == NULL ? "" : hint);
    line_locate(&reading->line, reading->name, column, &error);
    error_list_add(reading->errors, &error);
}

/* Takes the next word of the line. False at its end. */
static bool take_word(struct reading *reading, struct word *word) {
    const char *text = reading->line.text;
    const size_t begin = reading->at + strspn(text + reading->at, " \t\r");
    if (begin >= reading->line.length) {
        return false;
    }
    word->begin = text + begin;
    word->length = strcspn(word->begin, " \t\r\n");
    word->column = (unsigned)begin + 1;
    snprintf(word->text, sizeof word->text, "%.*s", (int)word->length, word->begin);
    reading->at = begin + word->length;
    return true;
}

/* Takes the whole number that must follow a word. False if there is none, which has been reported. */
static bool take_number(struct reading *reading, const struct word *before, uint64_t largest, uint64_t *number) {
    struct word word;
    if (!take_word(reading, &word)) {
        report(reading, before->column, NULL, "`%s` needs a number", before->text);
        return false;
    }
    const size_t digits = line_number(word.begin, number);
    size_t end = digits;
    if (word.begin[end] == '.') {
        end += 1 + strspn(word.begin + end + 1, "0"); // htsim reads times with a fraction, which is below a picosecond
    }
    if (digits == 0 || end != word.length || *number > largest) {
        report(reading, word.column, NULL, "`%s` must be a whole number from 0 to %" PRIu64 ", not `%s`", before->text,
               largest, word.text);
        return false;
    }
    return true;
}

/* Reports a word that is not known, with the nearest one that is. */
static void report_unknown(struct reading *reading, const struct word *word, const char *const *names, size_t n) {
    char hint[ERROR_MESSAGE_SIZE];
    const char *nearest = nearest_name(word->text, names, n);
    snprintf(hint, sizeof hint, "did you mean `%s`?", nearest == NULL ? "" : nearest);
    report(reading, word->column, nearest == NULL ? NULL : hint, "`%s` is no word of a connection matrix", word->text);
}

/* Words that htsim has and this program has no equal of. */
static bool refuse(struct reading *reading, const struct word *word) {
    static const struct {
        const char *word, *reason;
    } refused[] = {
        {"failure", "failures belong into the configuration, where they have a time"},
        {"prio", "priorities of flows are not simulated"},
        {"addon", "a flow is sent once"},
        {"multishot", "a flow is sent once"},
        {"send_done_trigger", "flows wait for deliveries at their own host: use recv_done_trigger"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (strcmp(word->text, refused[i].word) == 0) {
            report(reading, word->column, refused[i].reason, "`%s` cannot be simulated as htsim does", word->text);
            return true;
        }
    }
    return false;
}

static void read_header(struct reading *reading, const struct word *word) {
    uint64_t number;
    if (!take_number(reading, word, UINT32_MAX, &number)) {
        return;
    }
    if (strcmp(word->text, "Nodes") == 0) {
        reading->matrix->n_nodes = (uint32_t)number;
        reading->has_nodes = true;
    } else if (strcmp(word->text, "Connections") == 0) {
        reading->said_connections = number;
        reading->has_connections = true;
        reading->header_line = reading->line.number;
    } else if (strcmp(word->text, "Triggers") == 0) {
        reading->said_triggers = number;
    } else if (number > 0) {
        report(reading, word->column, "failures belong into the configuration, where they have a time",
               "`Failures` cannot be simulated as htsim does");
    }
}

/* SRC->DST. */
static bool read_ends(struct reading *reading, const struct word *word, struct connection *connection) {
    uint64_t source, destination = 0;
    const size_t from = line_number(word->begin, &source);
    const bool arrow = strncmp(word->begin + from, "->", 2) == 0;
    const size_t to = arrow ? line_number(word->begin + from + 2, &destination) : 0;
    if (from == 0 || to == 0 || from + 2 + to != word->length) {
        report(reading, word->column, NULL, "a connection is SOURCE->DESTINATION, for example 0->43, not `%s`",
               word->text);
        return false;
    }
    const uint64_t larger = number_larger(source, destination);
    if (larger >= reading->matrix->n_nodes) {
        report(reading, word->column, NULL,
               "node %" PRIu64 " does not exist: %" PRIu32 " nodes have the numbers 0 to %" PRIu32, larger,
               reading->matrix->n_nodes, reading->matrix->n_nodes - 1);
        return false;
    }
    if (source == destination) {
        report(reading, word->column, NULL, "node %" PRIu64 " would send to itself", source);
        return false;
    }
    connection->source = (uint32_t)source;
    connection->destination = (uint32_t)destination;
    return true;
}

/* What a connection's words have said so far. */
struct said {
    bool start, bytes;
};

/* One word of a connection with its number. False after a mistake. */
static bool read_property(struct reading *reading, const struct word *word, struct connection *connection,
                          struct said *said) {
    static const char *const names[] = {"id", "start", "size", "trigger", "recv_done_trigger", "send_done_trigger"};
    uint64_t number;
    if (refuse(reading, word)) {
        return false;
    }
    if (strcmp(word->text, "start") == 0) {
        said->start = true;
        return take_number(reading, word, LARGEST_START_PS, &connection->start_ps);
    }
    if (strcmp(word->text, "size") == 0) {
        said->bytes = true;
        return take_number(reading, word, UINT64_C(1) << 40, &connection->bytes);
    }
    uint32_t *field = strcmp(word->text, "id") == 0                  ? &connection->id
                      : strcmp(word->text, "trigger") == 0           ? &connection->trigger
                      : strcmp(word->text, "recv_done_trigger") == 0 ? &connection->sets_free
                                                                     : NULL;
    if (field == NULL) {
        report_unknown(reading, word, names, sizeof names / sizeof names[0]);
        return false;
    }
    if (!take_number(reading, word, UINT32_MAX, &number)) {
        return false;
    }
    if (number == 0) {
        report(reading, word->column, NULL, "`%s` 0 is not allowed: numbers begin with 1", word->text);
    }
    *field = (uint32_t)number;
    return number != 0;
}

void connection_matrix_add(struct connection_matrix *matrix, const struct connection *connection) {
    if (matrix->n_connections == matrix->connection_capacity) {
        matrix->connection_capacity = matrix->connection_capacity ? 2 * matrix->connection_capacity : 256;
        matrix->connections =
            memory_resize(matrix->connections, matrix->connection_capacity, sizeof *matrix->connections);
    }
    matrix->connections[matrix->n_connections++] = *connection;
}

static void read_connection(struct reading *reading, const struct word *word) {
    struct connection connection = {.line = reading->line.number};
    struct said said = {0};
    struct word next;
    if (!reading->has_nodes) {
        report(reading, word->column, NULL, "`Nodes` must come before the first connection");
        return;
    }
    if (!read_ends(reading, word, &connection)) {
        return;
    }
    while (take_word(reading, &next)) {
        if (!read_property(reading, &next, &connection, &said)) {
            return;
        }
    }
    if (!said.bytes || connection.bytes == 0) {
        report(reading, word->column, NULL, "the connection has no `size` of at least 1 byte");
    } else if (said.start == (connection.trigger != 0)) {
        report(reading, word->column, NULL, "the connection needs `start` or `trigger`, %s",
               said.start ? "not both" : "and has neither");
    }
    connection_matrix_add(reading->matrix, &connection);
}

static void add_trigger(struct connection_matrix *matrix, const struct connection_trigger *trigger) {
    if (matrix->n_triggers == matrix->trigger_capacity) {
        matrix->trigger_capacity = matrix->trigger_capacity ? 2 * matrix->trigger_capacity : 16;
        matrix->triggers = memory_resize(matrix->triggers, matrix->trigger_capacity, sizeof *matrix->triggers);
    }
    matrix->triggers[matrix->n_triggers++] = *trigger;
}

static void read_trigger(struct reading *reading, const struct word *word) {
    static const char *const names[] = {"id", "oneshot", "barrier", "count"};
    struct connection_trigger trigger = {.line = reading->line.number};
    bool has_kind = false;
    struct word next;
    while (take_word(reading, &next)) {
        uint64_t number = 0;
        if (strcmp(next.text, "id") == 0 || strcmp(next.text, "count") == 0) {
            if (!take_number(reading, &next, UINT32_MAX, &number)) {
                return;
            }
            *(next.text[0] == 'i' ? &trigger.id : &trigger.count) = (uint32_t)number;
        } else if (strcmp(next.text, "oneshot") == 0 || strcmp(next.text, "barrier") == 0) {
            trigger.barrier = next.text[0] == 'b';
            has_kind = true;
        } else if (refuse(reading, &next)) {
            return;
        } else {
            report_unknown(reading, &next, names, sizeof names / sizeof names[0]);
            return;
        }
    }
    if (trigger.id == 0 || !has_kind || (trigger.barrier && trigger.count == 0)) {
        report(reading, word->column, "for example: trigger id 1 oneshot; trigger id 2 barrier count 8",
               "a trigger needs an id from 1 and a kind, a barrier a count too");
        return;
    }
    add_trigger(reading->matrix, &trigger);
}

static void read_line(struct reading *reading) {
    static const char *const headers[] = {"Nodes", "Connections", "Triggers", "Failures"};
    static const char *const names[] = {"Nodes", "Connections", "Triggers", "Failures", "trigger"};
    struct word word;
    reading->at = 0;
    take_word(reading, &word);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (strcmp(word.text, headers[i]) == 0) {
            read_header(reading, &word);
            return;
        }
    }
    if (strstr(word.text, "->") != NULL) {
        read_connection(reading, &word);
    } else if (strcmp(word.text, "trigger") == 0) {
        read_trigger(reading, &word);
    } else if (!refuse(reading, &word)) {
        report_unknown(reading, &word, names, sizeof names / sizeof names[0]);
    }
}

static int compare_triggers(const void *left_pointer, const void *right_pointer) {
    const struct connection_trigger *left = left_pointer, *right = right_pointer;
    return (left->id > right->id) - (left->id < right->id);
}

static struct connection_trigger *find_trigger(const struct connection_matrix *matrix, uint32_t id) {
    const struct connection_trigger wanted = {.id = id};
    return matrix->n_triggers == 0
               ? NULL
               : bsearch(&wanted, matrix->triggers, matrix->n_triggers, sizeof *matrix->triggers, compare_triggers);
}

/* Reports something about the whole of a line that was read before. */
static void report_line(struct reading *reading, uint32_t line, const char *hint, const char *text) {
    reading->line = (struct line){.number = line};
    report(reading, 1, hint, "%s", text);
}

/* Notes which flows pull which trigger. They must all end at one host, or no host could know of all. */
static void note_pulls(struct reading *reading) {
    for (uint32_t i = 0; i < reading->matrix->n_connections; i++) {
        const struct connection *connection = &reading->matrix->connections[i];
        struct connection_trigger *trigger =
            connection->sets_free == 0 ? NULL : find_trigger(reading->matrix, connection->sets_free);
        if (connection->sets_free != 0 && trigger == NULL) {
            report_line(reading, connection->line, NULL, "the flow pulls a trigger that no line describes");
        } else if (trigger != NULL && trigger->pulls++ == 0) {
            trigger->host = connection->destination;
        } else if (trigger != NULL && trigger->host != connection->destination) {
            report_line(reading, connection->line, "all flows that pull a trigger must end at one host",
                        "the flow pulls a trigger that another host's flows pull too");
        }
    }
}

static void check_triggers(struct reading *reading) {
    const struct connection_matrix *matrix = reading->matrix;
    for (uint32_t i = 0; i < matrix->n_triggers; i++) {
        const struct connection_trigger *trigger = &matrix->triggers[i];
        if (i > 0 && trigger->id == matrix->triggers[i - 1].id) {
            report_line(reading, trigger->line, NULL, "there is another trigger of this id");
        } else if (trigger->pulls != (trigger->barrier ? trigger->count : 1)) {
            report_line(reading, trigger->line,
                        "a oneshot is pulled by one flow, a barrier by as many as its count says",
                        "the number of flows that pull the trigger is another than it waits for");
        }
    }
}

/* A flow must wait for something that its own host learns of. */
static void check_waiting(struct reading *reading, const struct connection *waiting) {
    const struct connection_trigger *trigger = find_trigger(reading->matrix, waiting->trigger);
    if (trigger == NULL) {
        report_line(reading, waiting->line, NULL, "the flow waits for a trigger that no line describes");
    } else if (trigger->pulls > 0 && trigger->host != waiting->source) {
        report_line(reading, waiting->line, "a flow can wait for flows that end at its own source",
                    "the flow waits for flows that end at another host, which this host cannot know of");
    }
}

static void check_whole(struct reading *reading) {
    const struct connection_matrix *matrix = reading->matrix;
    if (!reading->has_nodes || !reading->has_connections) {
        report_line(reading, 1, NULL, "a connection matrix begins with `Nodes` and `Connections`");
        return;
    }
    if (matrix->n_connections != reading->said_connections || matrix->n_triggers != reading->said_triggers) {
        reading->line = (struct line){.number = reading->header_line};
        report(reading, 1, NULL,
               "the header says %" PRIu64 " connections and %" PRIu64 " triggers, the file has %" PRIu32
               " and %" PRIu32,
               reading->said_connections, reading->said_triggers, matrix->n_connections, matrix->n_triggers);
    }
    if (matrix->n_triggers > 1) {
        qsort(matrix->triggers, matrix->n_triggers, sizeof *matrix->triggers, compare_triggers);
    }
    note_pulls(reading);
    check_triggers(reading);
    for (uint32_t i = 0; i < matrix->n_connections; i++) {
        if (matrix->connections[i].trigger != 0) {
            check_waiting(reading, &matrix->connections[i]);
        }
    }
}

bool connection_matrix_read_text(const char *name, const char *text, struct connection_matrix *matrix,
                                 struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct reading reading = {.name = name, .errors = errors, .matrix = matrix, .line = {.next = text}};
    while (line_next(&reading.line)) {
        read_line(&reading);
    }
    if (errors->count + errors->dropped == before) { // else much of it would only follow from what was told
        check_whole(&reading);
    }
    return errors->count + errors->dropped == before;
}

bool connection_matrix_read(const char *path, struct connection_matrix *matrix, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!file_read(path, FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return false;
    }
    const bool good = connection_matrix_read_text(path, text.bytes, matrix, errors);
    free(text.bytes);
    return good;
}

void connection_matrix_fini(struct connection_matrix *matrix) {
    free(matrix->connections);
    free(matrix->triggers);
    *matrix = (struct connection_matrix){0};
}
