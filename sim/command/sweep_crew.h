// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Runs the points of a sweep, several at the same time, each in a process of its own: one that breaks, or that the system kills, takes
 * nothing with it but its own point.
 */
#ifndef MOEFABRIC_COMMAND_SWEEP_CREW_H
#define MOEFABRIC_COMMAND_SWEEP_CREW_H

#include "command/sweep_plan.h"

#include <stdbool.h>
#include <stdint.h>

/** What to run. */
struct sweep_crew_work {
    struct sweep_plan *plan;
    const uint32_t *indexes; /**< [count] points of the plan's table, in the order in which they are begun */
    uint32_t count;
    unsigned jobs;    /**< processes at the same time */
    unsigned threads; /**< of each */
    bool quiet;       /**< shows nothing */
};

/**
 * Runs the points; what comes of them is in their files and, taken over, in the plan's table. A process that ends without a result
 * makes its point SWEEP_FAILED, with its last words. SIGINT and its like end the processes that run, whose points stay missing.
 * While it runs, a table of what is being done stands on stderr; where that is no terminal, a line for each point that is done.
 * False if a signal has come.
 */
bool sweep_crew_run(const struct sweep_crew_work *work);

#endif
