// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/perf_deepep.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOG_BYTES = 16 << 20, LINE_SIZE = 512 };

/* What is read of a log, with the sum of what ranks print. */
struct reading {
    const char *path;
    bool combine;
    struct perf_deepep_log *log;
    double ranks_us;
    uint32_t ranks;
    unsigned line; /* of the last of them */
};

static bool refuse(struct error *error, const char *path, const struct line *line, const char *message) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, "%s", message);
    error_hint(error,
               "a line of DeepEP's tests: [tuning] Best dispatch (FP8): SMs …: … us, … GB/s (RDMA), … GB/s (NVL)");
    line_locate(line, path, 0, error);
    return false;
}

/* The positive number that ends right before a mark in a text; NAN if there is none. */
static double number_before(const char *text, const char *mark) {
    const char *end = strstr(text, mark), *begin = end;
    while (begin != NULL && begin > text && strchr("0123456789.", begin[-1]) != NULL) {
        begin--;
    }
    char *parsed = NULL;
    const double value = begin == NULL || begin == end ? 0 : strtod(begin, &parsed);
    return parsed == end && value > 0 && isfinite(value) ? value : NAN;
}

/* The positive number right after a mark; NAN if there is none. */
static double number_after(const char *text, const char *mark) {
    const char *begin = strstr(text, mark);
    char *parsed = NULL;
    const double value = begin == NULL ? 0 : strtod(begin + strlen(mark), &parsed);
    return value > 0 && isfinite(value) ? value : NAN;
}

/* "48 + 1404 us": notification and kernel, of which the bandwidths count the second; "transmit: 1404.00 us"; "t: 1048.00 us". */
static double time_of(const char *text) {
    const char *const marks[] = {"transmit: ", ", t: ", "avg_t="};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const double time_us = number_after(text, marks[i]);
        if (!isnan(time_us)) {
            return time_us;
        }
    }
    return number_before(text, " us");
}

static bool take_best(const struct reading *reading, const char *text, const struct line *line, struct error *error) {
    struct perf_deepep_log *log = reading->log;
    const double sms = number_after(text, "SMs ");
    const struct perf_deepep_row row = {.bf16 = reading->combine || strstr(text, "(BF16)") != NULL,
                                        .sms = isnan(sms) ? 0 : (uint32_t)sms,
                                        .time_us = time_of(text),
                                        .rdma = number_before(text, " GB/s (RDMA)"),
                                        .nvl = number_before(text, " GB/s (NVL)"),
                                        .line = line->number};
    if (isnan(row.time_us)) {
        return refuse(error, reading->path, line, "this result of DeepEP's tests gives no time");
    }
    if (log->count == PERF_DEEPEP_ROWS) {
        return refuse(error, reading->path, line, "the log has more than 16 results");
    }
    log->rows[log->count++] = row;
    return true;
}

static bool take_rank(struct reading *reading, const char *text, const struct line *line, struct error *error) {
    const char *own = strstr(text, reading->combine ? "Combine bandwidth: " : "Dispatch bandwidth: ");
    const double time_us = own != NULL ? number_after(own, "avg_t=") : NAN;
    if (isnan(time_us)) {
        return refuse(error, reading->path, line, "this result of DeepEP's tests gives no time");
    }
    reading->ranks_us += time_us;
    reading->line = line->number;
    reading->ranks++;
    return true;
}

static bool take_line(struct reading *reading, const struct line *line, struct error *error) {
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "%.*s", (int)line->length, line->text);
    const double tokens = strstr(text, "[config]") != NULL ? number_after(text, "num_tokens=") : NAN;
    if (!isnan(tokens)) {
        reading->log->tokens = (uint64_t)tokens;
    }
    if (strstr(text, reading->combine ? "[tuning] Best combine" : "[tuning] Best dispatch") != NULL) {
        return take_best(reading, text, line, error);
    }
    return strstr(text, "] Dispatch bandwidth: ") == NULL || take_rank(reading, text, line, error);
}

static bool read_lines(struct reading *reading, const char *text, struct error *error) {
    struct line line = {.next = text};
    while (line_next(&line)) {
        if (!take_line(reading, &line, error)) {
            return false;
        }
    }
    struct perf_deepep_log *log = reading->log;
    if (log->count == 0 && reading->ranks > 0) {
        log->rows[log->count++] = (struct perf_deepep_row){.bf16 = reading->combine,
                                                           .time_us = reading->ranks_us / reading->ranks,
                                                           .rdma = NAN,
                                                           .nvl = NAN,
                                                           .line = reading->line};
    }
    return log->count > 0 ||
           refuse(error, reading->path, &(struct line){0}, "the log holds no results of DeepEP's tests for this kind");
}

bool perf_deepep_read(const char *path, bool combine, struct perf_deepep_log *log, struct error *error) {
    struct file_text text;
    *log = (struct perf_deepep_log){0};
    if (!file_read(path, LARGEST_LOG_BYTES, &text, error)) {
        return false;
    }
    struct reading reading = {.path = path, .combine = combine, .log = log};
    const bool done = read_lines(&reading, text.bytes, error);
    free(text.bytes);
    return done;
}
