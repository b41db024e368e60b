// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What DeepEP's tests printed on a real machine (tests/test_intranode.py, test_internode.py, test_low_latency.py).
 */
#ifndef MOEFABRIC_COMMAND_PERF_DEEPEP_H
#define MOEFABRIC_COMMAND_PERF_DEEPEP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { PERF_DEEPEP_ROWS = 16 };

/** One result of a dispatch or a combine; bandwidths in GB/s, logical; NAN where the test prints none. */
struct perf_deepep_row {
    bool bf16;    /**< of dispatched tokens; else FP8 */
    uint32_t sms; /**< 0: not printed */
    double time_us, rdma, nvl;
    unsigned line; /**< the last of them, of a mean over ranks */
};

/** Results of one log in their order. */
struct perf_deepep_log {
    uint64_t tokens; /**< of a GPU, from the line that begins with [config]; 0: not printed */
    struct perf_deepep_row rows[PERF_DEEPEP_ROWS];
    uint32_t count;
};

/**
 * Reads the results of the dispatch, or of the combine. Normal kernels: lines "[tuning] Best dispatch (FP8): SMs 24, …: 48 + 1404 us, 43.00 GB/s (RDMA),
 * 140.70 GB/s (NVL)", in any of the forms that versions of the tests print; a line that gives no time is refused. Low-latency kernels: lines
 * "[rank 0] Dispatch bandwidth: 63.00 GB/s, avg_t=118.00 us | Combine …", of which the mean over ranks is one row. False, with *error (file
 * and line), for a line that begins like a result and is none, and for a log without results.
 */
bool perf_deepep_read(const char *path, bool combine, struct perf_deepep_log *log, struct error *error);

#endif
