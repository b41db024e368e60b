// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the engine share; no other room includes it. */
#ifndef MOEFABRIC_ENGINE_INTERNAL_H
#define MOEFABRIC_ENGINE_INTERNAL_H

#include "engine/barrier.h"
#include "engine/engine.h"

/** What runs a device, and whose it is. */
struct engine_device {
    engine_advance *advance;
    void *object;
    uint32_t worker; /**< that runs it; ENGINE_ELSEWHERE: one of another rank */
    uint32_t place;  /**< among the worker's devices */
    uint32_t first_port;
    uint32_t first_word; /**< of its bits in engine.pending */
    uint32_t words;      /**< with bits of ports */
    uint32_t unused;
};

/** Where what comes in by a port is noted. */
struct engine_inlet {
    uint32_t place; /**< of the device, among its worker's */
    uint32_t bit;   /**< of the port, in engine.pending */
};

struct engine {
    const struct fabric *fabric;
    uint64_t seed, window_ps;
    uint64_t now_ps; /**< end of the last window; written by worker 0 */
    struct engine_rings rings;
    uint64_t
        *pending[ENGINE_QUEUES]; /**< a bit a port: its in-link has records; engine_device says where a device's are */
    uint64_t *tie_streams; /**< by the port that a link enters: stream of the draws that settle ties of its packets */
    uint32_t pending_words;
    struct engine_inlet *inlets; /**< by the port that a link enters */
    struct engine_device *devices;
    struct engine_worker *workers;
    uint32_t n_workers;
    struct barrier barrier;
    struct chunk_depot depot;
    const struct exchange *exchange;             /**< NULL: one process */
    uint32_t *rank_of;                           /**< [device], with an exchange */
    struct exchange_buffer *outgoing, *incoming; /**< [rank], with an exchange: of all workers together */
    uint64_t limit_ps;
    engine_tick *tick;
    void *tick_context;
    _Atomic bool stop[2];      /**< tick said so, by parity of the window */
    enum engine_status status; /**< how the run ended; written by worker 0 */
};

#endif
