// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What nccl-tests printed on a real machine.
 */
#ifndef MOEFABRIC_COMMAND_PERF_LOG_H
#define MOEFABRIC_COMMAND_PERF_LOG_H

#include "base/error.h"

#include <stdint.h>

/** One line of results, out of place. */
struct perf_log_row {
    uint64_t bytes;      /**< column size: of a rank's buffer */
    double time_us;      /**< column time */
    double algbw, busbw; /**< GB/s, as printed */
    unsigned line;
};

/** All of them, in their order. Freed by perf_log_free. */
struct perf_log {
    struct perf_log_row *rows;
    uint32_t count;
    uint32_t ranks; /**< as many as its head lists (`#  Rank  0 …`), or as `moefabric perf` says; 0: not said */
};

/**
 * Reads a log: lines that begin with # are passed over, as are those that do not begin with a number (other programs' words); others need at least the columns
 * size, count, type, redop, root, time, algbw, busbw (NVIDIA nccl-tests, common.cu). False, with *error (file and line), for a line
 * that begins like a result and is none, and for a log without results.
 */
bool perf_log_read(const char *path, struct perf_log *log, struct error *error);

/** The same from memory; name stands for the path in messages. */
bool perf_log_read_text(const char *name, const char *text, struct perf_log *log, struct error *error);

/** Frees the rows. */
void perf_log_free(struct perf_log *log);

#endif
