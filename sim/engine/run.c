// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The loop of windows. All workers run the same window; one barrier a window separates it from the next.
 *
 * What a worker hands to others (lists of links that went non-empty, the time at which it is next due) exists twice,
 * for even and odd windows: it is written in window k, read by all after the barrier, and written again in window k + 2,
 * when all have passed the barrier of window k + 1 and so have read it.
 */
#include "base/error.h"
#include "base/memory.h"
#include "engine/internal.h"

#include <pthread.h>
#include <stdlib.h>

/* Learns from the lists of the last window which of its in-links have got records. */
static void take_over(struct engine_worker *worker) {
    struct engine *engine = worker->engine;
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        const struct engine_listings *listings = &engine->workers[w].listings[worker->window & 1][worker->number];
        for (uint32_t i = 0; i < listings->count; i++) {
            const struct engine_listing *listing = &listings->entries[i];
            const struct engine_inlet *inlet = &engine->inlets[listing->reader];
            engine->pending[listing->queue][inlet->bit / 64] |= UINT64_C(1) << (inlet->bit % 64);
            uint64_t *due_ps = &worker->due_ps[inlet->place];
            *due_ps = listing->arrival_ps < *due_ps ? listing->arrival_ps : *due_ps;
        }
    }
}

static uint64_t run_device(struct engine_worker *worker, uint32_t place, uint64_t begin_ps, uint64_t end_ps) {
    const struct engine_device *device = &worker->engine->devices[worker->devices[place]];
    worker->next_arrival_ps = TIME_NEVER;
    const uint64_t own_ps = device->advance(device->object, worker, begin_ps, end_ps);
    return own_ps < worker->next_arrival_ps ? own_ps : worker->next_arrival_ps;
}

/* Runs the worker's devices through a window; returns when anything that it knows of is due next. */
static uint64_t run_window(struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    uint64_t next_ps = TIME_NEVER;
    worker->listed_ps = TIME_NEVER;
    for (uint32_t w = 0; w < worker->engine->n_workers; w++) {
        worker->listings[worker->window & 1][w].count = 0;
    }
    for (uint32_t i = 0; i < worker->n_devices; i++) {
        if (worker->due_ps[i] < end_ps) {
            worker->due_ps[i] = run_device(worker, i, begin_ps, end_ps);
        }
        next_ps = worker->due_ps[i] < next_ps ? worker->due_ps[i] : next_ps;
    }
    return worker->listed_ps < next_ps ? worker->listed_ps : next_ps;
}

/* When the next window begins: the earliest that any worker has published. */
static uint64_t next_begin_ps(const struct engine_worker *worker) {
    const struct engine *engine = worker->engine;
    uint64_t begin_ps = TIME_NEVER;
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        const uint64_t next_ps =
            atomic_load_explicit(&engine->workers[w].next_ps[worker->window & 1], memory_order_relaxed);
        begin_ps = next_ps < begin_ps ? next_ps : begin_ps;
    }
    return begin_ps;
}

static void publish(struct engine_worker *worker, uint64_t next_ps) {
    atomic_store_explicit(&worker->next_ps[worker->window & 1], next_ps, memory_order_relaxed);
    atomic_store_explicit(&worker->published_packets, worker->sent[ENGINE_PACKET], memory_order_relaxed);
}

/* Worker 0 alone: asks whether to go on, for everybody. */
static void look_around(struct engine *engine, const struct engine_worker *worker, uint64_t end_ps) {
    engine->now_ps = end_ps;
    if (engine->tick && !engine->tick(engine->tick_context, end_ps)) {
        atomic_store_explicit(&engine->stop[worker->window & 1], true, memory_order_relaxed);
    }
}

/* What all workers have for each other rank, in one buffer a rank. */
static void collect_outgoing(struct engine *engine) {
    for (uint32_t r = 0; r < engine->exchange->n_ranks; r++) {
        engine->outgoing[r].count = 0;
        for (uint32_t w = 0; w < engine->n_workers; w++) {
            struct exchange_buffer *buffer = &engine->workers[w].outgoing[r];
            for (uint32_t i = 0; i < buffer->count; i++) {
                const struct exchange_record *record = &buffer->records[i];
                exchange_buffer_add(&engine->outgoing[r], record->link, record->queue, record->bytes);
            }
            buffer->count = 0;
        }
    }
}

