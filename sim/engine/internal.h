// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the engine share; no other room includes it. */
#ifndef MOEFABRIC_ENGINE_INTERNAL_H
#define MOEFABRIC_ENGINE_INTERNAL_H

#include "engine/engine.h"

/** What runs a device. */
struct engine_device {
    engine_advance *advance;
    void *object;
};

struct engine {
    const struct fabric *fabric;
    uint64_t seed, window_ps, now_ps, n_windows;
    struct engine_rings rings;
    uint64_t
        *pending[ENGINE_QUEUES]; /**< a bit a port: its in-link has records; a device's bits begin at bitmap_offset */
    uint32_t *bitmap_offset;
    uint64_t *due_ps; /**< [device] */
    struct engine_device *devices;
    struct engine_worker worker;
};

#endif
