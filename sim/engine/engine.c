// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

enum { TIE_PACKETS = 4 }; /* phase of packets among the steps of one time (sim/device/README.md) */

/* Devices without what runs them, and where their bits are. */
static void create_devices(struct engine *engine) {
    const struct fabric *fabric = engine->fabric;
    engine->devices = memory_allocate(fabric->n_devices, sizeof(*engine->devices));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        engine->devices[d].first_port = fabric->devices[d].first_port;
        engine->devices[d].first_word = engine->pending_words;
        engine->devices[d].words = (fabric->devices[d].n_ports + 63) / 64;
        // a cache line of its own for every device: bits of different workers' devices are never in one word or line
        engine->pending_words += (fabric->devices[d].n_ports + 511) / 512 * 8;
    }
}

static void create_rings(struct engine *engine) {
    const struct fabric *fabric = engine->fabric;
    engine->tie_streams = memory_allocate(fabric->n_links, sizeof(*engine->tie_streams));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        engine->tie_streams[fabric->links[l].reverse] = hash_stream(engine->seed, HASH_PURPOSE_TIE, l, TIE_PACKETS);
    }
    for (int queue = 0; queue < ENGINE_QUEUES; queue++) {
        engine->rings.writers[queue] = memory_allocate_aligned(fabric->n_links, sizeof(struct ring_writer));
        engine->rings.readers[queue] = memory_allocate_aligned(fabric->n_links, sizeof(struct ring_reader));
        engine->pending[queue] = memory_allocate_aligned(engine->pending_words, sizeof(uint64_t));
        for (uint32_t l = 0; l < fabric->n_links; l++) {
            engine->rings.writers[queue][l].reader = fabric->links[l].reverse;
            engine->rings.writers[queue][l].listed_window = UINT64_MAX;
            engine->rings.readers[queue][fabric->links[l].reverse].writer = &engine->rings.writers[queue][l];
        }
    }
}

/* Once it is known who runs which device. */
static void connect_rings(struct engine *engine) {
    const struct fabric *fabric = engine->fabric;
    engine->inlets = memory_allocate(fabric->n_links, sizeof(*engine->inlets));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        const struct engine_device *head = &engine->devices[link->head_device];
        engine->inlets[link->reverse] =
            (struct engine_inlet){.place = head->place, .bit = head->first_word * 64 + link->head_port};
        engine->rings.writers[ENGINE_CONTROL][l].worker = head->worker;
        engine->rings.writers[ENGINE_PACKET][l].worker = head->worker;
    }
}

static void create_worker(struct engine *engine, uint32_t number) {
    struct engine_worker *worker = &engine->workers[number];
    worker->engine = engine;
    worker->number = number;
    worker->pool.depot = engine->n_workers > 1 ? &engine->depot : NULL;
    worker->listed_ps = TIME_NEVER;
    for (int parity = 0; parity < 2; parity++) {
        worker->listings[parity] = memory_allocate(engine->n_workers, sizeof(struct engine_listings));
        atomic_init(&worker->next_ps[parity], TIME_NEVER);
    }
}

static void share_out(struct engine *engine, const uint32_t *worker_of) {
    const uint32_t n_devices = engine->fabric->n_devices;
    for (uint32_t d = 0; d < n_devices; d++) {
        engine->devices[d].worker = worker_of ? worker_of[d] : 0;
        if (engine->devices[d].worker == ENGINE_ELSEWHERE) {
            continue;
        }
        REQUIRE(engine->devices[d].worker < engine->n_workers, "device %u is given to worker %u of %u", d,
                engine->devices[d].worker, engine->n_workers);
        engine->devices[d].place = engine->workers[engine->devices[d].worker].n_devices++;
    }
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        struct engine_worker *worker = &engine->workers[w];
        worker->devices = memory_allocate_aligned(worker->n_devices, sizeof(*worker->devices));
        worker->due_ps = memory_allocate_aligned(worker->n_devices, sizeof(*worker->due_ps));
        memset(worker->due_ps, 0xff, worker->n_devices * sizeof(*worker->due_ps)); // TIME_NEVER
    }
    for (uint32_t d = 0; d < n_devices; d++) {
        if (engine->devices[d].worker == ENGINE_ELSEWHERE) {
            continue;
        }
        engine->workers[engine->devices[d].worker].devices[engine->devices[d].place] = d;
    }
}

