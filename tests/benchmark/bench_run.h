// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One measured run, in a process of its own: memory is what this run took, and no run warms the next one's allocator.
 */
#ifndef MOEFABRIC_BENCH_RUN_H
#define MOEFABRIC_BENCH_RUN_H

#include "config/experiment.h"
#include "device/network.h"

/** What to run: the first seed of an experiment. */
struct bench_run {
    const struct experiment *experiment;
    const struct experiment_policy *policy;
    uint32_t threads;
    bool watch_flight; /**< count packets in flight; slower, so its times mean nothing */
};

/** What it took. */
struct bench_result {
    enum network_status status;
    uint64_t hops, data_hops, end_ps, windows;
    double cpu_s, wall_s;    /**< of the simulation alone, without its set-up */
    uint64_t fabric_bytes;   /**< the graph, shared by runs */
    uint64_t fixed_bytes;    /**< devices and links before the first packet */
    uint64_t model_bytes;    /**< the same after the last; pools and queues keep the size that they grew to */
    uint64_t most_in_flight; /**< packets; 0 if not watched */
    uint64_t peak_bytes;     /**< resident, of the whole process */
};

/** Runs in this process. False if the experiment cannot be run (said on stderr). */
bool bench_run_here(const struct bench_run *run, struct bench_result *result);

/** Runs by the fluid model in this process; hops are 0. False if the experiment cannot be run (said on stderr). */
bool bench_run_fluid(const struct bench_run *run, struct bench_result *result);

/** Runs in a child process. False if the experiment cannot be run or the child died (said on stderr). */
bool bench_run_apart(const struct bench_run *run, struct bench_result *result);

#endif
