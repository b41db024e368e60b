// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *bitmap_offsets(const struct fabric *fabric, uint32_t *words) {
    uint32_t *offsets = memory_allocate(fabric->n_devices + 1u, sizeof(*offsets));
    uint32_t offset = 0;
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        offsets[d] = offset;
        offset += (fabric->devices[d].n_ports + 63) / 64;
    }
    offsets[fabric->n_devices] = offset;
    *words = offset;
    return offsets;
}

static size_t most_ports(const struct fabric *fabric) {
    size_t most = 1;
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        most = fabric->devices[d].n_ports > most ? fabric->devices[d].n_ports : most;
    }
    return most;
}

struct engine *engine_create(const struct fabric *fabric, uint64_t seed, uint64_t window_ps) {
    struct engine *engine = memory_allocate(1, sizeof(*engine));
    engine->fabric = fabric;
    engine->seed = seed;
    engine->window_ps = window_ps ? window_ps : fabric->smallest_latency_ps;
    REQUIRE(engine->window_ps > 0 && engine->window_ps <= fabric->smallest_latency_ps,
            "a window of %llu ps does not fit a smallest latency of %llu ps", (unsigned long long)engine->window_ps,
            (unsigned long long)fabric->smallest_latency_ps);
    uint32_t words;
    engine->bitmap_offset = bitmap_offsets(fabric, &words);
    for (int queue = 0; queue < ENGINE_QUEUES; queue++) {
        engine->rings.writers[queue] = memory_allocate_aligned(fabric->n_links, sizeof(struct ring_writer));
        engine->rings.readers[queue] = memory_allocate_aligned(fabric->n_links, sizeof(struct ring_reader));
        engine->pending[queue] = memory_allocate(words, sizeof(uint64_t));
    }
    engine->rings.window = 1; // 0 is what rings are born with
    engine->due_ps = memory_allocate(fabric->n_devices, sizeof(*engine->due_ps));
    engine->devices = memory_allocate(fabric->n_devices, sizeof(*engine->devices));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        engine->due_ps[d] = TIME_NEVER;
    }
    engine->worker.engine = engine;
    engine->worker.ports = memory_allocate(most_ports(fabric), sizeof(*engine->worker.ports));
    return engine;
}

void engine_free(struct engine *engine) {
    if (!engine) {
        return;
    }
    for (int queue = 0; queue < ENGINE_QUEUES; queue++) {
        free(engine->rings.writers[queue]);
        free(engine->rings.readers[queue]);
        free(engine->pending[queue]);
    }
    free(engine->bitmap_offset);
    free(engine->due_ps);
    free(engine->devices);
    free(engine->worker.arrivals);
    free(engine->worker.sorted);
    free(engine->worker.records);
    free(engine->worker.ports);
    free(engine->worker.listings);
    chunk_pool_fini(&engine->worker.pool);
    free(engine);
}

void engine_set_device(struct engine *engine, uint32_t device, engine_advance *advance, void *object) {
    engine->devices[device] = (struct engine_device){.advance = advance, .object = object};
}

void engine_wake(struct engine *engine, uint32_t device, uint64_t time_ps) {
    if (time_ps < engine->due_ps[device]) {
        engine->due_ps[device] = time_ps;
    }
}

struct engine_worker *engine_first_worker(struct engine *engine) {
    return &engine->worker;
}

struct engine_rings *engine_rings_of(struct engine *engine) {
    return &engine->rings;
}

uint64_t engine_now_ps(const struct engine *engine) {
    return engine->now_ps;
}

uint64_t engine_windows(const struct engine *engine) {
    return engine->n_windows;
}

size_t engine_bytes(const struct engine *engine) {
    const size_t rings =
        ENGINE_QUEUES * engine->fabric->n_links * (sizeof(struct ring_writer) + sizeof(struct ring_reader));
    const size_t scratch =
        engine->worker.arrival_capacity * (2 * sizeof(struct engine_arrival) + sizeof(struct engine_record));
    return rings + scratch + chunk_pool_bytes(&engine->worker.pool) +
           engine->fabric->n_devices * (sizeof(uint64_t) + sizeof(struct engine_device));
}

void engine_list_link(struct engine_worker *worker, uint32_t link, enum engine_queue queue, uint64_t arrival_ps) {
    if (worker->n_listings == worker->listing_capacity) {
        worker->listing_capacity = worker->listing_capacity ? 2 * worker->listing_capacity : 256;
        worker->listings = memory_resize(worker->listings, worker->listing_capacity, sizeof(*worker->listings));
    }
    worker->listings[worker->n_listings++] =
        (struct engine_listing){.link = link, .queue = (uint32_t)queue, .arrival_ps = arrival_ps};
}

/* At the end of a window: the heads of links that got something learn of it. */
static void hand_over(struct engine *engine, struct engine_worker *worker) {
    for (uint32_t i = 0; i < worker->n_listings; i++) {
        const struct engine_listing *listing = &worker->listings[i];
        const struct fabric_link *link = &engine->fabric->links[listing->link];
        uint64_t *bitmap = &engine->pending[listing->queue][engine->bitmap_offset[link->head_device]];
        bitmap[link->head_port / 64] |= UINT64_C(1) << (link->head_port % 64);
        engine_wake(engine, link->head_device, listing->arrival_ps);
    }
    worker->n_listings = 0;
}

static void run_device(struct engine *engine, uint32_t number, uint64_t begin_ps, uint64_t end_ps) {
    struct engine_worker *worker = &engine->worker;
    const struct engine_device *device = &engine->devices[number];
    worker->next_arrival_ps = TIME_NEVER;
    const uint64_t own_ps = device->advance(device->object, worker, begin_ps, end_ps);
    engine->due_ps[number] = own_ps < worker->next_arrival_ps ? own_ps : worker->next_arrival_ps;
}

/* Runs one window and returns when the next thing is due. */
static uint64_t run_window(struct engine *engine, uint64_t begin_ps, uint64_t end_ps) {
    const uint32_t n_devices = engine->fabric->n_devices;
    for (uint32_t d = 0; d < n_devices; d++) {
        if (engine->due_ps[d] < end_ps) {
            run_device(engine, d, begin_ps, end_ps);
        }
    }
    hand_over(engine, &engine->worker);
    engine->rings.window++;
    engine->n_windows++;
    uint64_t next_ps = TIME_NEVER;
    for (uint32_t d = 0; d < n_devices; d++) {
        next_ps = engine->due_ps[d] < next_ps ? engine->due_ps[d] : next_ps;
    }
    return next_ps;
}

enum engine_status engine_run(struct engine *engine, uint64_t limit_ps, engine_tick *tick, void *context) {
    hand_over(engine, &engine->worker); // what was sent before the first window
    engine->rings.window++;
    uint64_t begin_ps = TIME_NEVER;
    for (uint32_t d = 0; d < engine->fabric->n_devices; d++) {
        begin_ps = engine->due_ps[d] < begin_ps ? engine->due_ps[d] : begin_ps;
    }
    while (begin_ps != TIME_NEVER) {
        if (begin_ps > limit_ps) {
            return ENGINE_LIMIT;
        }
        if (tick && !tick(context, begin_ps)) {
            return ENGINE_STOPPED;
        }
        engine->now_ps = begin_ps + engine->window_ps;
        const uint64_t next_ps = run_window(engine, begin_ps, engine->now_ps);
        REQUIRE(next_ps >= engine->now_ps, "something is due at %llu ps, inside the window that ended at %llu ps",
                (unsigned long long)next_ps, (unsigned long long)engine->now_ps);
        begin_ps = next_ps;
    }
    return ENGINE_IDLE;
}
