// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Arrivals of one device in one window, in handling order: by time, control before packets, then by a hashed tie.
 *
 * What is sorted is one word an arrival: its time within the window, its queue, and where its record was put. A window holds
 * tens to hundreds of arrivals, spread evenly: one pass of a bucket sort by time leaves so little disorder that insertion
 * finishes it in about one comparison each.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "engine/internal.h"

#include <string.h>

enum { MOST_BUCKETS = 512, SMALL = 24, TIE_BUCKETS = 64, FEW_TIES = 12 };

/* Key of an arrival: picoseconds since the window began, then the queue, then the index of its record. */
enum { KEY_TIME_SHIFT = 32 };
static_assert(ENGINE_KEY_QUEUE_SHIFT == KEY_TIME_SHIFT - 1, "the queue decides between equal times");

static void reserve(struct engine_worker *worker, uint64_t n) {
    if (n <= worker->arrival_capacity) {
        return;
    }
    uint32_t capacity = worker->arrival_capacity ? worker->arrival_capacity : 256;
    while (capacity < n) {
        capacity *= 2;
    }
    worker->arrival_capacity = capacity;
    worker->keys = memory_resize(worker->keys, capacity, sizeof(*worker->keys));
    worker->sorted = memory_resize(worker->sorted, capacity, sizeof(*worker->sorted));
    worker->records = memory_resize(worker->records, capacity, sizeof(*worker->records));
    worker->ties = memory_resize(worker->ties, 2 * (size_t)capacity, sizeof(*worker->ties));
}

/* Takes what arrives before end_ps off one ring. Returns false when the ring is left empty. */
static bool gather_ring(struct engine_worker *worker, struct ring_reader *reader, enum engine_queue queue,
                        uint32_t port, uint64_t begin_ps, uint64_t end_ps) {
    const uint64_t available = ring_available(reader->writer, reader);
    const uint32_t first = worker->n_arrivals;
    reserve(worker, first + available);
    struct engine_record *record = &worker->records[first];
    uint64_t *key = &worker->keys[first], *const end = key + available;
    // a key less its time, counted from the start of the run: (time - begin) << shift is taken apart modulo 2^64
    uint64_t place = ((uint64_t)queue << ENGINE_KEY_QUEUE_SHIFT | first) - (begin_ps << KEY_TIME_SHIFT);
    unsigned char *next = reader->next;
    for (; key < end; key++, record++, place++) {
        if (__builtin_expect(chunk_is_end(next), 0)) {
            next = ring_turn(reader, next, &worker->pool);
        }
        uint64_t time_ps;
        memcpy(&time_ps, next, sizeof(time_ps));
        if (time_ps >= end_ps) {
            worker->next_arrival_ps = time_ps < worker->next_arrival_ps ? time_ps : worker->next_arrival_ps;
            break;
        }
        record->stamp = (time_ps << ENGINE_PORT_BITS) + port;
        memcpy(record->rest, next + sizeof(time_ps), sizeof(record->rest));
        *key = (time_ps << KEY_TIME_SHIFT) + place;
        next += CHUNK_SLOT_BYTES;
    }
    const uint64_t taken = available - (uint64_t)(end - key);
    reader->next = next;
    reader->read += taken;
    worker->n_arrivals = first + (uint32_t)taken;
    worker->n_rings++;
    return key < end;
}

/* What other devices wrote is seldom in the cache: how far each ring is filled, and its oldest record. */
static void prefetch_rings(const struct ring_reader *readers, uint64_t bits) {
    for (; bits; bits &= bits - 1) {
        const struct ring_reader *reader = &readers[__builtin_ctzll(bits)];
        __builtin_prefetch(reader->writer);
        __builtin_prefetch(reader->next);
    }
}

static void gather_queue(struct engine_worker *worker, const struct engine_device *device, enum engine_queue queue,
                         uint64_t begin_ps, uint64_t end_ps) {
    const struct engine *engine = worker->engine;
    struct ring_reader *readers = &engine->rings.readers[queue][device->first_port];
    uint64_t *bitmap = &engine->pending[queue][device->first_word];
    for (uint32_t w = 0; w < device->words; w++, readers += 64) {
        prefetch_rings(readers, bitmap[w]);
        for (uint64_t bits = bitmap[w]; bits; bits &= bits - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(bits);
            if (!gather_ring(worker, &readers[bit], queue, 64 * w + bit, begin_ps, end_ps)) {
                bitmap[w] &= ~(bits & -bits);
            }
        }
    }
}

static void insertion_sort(uint64_t *keys, uint32_t n) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t moved = keys[i];
        if (moved >= before) {
            before = moved;
            continue;
        }
        uint32_t j = i;
        for (; j > 0 && keys[j - 1] > moved; j--) {
            keys[j] = keys[j - 1];
        }
        keys[j] = moved;
    }
}

/* Numbers how many fall into each bucket become where each bucket starts. */
static void sum_up(uint32_t *starts, uint32_t n_buckets) {
    uint32_t sum = 0;
#pragma GCC unroll 8
    for (uint32_t b = 1; b < n_buckets; b++) {
        sum += starts[b];
        starts[b] = sum;
    }
}

