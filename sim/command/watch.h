// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Limits of the machine rather than of the simulation: wall time and memory of this process. They end runs early; they never change a number.
 */
#ifndef MOEFABRIC_COMMAND_WATCH_H
#define MOEFABRIC_COMMAND_WATCH_H

#include "results/measurement.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What is watched, and what was exceeded first. Shared by the threads that run simulations. */
struct watch {
    uint64_t wall_time_ns; /**< 0 = no limit */
    uint64_t memory_bytes; /**< largest resident set so far; 0 = no limit */
    uint64_t begun_ns;     /**< monotonic clock */
    _Atomic int exceeded;  /**< enum measurement_outcome: MEASUREMENT_FINISHED while nothing is */
};

/** Begins to watch. wall_time_ps and memory_bytes: 0 = no limit. */
void watch_begin(struct watch *watch, uint64_t wall_time_ps, uint64_t memory_bytes);

/** Looks at clock and memory; true if a limit is or was exceeded. Cheap enough for a few thousand calls a second. */
bool watch_is_exceeded(struct watch *watch);

/** What an interrupted run ended by: the limit that was exceeded, else MEASUREMENT_INTERRUPTED. */
enum measurement_outcome watch_outcome(const struct watch *watch);

#endif
