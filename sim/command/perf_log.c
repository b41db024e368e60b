// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/perf_log.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOG_BYTES = 16 << 20, LINE_SIZE = 512, NUMBER_SIZE = 32 };

static bool refuse(struct error *error, const char *path, const struct line *line, const char *message) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, "%s", message);
    error_hint(error, "a line of nccl-tests: size, count, type, redop, root, time (us), algbw, busbw (GB/s) …");
    line_locate(line, path, 0, error);
    return false;
}

/** A number of a column that must be positive; -1 if it is none. */
static double column_number(const char *text) {
    char *end;
    const double value = strtod(text, &end);
    return *end == '\0' && isfinite(value) && value >= 0.0 ? value : -1.0;
}

/** Reads one line of results; false if it is none. */
static bool read_row(const char *line, struct perf_log_row *row) {
    char size[NUMBER_SIZE], time[NUMBER_SIZE], algbw[NUMBER_SIZE], busbw[NUMBER_SIZE];
    if (sscanf(line, "%31s %*s %*s %*s %*s %31s %31s %31s", size, time, algbw, busbw) != 4) {
        return false;
    }
    const size_t digits = line_number(size, &row->bytes);
    row->time_us = column_number(time);
    row->algbw = column_number(algbw);
    row->busbw = column_number(busbw);
    return size[digits] == '\0' && row->bytes < UINT64_MAX && row->time_us > 0.0 && row->algbw >= 0.0 &&
           row->busbw >= 0.0;
}

/** Takes a line that begins with a digit. Sizes of 0 bytes (nccl-tests prints them for buffers smaller than the ranks) say nothing. */
static bool take_line(const struct line *line, struct perf_log *log) {
    struct perf_log_row row;
    char text[LINE_SIZE]; /* on its own: what it lacks must not come from the next one */
    snprintf(text, sizeof text, "%.*s", (int)line->length, line->text);
    if (!read_row(text, &row)) {
        return false;
    }
    row.line = line->number;
    if (row.bytes > 0) {
        log->rows = memory_resize(log->rows, (size_t)log->count + 1, sizeof *log->rows);
        log->rows[log->count++] = row;
    }
    return true;
}

/* Comments of the head: nccl-tests lists its ranks, `moefabric perf` counts them. */
static uint32_t count_ranks(const char *text) {
    uint32_t ranks = 0, listed = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        unsigned number;
        char word[16];
        if (sscanf(line, "# moefabric perf %15[a-z]: %u ranks", word, &number) == 2) {
            ranks = number;
        }
        listed += sscanf(line, "# Rank %u", &number) == 1;
    }
    return listed > 0 ? listed : ranks;
}

static bool read_lines(const char *path, const char *text, struct perf_log *log, struct error *error) {
    struct line line = {.next = text};
    log->ranks = count_ranks(text);
    while (line_next(&line)) {
        const char first = line.text[strspn(line.text, " \t")];
        if (isdigit((unsigned char)first) && !take_line(&line, log)) {
            return refuse(error, path, &line, "this begins like a result of nccl-tests, and is none");
        }
    }
    return log->count > 0 || refuse(error, path, &(struct line){0}, "the log holds no results of nccl-tests");
}

bool perf_log_read_text(const char *name, const char *text, struct perf_log *log, struct error *error) {
    *log = (struct perf_log){0};
    const bool done = read_lines(name, text, log, error);
    if (!done) {
        perf_log_free(log);
    }
    return done;
}

bool perf_log_read(const char *path, struct perf_log *log, struct error *error) {
    struct file_text text;
    *log = (struct perf_log){0};
    if (!file_read(path, LARGEST_LOG_BYTES, &text, error)) {
        return false;
    }
    const bool done = perf_log_read_text(path, text.bytes, log, error);
    free(text.bytes);
    return done;
}

void perf_log_free(struct perf_log *log) {
    free(log->rows);
    *log = (struct perf_log){0};
}
