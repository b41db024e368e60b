// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/watch.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void watch_begin(struct watch *watch, uint64_t wall_time_ps, uint64_t memory_bytes) {
    watch->wall_time_ns = wall_time_ps / 1000;
    watch->memory_bytes = memory_bytes;
    watch->begun_ns = monotonic_ns();
    atomic_store(&watch->exceeded, MEASUREMENT_FINISHED);
}

static uint64_t peak_memory_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0; // KiB on Linux: getrusage(2)
}

static enum measurement_outcome look(const struct watch *watch) {
    if (watch->wall_time_ns != 0 && monotonic_ns() - watch->begun_ns >= watch->wall_time_ns) {
        return MEASUREMENT_WALL_TIME;
    }
    if (watch->memory_bytes != 0 && peak_memory_bytes() >= watch->memory_bytes) {
        return MEASUREMENT_MEMORY;
    }
    return MEASUREMENT_FINISHED;
}

bool watch_is_exceeded(struct watch *watch) {
    int expected = MEASUREMENT_FINISHED;
    const enum measurement_outcome seen = look(watch);
    if (seen != MEASUREMENT_FINISHED) {
        atomic_compare_exchange_strong(&watch->exceeded, &expected, (int)seen); // the first one is told
    }
    return atomic_load(&watch->exceeded) != MEASUREMENT_FINISHED;
}

enum measurement_outcome watch_outcome(const struct watch *watch) {
    const int exceeded = atomic_load(&watch->exceeded);
    return exceeded == MEASUREMENT_FINISHED ? MEASUREMENT_INTERRUPTED : (enum measurement_outcome)exceeded;
}
