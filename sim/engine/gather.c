// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Arrivals of one device in one window, in handling order: by time, control before packets, then by a hashed tie.
 *
 * A window holds tens to hundreds of arrivals, spread evenly: one pass of a bucket sort by time leaves so little
 * disorder that insertion finishes it in about one comparison each.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "engine/internal.h"

#include <string.h>

enum { BUCKETS = 256, SMALL = 24 };

static void reserve_one(struct engine_worker *worker) {
    if (worker->n_arrivals < worker->arrival_capacity) {
        return;
    }
    worker->arrival_capacity = worker->arrival_capacity ? 2 * worker->arrival_capacity : 256;
    worker->arrivals = memory_resize(worker->arrivals, worker->arrival_capacity, sizeof(*worker->arrivals));
    worker->sorted = memory_resize(worker->sorted, worker->arrival_capacity, sizeof(*worker->sorted));
    worker->records = memory_resize(worker->records, worker->arrival_capacity, sizeof(*worker->records));
    worker->ties = memory_resize(worker->ties, worker->arrival_capacity, sizeof(*worker->ties));
}

/* Takes what arrives before end_ps off one ring. Returns false when the ring is left empty. */
static bool gather_ring(struct engine_worker *worker, enum engine_queue queue, uint32_t reader_index, uint32_t link,
                        uint32_t port, uint64_t end_ps) {
    struct engine_rings *rings = &worker->engine->rings;
    struct ring_reader *reader = &rings->readers[queue][reader_index];
    uint64_t available = ring_available(&rings->writers[queue][link], reader);
    for (; available > 0; available--) {
        const void *record = ring_front(reader, &worker->pool);
        uint64_t time_ps;
        memcpy(&time_ps, record, sizeof(time_ps));
        if (time_ps >= end_ps) {
            worker->next_arrival_ps = time_ps < worker->next_arrival_ps ? time_ps : worker->next_arrival_ps;
            return true;
        }
        reserve_one(worker);
        memcpy(&worker->records[worker->n_arrivals], record, CHUNK_SLOT_BYTES);
        worker->arrivals[worker->n_arrivals] = (struct engine_arrival){

            .time_ps = time_ps, .record = worker->n_arrivals, .port = (uint16_t)port, .queue = (uint8_t)queue};
        worker->n_arrivals++;
        ring_pop(reader);
    }
    return false;
}

/* Ports of a device whose in-links have records, in ascending order. */
static uint32_t pending_ports(struct engine_worker *worker, uint32_t device, const uint64_t *bitmap) {
    const struct engine *engine = worker->engine;
    const uint32_t words = engine->bitmap_offset[device + 1] - engine->bitmap_offset[device];
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t bits = bitmap[w]; bits; bits &= bits - 1) {
            worker->ports[n++] = (uint16_t)(w * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
    return n;
}

/* The oldest record of a ring was written by another device, so it is seldom in the cache. */
static void prefetch_record(const struct ring_reader *reader) {
    if (reader->chunk) {
        __builtin_prefetch(reader->chunk->slots[reader->slot < CHUNK_SLOTS ? reader->slot : 0]);
    }
}

static void gather_queue(struct engine_worker *worker, uint32_t device, enum engine_queue queue, uint64_t end_ps) {
    enum { WRITERS_AHEAD = 8, RECORDS_AHEAD = 4 };
    struct engine *engine = worker->engine;
    const uint32_t first = engine->fabric->devices[device].first_port;
    const struct fabric_link *own = &engine->fabric->links[first];
    struct ring_reader *readers = &engine->rings.readers[queue][first];
    uint64_t *bitmap = &engine->pending[queue][engine->bitmap_offset[device]];
    const uint32_t n = pending_ports(worker, device, bitmap);
    const uint16_t *ports = worker->ports;
    for (uint32_t i = 0; i < n; i++) {
        if (i + WRITERS_AHEAD < n) {
            __builtin_prefetch(&engine->rings.writers[queue][own[ports[i + WRITERS_AHEAD]].reverse]);
        }
        if (i + RECORDS_AHEAD < n) {
            prefetch_record(&readers[ports[i + RECORDS_AHEAD]]);
        }
        if (!gather_ring(worker, queue, first + ports[i], own[ports[i]].reverse, ports[i], end_ps)) {
            bitmap[ports[i] / 64] &= ~(UINT64_C(1) << (ports[i] % 64));
        }
    }
}

static inline bool earlier(const struct engine_arrival *a, const struct engine_arrival *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->queue < b->queue;
}

static void insertion_sort(struct engine_arrival *arrivals, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        if (!earlier(&arrivals[i], &arrivals[i - 1])) {
            continue;
        }
        const struct engine_arrival moved = arrivals[i];
        uint32_t j = i;
        for (; j > 0 && earlier(&moved, &arrivals[j - 1]); j--) {
            arrivals[j] = arrivals[j - 1];
        }
        arrivals[j] = moved;
    }
}

