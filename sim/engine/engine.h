// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Time windows instead of a global event list.
 *
 * Devices influence each other only through links, and every link has a latency. In a window [T, T + W) with W the
 * smallest latency, each device can run to the end on its own: what others send now arrives at T + W or later. The
 * engine repeatedly takes the devices that have something due in the window, lets each one run to its end, and
 * hands on what was put on links. When nothing is due the window jumps to the next thing that is.
 *
 * The engine knows records by their first eight bytes only: the time of arrival in picoseconds.
 */
#ifndef MOEFABRIC_ENGINE_ENGINE_H
#define MOEFABRIC_ENGINE_ENGINE_H

#include "base/rate.h"
#include "engine/chunk.h"
#include "engine/exchange.h"
#include "engine/ring.h"
#include "fabric/fabric.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/** Two record queues a link: packets take wire time, control records (pause, resume, credit) overtake them. */
enum engine_queue { ENGINE_CONTROL, ENGINE_PACKET, ENGINE_QUEUES };

/** A record that has arrived. Its first eight bytes now hold when and where: 48 bits of picoseconds (281 s, the longest run), 16 of port. */
struct engine_record {
    uint64_t stamp;
    unsigned char rest[CHUNK_SLOT_BYTES - sizeof(uint64_t)];
};

enum { ENGINE_PORT_BITS = 16, ENGINE_KEY_QUEUE_SHIFT = 31, ENGINE_KEY_RECORD = INT32_MAX };

/** When a record arrived. */
static inline uint64_t engine_stamp_ps(uint64_t stamp) {
    return stamp >> ENGINE_PORT_BITS;
}

/** Which port of the device it came in by. */
static inline uint32_t engine_stamp_port(uint64_t stamp) {
    return (uint16_t)stamp;
}

/** A packet that came at the same time as others. */
struct engine_tie {
    uint64_t draw, key;
};

/** A link that got its first record of this window. */
struct engine_listing {
    uint32_t reader; /**< index of the reader's side of its rings */
    uint32_t queue;
    uint64_t arrival_ps;
};

/** Links that one worker has to tell another of, in one window. */
struct engine_listings {
    struct engine_listing *entries;
    uint32_t count, capacity;
};

/** What one thread works with: its devices, pools and scratch space. */
struct engine_worker {
    struct engine *engine;
    uint32_t number;
    uint64_t window; /**< number of the window being run */
    struct chunk_pool pool;
    uint64_t *keys; /**< arrivals of the device being run: what sorts them, and where each is in records */
    uint64_t *sorted;
    struct engine_record *records;
    struct engine_tie *ties; /**< scratch: arrivals of one time, and as much room again */
    uint32_t n_arrivals, arrival_capacity;
    uint32_t n_rings;                    /**< that they came from */
    uint64_t next_arrival_ps;            /**< earliest record that stays on the in-links of the device being run */
    uint64_t listed_ps;                  /**< earliest arrival of all that was listed in this window */
    uint64_t sent[ENGINE_QUEUES];        /**< records put on links so far */
    struct exchange_buffer *outgoing;    /**< [rank] records for devices of other ranks, of this window */
    struct engine_listings *listings[2]; /**< [worker] by parity of the window: written in one, read in the next */
    uint32_t *devices;                   /**< its devices, ascending */
    uint64_t *due_ps;                    /**< when each is next due */
    uint32_t n_devices;
    _Alignas(64) _Atomic uint64_t
        next_ps[2]; /**< published at the end of a window, by its parity: when anything of this worker's is due next */
    _Atomic uint64_t published_packets; /**< packets sent, as of its last window */
};

/** Runs a device from begin_ps (handled up to it) to end_ps (not included). Returns the time at which it is next due by itself, TIME_NEVER if only an arrival can wake it. */
typedef uint64_t engine_advance(void *device, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps);

/** Asked between windows, always by the thread that called engine_run: simulated time. Returns false to stop the run. */
typedef bool engine_tick(void *context, uint64_t now_ps);

struct engine;

enum engine_status { ENGINE_IDLE, ENGINE_STOPPED, ENGINE_LIMIT };

/** An engine for the links of a fabric (kept by reference). window_ps = 0 takes the smallest latency; larger values are a bug. */
struct engine *engine_create(const struct fabric *fabric, uint64_t seed, uint64_t window_ps);

/** In worker_of: another rank runs the device. */
#define ENGINE_ELSEWHERE UINT32_MAX

/** The same with n_workers threads; worker_of[device] says who runs a device (copied). Results are the same for any split. */
struct engine *engine_create_split(const struct fabric *fabric, uint64_t seed, uint64_t window_ps, uint32_t n_workers,
                                   const uint32_t *worker_of);

/** Makes the engine one of several ranks: rank_of[device] (copied) says who runs the devices that are ENGINE_ELSEWHERE here. The exchange must outlive the engine. */
void engine_join(struct engine *engine, const struct exchange *exchange, const uint32_t *rank_of);

