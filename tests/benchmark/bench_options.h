// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The command line of bench_network.
 */
#ifndef MOEFABRIC_BENCH_OPTIONS_H
#define MOEFABRIC_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_OVERRIDES = 16, BENCH_THREAD_COUNTS = 8, BENCH_RUNS_LIMIT = 99 };

/** What was asked for. Texts belong to argv. */
struct bench_options {
    const char *path;   /**< configuration file */
    const char *policy; /**< only this one; NULL = all of the configuration */
    const char *overrides[BENCH_OVERRIDES];
    size_t n_overrides;
    uint32_t threads[BENCH_THREAD_COUNTS]; /**< a row each */
    uint32_t n_threads;
    uint32_t runs; /**< of which the median is taken */
    bool once;     /**< one run in this process, for valgrind and perf */
    bool fluid;    /**< once, by the fluid model */
    bool work;     /**< no run: the traffic as text, for other simulators */
};

/** Reads the command line. False, with the usage on stderr, if it makes no sense. */
bool bench_options_read(struct bench_options *options, int argc, char **argv);

#endif
