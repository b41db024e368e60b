// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A link's record queue: one writer (the device at the tail), one reader (the device at the head), perhaps on
 * different workers.
 *
 * The reader looks only at records that arrive before the end of its window; those were written in earlier windows.
 * `written` is published with release order, so that a reader that looks while its writer appends sees whole records.
 * Writer and reader keep their sides in different arrays, so that they never share a cache line.
 */
#ifndef MOEFABRIC_ENGINE_RING_H
#define MOEFABRIC_ENGINE_RING_H

#include "engine/chunk.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** The tail's side. */
struct ring_writer {
    struct chunk *chunk;      /**< block being filled; NULL before the first record */
    uint32_t slot;            /**< next free slot of it */
    uint32_t reader;          /**< index of the reader's side, for the owner of the rings */
    _Atomic uint64_t written; /**< records ever appended */
    uint64_t listed_window;   /**< number of the window in which the link was last listed as non-empty */
};

/** The head's side. */
struct ring_reader {
    struct chunk *chunk; /**< block being read; NULL until the first record has been seen */
    uint32_t slot;       /**< next slot to read */
    uint32_t unused;
    uint64_t read;                 /**< records ever taken */
    _Atomic(struct chunk *) first; /**< the ring's first block, handed over by the writer once */
};

/** Appends a slot to fill; publish it with ring_publish before anything else is appended. */
static inline void *ring_append(struct ring_writer *writer, struct ring_reader *reader, struct chunk_pool *pool) {
    if (!writer->chunk || writer->slot == CHUNK_SLOTS) {
        struct chunk *chunk = chunk_take(pool);
        if (writer->chunk) {
            writer->chunk->next = chunk;
        } else {
            atomic_store_explicit(&reader->first, chunk, memory_order_release);
        }
        writer->chunk = chunk;
        writer->slot = 0;
    }
    return writer->chunk->slots[writer->slot++];
}

/** Makes the slot appended last visible to the reader. */
static inline void ring_publish(struct ring_writer *writer) {
    const uint64_t written = atomic_load_explicit(&writer->written, memory_order_relaxed);
    atomic_store_explicit(&writer->written, written + 1, memory_order_release);
}

/** Records that the reader may look at. */
static inline uint64_t ring_available(const struct ring_writer *writer, const struct ring_reader *reader) {
    return atomic_load_explicit(&writer->written, memory_order_acquire) - reader->read;
}

/** The oldest record; the ring must not be empty. */
static inline void *ring_front(struct ring_reader *reader, struct chunk_pool *pool) {
    if (!reader->chunk) {
        reader->chunk = atomic_load_explicit(&reader->first, memory_order_acquire);
    } else if (reader->slot == CHUNK_SLOTS) {
        struct chunk *next = reader->chunk->next;
        chunk_give(pool, reader->chunk);
        reader->chunk = next;
        reader->slot = 0;
    }
    return reader->chunk->slots[reader->slot];
}

/** Removes the oldest record. Its memory stays valid until the next ring_front. */
static inline void ring_pop(struct ring_reader *reader) {
    reader->slot++;
    reader->read++;
}

#endif