/** Frees the engine, its rings and pools; not the devices. NULL is allowed. */
void engine_free(struct engine *engine);

/** Sets what runs device number `device`. */
void engine_set_device(struct engine *engine, uint32_t device, engine_advance *advance, void *object);

/** Says that a device is due at a time (or earlier); before the run only. */
void engine_wake(struct engine *engine, uint32_t device, uint64_t time_ps);

/** The worker to be used before the run (time 0). */
struct engine_worker *engine_first_worker(struct engine *engine);

/** Runs until nothing is due (ENGINE_IDLE), tick says stop, or what is due next is due at limit_ps or later: all before it is done, nothing after. */
enum engine_status engine_run(struct engine *engine, uint64_t limit_ps, engine_tick *tick, void *context);

/** End of the last window that was run; limit_ps if that was reached. */
uint64_t engine_now_ps(const struct engine *engine);

/** Packets put on links so far, as of the last windows: may be asked from tick. */
uint64_t engine_packets(const struct engine *engine);

/** Number of windows run. */
uint64_t engine_windows(const struct engine *engine);

/** Bytes held by rings, pools and tables. */
size_t engine_bytes(const struct engine *engine);

/** Collects all records that reach a device before end_ps; engine_arrival gives them in handling order. Returns their number. */
uint32_t engine_gather(struct engine_worker *worker, uint32_t device, uint64_t begin_ps, uint64_t end_ps);

/** Arrival number index of those gathered last, to be changed at will; *queue says which kind. Valid until the next engine_gather. */
static inline struct engine_record *engine_arrival(const struct engine_worker *worker, uint32_t index,
                                                   enum engine_queue *queue) {
    const uint64_t key = worker->keys[index];
    *queue = key >> ENGINE_KEY_QUEUE_SHIFT & 1 ? ENGINE_PACKET : ENGINE_CONTROL;
    return &worker->records[key & ENGINE_KEY_RECORD];
}

/** Notes that a link's queue got its first record of the window. Called by engine_put only. */
void engine_list_link(struct engine_worker *worker, struct ring_writer *writer, enum engine_queue queue,
                      uint64_t arrival_ps);

/** A slot for the next record where a block is needed; NULL if the reader is on another rank. Called by engine_put only. */
unsigned char *engine_extend(struct engine_worker *worker, struct ring_writer *writer, enum engine_queue queue);

/** Collects a record for another rank. Called by engine_put only. */
void engine_send_elsewhere(struct engine_worker *worker, const struct ring_writer *writer, enum engine_queue queue,
                           uint64_t arrival_ps, const void *record);

/** The tables that engine_send needs; private to the engine otherwise. */
struct engine_rings {
    struct ring_writer *writers[ENGINE_QUEUES];
    struct ring_reader *readers[ENGINE_QUEUES]; /**< by the port that the link enters: a device's lie together */
};

/** The rings of an engine. */
struct engine_rings *engine_rings_of(struct engine *engine);

/**
 * Puts a 32-byte record on a link, whose side of the queue is `writer`. The arrival time takes the place of its first eight
 * bytes; it must not be below the end of the window and not below that of the record before it on the same queue.
 */
static inline void engine_put(struct engine_worker *worker, struct ring_writer *writer, enum engine_queue queue,
                              uint64_t arrival_ps, const void *record) {
    unsigned char *slot = writer->next;
    worker->sent[queue]++;
    if (__builtin_expect(chunk_is_end(slot), 0)) {
        slot = engine_extend(worker, writer, queue);
        if (!slot) {
            engine_send_elsewhere(worker, writer, queue, arrival_ps, record);
            return;
        }
    }
    __builtin_memcpy(slot, &arrival_ps,
                     sizeof(arrival_ps)); // apart: a wide load of what was just stored in parts is slow
    __builtin_memcpy(slot + sizeof(arrival_ps), (const unsigned char *)record + sizeof(arrival_ps),
                     CHUNK_SLOT_BYTES - sizeof(arrival_ps));
    writer->next = slot + CHUNK_SLOT_BYTES;
    ring_publish(writer);
    if (writer->listed_window != worker->window) {
        engine_list_link(worker, writer, queue, arrival_ps);
    }
}

/** The same by number of the link; the record's first eight bytes are its arrival time. */
static inline void engine_send(struct engine_worker *worker, struct engine_rings *rings, uint32_t link,
                               enum engine_queue queue, const void *record) {
    uint64_t arrival_ps;
    __builtin_memcpy(&arrival_ps, record, sizeof(arrival_ps));
    engine_put(worker, &rings->writers[queue][link], queue, arrival_ps, record);
}

/** Fetches the slot that the next record of a link will fill: written long ago and by another device, it is seldom in the cache. */
static inline void engine_prefetch_slot(const struct engine_rings *rings, uint32_t link, enum engine_queue queue) {
    __builtin_prefetch(rings->writers[queue][link].next, 1);
}

#endif
