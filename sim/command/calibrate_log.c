// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/calibrate_log.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "command/perf_deepep.h"
#include "command/perf_log.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOG_BYTES = 16 << 20 };

const char *calibrate_log_kind_name(enum calibrate_kind kind) {
    static const char *const names[] = {"alltoall", "dispatch", "combine"};
    return names[kind];
}

static void add(struct calibrate_log *log, const struct calibrate_row *row) {
    log->rows = memory_resize(log->rows, (size_t)log->count + 1, sizeof *log->rows);
    log->rows[log->count++] = *row;
}

static bool add_alltoall(struct calibrate_log *log, const char *path, struct error *error) {
    struct perf_log read;
    if (!perf_log_read(path, &read, error)) {
        return false;
    }
    for (uint32_t i = 0; i < read.count; i++) {
        const struct calibrate_row row = {.kind = CALIBRATE_ALLTOALL,
                                          .ranks = read.ranks,
                                          .size = read.rows[i].bytes,
                                          .measured_us = read.rows[i].time_us,
                                          .path = path,
                                          .line = read.rows[i].line};
        add(log, &row);
    }
    perf_log_free(&read);
    return true;
}

static bool add_deepep(struct calibrate_log *log, const char *path, enum calibrate_kind kind, struct error *error) {
    struct perf_deepep_log read;
    if (!perf_deepep_read(path, kind == CALIBRATE_COMBINE, &read, error)) {
        return false;
    }
    for (uint32_t i = 0; i < read.count; i++) {
        const struct calibrate_row row = {.kind = kind,
                                          .size = read.tokens,
                                          .sms = read.rows[i].sms,
                                          .bf16 = read.rows[i].bf16,
                                          .measured_us = read.rows[i].time_us,
                                          .path = path,
                                          .line = read.rows[i].line};
        add(log, &row);
    }
    if (read.tokens == 0) {
        return error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, path,
                              "the log does not say how many tokens a GPU has: its line that begins with [config] is "
                              "missing");
    }
    return true;
}

bool calibrate_log_read(struct calibrate_log *log, const char *path, struct error *error) {
    struct file_text text;
    if (!file_read(path, LARGEST_LOG_BYTES, &text, error)) {
        return false;
    }
    const bool low_latency = strstr(text.bytes, "] Dispatch bandwidth: ") != NULL;
    const bool dispatch = low_latency || strstr(text.bytes, "[tuning] Best dispatch") != NULL;
    const bool combine = low_latency || strstr(text.bytes, "[tuning] Best combine") != NULL;
    free(text.bytes);
    if (!dispatch && !combine) {
        return add_alltoall(log, path, error);
    }
    return (!dispatch || add_deepep(log, path, CALIBRATE_DISPATCH, error)) &&
           (!combine || add_deepep(log, path, CALIBRATE_COMBINE, error));
}

void calibrate_log_fini(struct calibrate_log *log) {
    free(log->rows);
    *log = (struct calibrate_log){0};
}