struct engine *engine_create_split(const struct fabric *fabric, uint64_t seed, uint64_t window_ps, uint32_t n_workers,
                                   const uint32_t *worker_of) {
    struct engine *engine = memory_allocate(1, sizeof(*engine));
    engine->fabric = fabric;
    engine->seed = seed;
    engine->window_ps =
        number_smaller(window_ps ? window_ps : fabric->smallest_latency_ps, UINT32_MAX); // keys of arrivals
    engine->n_workers = n_workers;
    REQUIRE(engine->window_ps > 0 && engine->window_ps <= fabric->smallest_latency_ps,
            "a window of %llu ps does not fit a smallest latency of %llu ps", (unsigned long long)engine->window_ps,
            (unsigned long long)fabric->smallest_latency_ps);
    REQUIRE(n_workers > 0, "an engine needs a worker");
    create_devices(engine);
    create_rings(engine);
    chunk_depot_init(&engine->depot);
    barrier_init(&engine->barrier, n_workers);
    engine->workers = memory_allocate_aligned(n_workers, sizeof(*engine->workers));
    for (uint32_t w = 0; w < n_workers; w++) {
        create_worker(engine, w);
    }
    share_out(engine, worker_of);
    connect_rings(engine);
    return engine;
}

struct engine *engine_create(const struct fabric *fabric, uint64_t seed, uint64_t window_ps) {
    return engine_create_split(fabric, seed, window_ps, 1, NULL);
}

void engine_join(struct engine *engine, const struct exchange *exchange, const uint32_t *rank_of) {
    const struct fabric *fabric = engine->fabric;
    engine->exchange = exchange;
    engine->rank_of = memory_allocate(fabric->n_devices, sizeof(*engine->rank_of));
    memcpy(engine->rank_of, rank_of, fabric->n_devices * sizeof(*rank_of));
    engine->outgoing = memory_allocate(exchange->n_ranks, sizeof(*engine->outgoing));
    engine->incoming = memory_allocate(exchange->n_ranks, sizeof(*engine->incoming));
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        engine->workers[w].outgoing = memory_allocate(exchange->n_ranks, sizeof(*engine->workers[w].outgoing));
    }
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (engine->devices[fabric->links[l].head_device].worker == ENGINE_ELSEWHERE) {
            engine->rings.writers[ENGINE_CONTROL][l].reader = ENGINE_ELSEWHERE;
            engine->rings.writers[ENGINE_PACKET][l].reader = ENGINE_ELSEWHERE;
        }
    }
}

static void free_buffers(struct exchange_buffer *buffers, const struct exchange *exchange) {
    for (uint32_t r = 0; exchange && r < exchange->n_ranks; r++) {
        exchange_buffer_fini(&buffers[r]);
    }
    free(buffers);
}

static void free_worker(struct engine_worker *worker) {
    free_buffers(worker->outgoing, worker->engine->exchange);
    for (int parity = 0; parity < 2; parity++) {
        for (uint32_t w = 0; w < worker->engine->n_workers; w++) {
            free(worker->listings[parity][w].entries);
        }
        free(worker->listings[parity]);
    }
    free(worker->keys);
    free(worker->sorted);
    free(worker->records);
    free(worker->ties);
    free(worker->devices);
    free(worker->due_ps);
    chunk_pool_fini(&worker->pool);
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
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        free_worker(&engine->workers[w]);
    }
    free_buffers(engine->outgoing, engine->exchange);
    free_buffers(engine->incoming, engine->exchange);
    free(engine->rank_of);
    chunk_depot_fini(&engine->depot);
    barrier_fini(&engine->barrier);
    free(engine->workers);
    free(engine->inlets);
    free(engine->tie_streams);
    free(engine->devices);
    free(engine);
}