/* Spreads arrivals over buckets of equal time; times below begin_ps cannot be, they were handled. */
static void bucket_sort(struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    uint32_t starts[BUCKETS + 1] = {0};
    unsigned shift = 0;
    while (((end_ps - begin_ps) >> shift) >= BUCKETS) {
        shift++;
    }
    const uint32_t n = worker->n_arrivals;
    for (uint32_t i = 0; i < n; i++) {
        starts[((worker->arrivals[i].time_ps - begin_ps) >> shift) + 1]++;
    }
    for (uint32_t b = 0; b < BUCKETS; b++) {
        starts[b + 1] += starts[b];
    }
    for (uint32_t i = 0; i < n; i++) {
        worker->sorted[starts[(worker->arrivals[i].time_ps - begin_ps) >> shift]++] = worker->arrivals[i];
    }
    struct engine_arrival *swap = worker->arrivals;
    worker->arrivals = worker->sorted;
    worker->sorted = swap;
}

/*
 * Orders packets of one picosecond by a hash of link and time: fair and reproducible, of two senders that are always in
 * step neither always comes first. Control records of one time stay in the order gathered (by port, then as sent): they
 * touch one port each, so their order among ports is without effect.
 */
static void settle_ties(struct engine_worker *worker, uint32_t device, struct engine_arrival *first, uint32_t n) {
    if (first->queue == ENGINE_CONTROL) {
        return;
    }
    const struct engine *engine = worker->engine;
    const uint64_t *streams = &engine->tie_streams[engine->fabric->devices[device].first_port];
    uint64_t *ties = worker->ties;
    for (uint32_t i = 0; i < n; i++) {
        const struct engine_arrival moved = first[i];
        const uint64_t tie = hash_draw(streams[moved.port], moved.time_ps);
        uint32_t j = i;
        for (; j > 0 && ties[j - 1] > tie; j--) {
            ties[j] = ties[j - 1];
            first[j] = first[j - 1];
        }
        ties[j] = tie;
        first[j] = moved;
    }
}

uint32_t engine_gather(struct engine_worker *worker, uint32_t device, uint64_t begin_ps, uint64_t end_ps) {
    worker->n_arrivals = 0;
    gather_queue(worker, device, ENGINE_CONTROL, end_ps);
    gather_queue(worker, device, ENGINE_PACKET, end_ps);
    const uint32_t n = worker->n_arrivals;
    if (n > SMALL) {
        bucket_sort(worker, begin_ps, end_ps);
    }
    insertion_sort(worker->arrivals, n);
    for (uint32_t i = 0; i + 1 < n;) {
        uint32_t same = 1;
        while (i + same < n && worker->arrivals[i + same].time_ps == worker->arrivals[i].time_ps &&
               worker->arrivals[i + same].queue == worker->arrivals[i].queue) {
            same++;
        }
        if (same > 1) {
            settle_ties(worker, device, &worker->arrivals[i], same);
        }
        i += same;
    }
    return n;
}