/* Worker 0 alone, while the others wait: ends the window with the other ranks and puts what they sent on our links. */
static void end_window(struct engine *engine) {
    struct engine_worker *worker = &engine->workers[0];
    const uint32_t parity = worker->window & 1;
    struct exchange_verdict verdict = {.next_ps = next_begin_ps(worker), .stop = atomic_load(&engine->stop[parity])};
    collect_outgoing(engine);
    engine->exchange->end_window(engine->exchange->context, engine->outgoing, engine->incoming, &verdict);
    for (uint32_t r = 0; r < engine->exchange->n_ranks; r++) {
        for (uint32_t i = 0; i < engine->incoming[r].count; i++) {
            const struct exchange_record *record = &engine->incoming[r].records[i];
            engine_send(worker, &engine->rings, record->link, (enum engine_queue)record->queue, record->bytes);
            worker->sent[record->queue]--; // it was counted where it was sent
        }
    }
    atomic_store(&worker->next_ps[parity], verdict.next_ps);
    atomic_store(&engine->stop[parity], verdict.stop);
}

/* Whether the run is over, and how: all workers come to the same answer. */
static bool is_over(const struct engine_worker *worker, uint64_t begin_ps, enum engine_status *status) {
    const struct engine *engine = worker->engine;
    if (begin_ps == TIME_NEVER) {
        *status = ENGINE_IDLE;
    } else if (begin_ps >= engine->limit_ps) {
        *status = ENGINE_LIMIT;
    } else if (atomic_load_explicit(&engine->stop[worker->window & 1], memory_order_relaxed)) {
        *status = ENGINE_STOPPED;
    } else {
        return false;
    }
    return true;
}

/* The last window ends at the limit: what is done by then does not depend on the length of windows. */
static uint64_t end_of(const struct engine *engine, uint64_t begin_ps) {
    const uint64_t end_ps = begin_ps + engine->window_ps;
    return end_ps < engine->limit_ps ? end_ps : engine->limit_ps;
}

static void *run_worker(void *context) {
    struct engine_worker *worker = context;
    struct engine *engine = worker->engine;
    enum engine_status status;
    for (;;) {
        const uint64_t begin_ps = next_begin_ps(worker);
        if (is_over(worker, begin_ps, &status)) {
            break;
        }
        const uint64_t end_ps = end_of(engine, begin_ps);
        take_over(worker);
        worker->window++;
        const uint64_t next_ps = run_window(worker, begin_ps, end_ps);
        REQUIRE(next_ps >= end_ps, "something is due at %llu ps, inside the window that ended at %llu ps",
                (unsigned long long)next_ps, (unsigned long long)end_ps);
        publish(worker, next_ps);
        if (worker->number == 0) {
            look_around(engine, worker, end_ps);
        }
        barrier_wait(&engine->barrier);
        if (engine->exchange) {
            if (worker->number == 0) {
                end_window(engine);
            }
            barrier_wait(&engine->barrier);
        }
    }
    if (worker->number == 0) {
        engine->status = status;
        engine->now_ps = status == ENGINE_LIMIT ? engine->limit_ps : engine->now_ps;
    }
    return NULL;
}

/* What was sent and woken before the first window counts as a window of its own. */
static void publish_start(struct engine *engine) {
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        struct engine_worker *worker = &engine->workers[w];
        uint64_t next_ps = worker->listed_ps;
        for (uint32_t i = 0; i < worker->n_devices; i++) {
            next_ps = worker->due_ps[i] < next_ps ? worker->due_ps[i] : next_ps;
        }
        publish(worker, next_ps);
    }
}

enum engine_status engine_run(struct engine *engine, uint64_t limit_ps, engine_tick *tick, void *context) {
    engine->limit_ps = limit_ps;
    engine->tick = tick;
    engine->tick_context = context;
    publish_start(engine);
    if (engine->exchange) {
        end_window(engine);
    }
    pthread_t *threads = memory_allocate(engine->n_workers, sizeof(*threads));
    for (uint32_t w = 1; w < engine->n_workers; w++) {
        const int failure = pthread_create(&threads[w], NULL, run_worker, &engine->workers[w]);
        REQUIRE(failure == 0, "thread %u of %u cannot be started (error %d)", w, engine->n_workers, failure);
    }
    run_worker(&engine->workers[0]);
    for (uint32_t w = 1; w < engine->n_workers; w++) {
        pthread_join(threads[w], NULL);
    }
    free(threads);
    return engine->status;
}