/* Spreads keys over buckets of equal time, about two a bucket. */
static void bucket_sort(struct engine_worker *worker, uint64_t window_ps) {
    uint32_t starts[MOST_BUCKETS + 1];
    const uint32_t n = worker->n_arrivals;
    uint32_t n_buckets = 16;
    while (n_buckets < MOST_BUCKETS && 2 * n_buckets < n) {
        n_buckets *= 2;
    }
    unsigned shift = KEY_TIME_SHIFT;
    while (window_ps >> (shift - KEY_TIME_SHIFT) >= n_buckets) {
        shift++;
    }
    memset(starts, 0, (n_buckets + 1) * sizeof(*starts));
    uint64_t *keys = worker->keys, *sorted = worker->sorted;
    for (uint32_t i = 0; i < n; i++) {
        starts[(keys[i] >> shift) + 1]++;
    }
    sum_up(starts, n_buckets);
    for (uint32_t i = 0; i < n; i++) {
        sorted[starts[keys[i] >> shift]++] = keys[i];
    }
    worker->keys = sorted;
    worker->sorted = keys;
}

/* Draw that settles a tie: of an arrival, known by its key. */
static inline uint64_t draw_of(const struct engine_worker *worker, const uint64_t *streams, uint64_t time_ps,
                               uint64_t key) {
    return hash_draw(streams[engine_stamp_port(worker->records[key & ENGINE_KEY_RECORD].stamp)], time_ps);
}

/* Few keys of one time, in order of their draws. */
static void settle_few(struct engine_worker *worker, const uint64_t *streams, uint64_t time_ps, uint64_t *keys,
                       uint32_t n) {
    uint64_t draws[FEW_TIES];
    draws[0] = draw_of(worker, streams, time_ps, keys[0]);
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t moved = keys[i], draw = draw_of(worker, streams, time_ps, moved);
        uint32_t j = i;
        for (; j > 0 && draws[j - 1] > draw; j--) {
            draws[j] = draws[j - 1];
            keys[j] = keys[j - 1];
        }
        draws[j] = draw;
        keys[j] = moved;
    }
}

static void insert_ties(struct engine_tie *ties, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        const struct engine_tie moved = ties[i];
        uint32_t j = i;
        for (; j > 0 && ties[j - 1].draw > moved.draw; j--) {
            ties[j] = ties[j - 1];
        }
        ties[j] = moved;
    }
}

/* Many: draws are uniform, so they are spread over buckets first. */
static void settle_many(struct engine_worker *worker, const uint64_t *streams, uint64_t time_ps, uint64_t *keys,
                        uint32_t n) {
    enum { SHIFT = 64 - 6 };
    uint32_t starts[TIE_BUCKETS + 1] = {0};
    struct engine_tie *ties = worker->ties, *spread = worker->ties + n;
    for (uint32_t i = 0; i < n; i++) {
        ties[i] = (struct engine_tie){.draw = draw_of(worker, streams, time_ps, keys[i]), .key = keys[i]};
        starts[(ties[i].draw >> SHIFT) + 1]++;
    }
    sum_up(starts, TIE_BUCKETS);
    for (uint32_t i = 0; i < n; i++) {
        spread[starts[ties[i].draw >> SHIFT]++] = ties[i];
    }
    insert_ties(spread, n);
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = spread[i].key;
    }
}

/*
 * Orders packets of one picosecond by a hash of link and time: fair and reproducible, of two senders that are always in
 * step neither always comes first. Control records of one time stay in the order gathered (by port, then as sent): they
 * touch one port each, so their order matters only where ports share something: those of a NIC of several planes.
 */
static void settle_ties(struct engine_worker *worker, const uint64_t *streams, uint64_t time_ps, uint64_t *keys,
                        uint32_t n) {
    if (n <= FEW_TIES) {
        settle_few(worker, streams, time_ps, keys, n);
    } else {
        settle_many(worker, streams, time_ps, keys, n);
    }
}

/* Finds what came at the same time, and puts packets among it in order. */
static void find_ties(struct engine_worker *worker, const uint64_t *streams, uint64_t begin_ps, uint32_t n) {
    uint64_t *keys = worker->keys;
    const uint64_t different = UINT64_C(1)
                               << ENGINE_KEY_QUEUE_SHIFT; // key ^ key is at least this if time or queue differ
    for (uint32_t i = 1; i < n; i++) {
        if ((keys[i] ^ keys[i - 1]) >= different) {
            continue;
        }
        const uint32_t first = i - 1;
        do {
            i++;
        } while (i < n && (keys[i] ^ keys[first]) < different);
        if (keys[first] & different) { // ENGINE_PACKET
            settle_ties(worker, streams, begin_ps + (keys[first] >> KEY_TIME_SHIFT), &keys[first], i - first);
        }
    }
}

uint32_t engine_gather(struct engine_worker *worker, uint32_t device, uint64_t begin_ps, uint64_t end_ps) {
    const struct engine *engine = worker->engine;
    const struct engine_device *place = &engine->devices[device];
    worker->n_arrivals = 0;
    worker->n_rings = 0;
    gather_queue(worker, place, ENGINE_CONTROL, begin_ps, end_ps);
    gather_queue(worker, place, ENGINE_PACKET, begin_ps, end_ps);
    const uint32_t n = worker->n_arrivals;
    if (worker->n_rings <= 1) {
        return n; // a ring is in order
    }
    if (n > SMALL) {
        bucket_sort(worker, end_ps - begin_ps);
    }
    insertion_sort(worker->keys, n);
    find_ties(worker, &engine->tie_streams[place->first_port], begin_ps, n);
    return n;
}