void engine_set_device(struct engine *engine, uint32_t device, engine_advance *advance, void *object) {
    engine->devices[device].advance = advance;
    engine->devices[device].object = object;
}

void engine_wake(struct engine *engine, uint32_t device, uint64_t time_ps) {
    const struct engine_device *whose = &engine->devices[device];
    REQUIRE(whose->worker != ENGINE_ELSEWHERE, "device %u belongs to another rank", device);
    uint64_t *due_ps = &engine->workers[whose->worker].due_ps[whose->place];
    *due_ps = time_ps < *due_ps ? time_ps : *due_ps;
}

struct engine_worker *engine_first_worker(struct engine *engine) {
    return &engine->workers[0];
}

struct engine_rings *engine_rings_of(struct engine *engine) {
    return &engine->rings;
}

uint64_t engine_now_ps(const struct engine *engine) {
    return engine->now_ps;
}

uint64_t engine_windows(const struct engine *engine) {
    return engine->workers[0].window;
}

uint64_t engine_packets(const struct engine *engine) {
    uint64_t packets = 0;
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        packets += atomic_load_explicit(&engine->workers[w].published_packets, memory_order_relaxed);
    }
    return packets;
}

size_t engine_bytes(const struct engine *engine) {
    size_t bytes =
        (size_t)ENGINE_QUEUES * engine->fabric->n_links * (sizeof(struct ring_writer) + sizeof(struct ring_reader));
    bytes += (size_t)engine->pending_words * ENGINE_QUEUES * sizeof(uint64_t);
    bytes += engine->fabric->n_links * (sizeof(*engine->inlets) + sizeof(*engine->tie_streams));
    bytes += engine->fabric->n_devices * (sizeof(struct engine_device) + sizeof(uint64_t) + sizeof(uint32_t));
    for (uint32_t w = 0; w < engine->n_workers; w++) {
        const struct engine_worker *worker = &engine->workers[w];
        bytes += worker->arrival_capacity *
                 (2 * sizeof(*worker->keys) + sizeof(*worker->records) + 2 * sizeof(*worker->ties));
        bytes += chunk_pool_bytes(&worker->pool);
    }
    return bytes;
}

void engine_list_link(struct engine_worker *worker, struct ring_writer *writer, enum engine_queue queue,
                      uint64_t arrival_ps) {
    struct engine_listings *listings = &worker->listings[worker->window & 1][writer->worker];
    if (listings->count == listings->capacity) {
        listings->capacity = listings->capacity ? 2 * listings->capacity : 256;
        listings->entries = memory_resize(listings->entries, listings->capacity, sizeof(*listings->entries));
    }
    listings->entries[listings->count++] =
        (struct engine_listing){.reader = writer->reader, .queue = (uint32_t)queue, .arrival_ps = arrival_ps};
    writer->listed_window = worker->window;
    worker->listed_ps = number_smaller(arrival_ps, worker->listed_ps);
}

unsigned char *engine_extend(struct engine_worker *worker, struct ring_writer *writer, enum engine_queue queue) {
    if (writer->reader == ENGINE_ELSEWHERE) {
        return NULL; // such a ring stays empty, so that every record comes here
    }
    return ring_extend(writer, &worker->engine->rings.readers[queue][writer->reader], &worker->pool);
}

void engine_send_elsewhere(struct engine_worker *worker, const struct ring_writer *writer, enum engine_queue queue,
                           uint64_t arrival_ps, const void *record) {
    const struct engine *engine = worker->engine;
    const uint32_t link = (uint32_t)(writer - engine->rings.writers[queue]);
    const uint32_t rank = engine->rank_of[engine->fabric->links[link].head_device];
    struct engine_record copy;
    memcpy(&copy, record, sizeof(copy));
    copy.stamp = arrival_ps;
    exchange_buffer_add(&worker->outgoing[rank], link, (uint32_t)queue, &copy);
    worker->listed_ps = number_smaller(arrival_ps, worker->listed_ps);
}
