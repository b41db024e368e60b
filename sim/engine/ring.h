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
    unsigned char *next; /**< slot to fill; the end of a block, or NULL before the first record: a block is needed */
    uint32_t reader;     /**< index of the reader's side, for the owner of the rings */
    uint32_t worker;     /**< that reads, for the owner of the rings */
    _Atomic uint64_t written; /**< records ever appended */
    uint64_t listed_window;   /**< number of the window in which the link was last listed as non-empty */
};

/** The head's side. */
struct ring_reader {
    unsigned char
        *next;     /**< slot to read; the end of a block, or NULL before the first record: the next block is needed */
    uint64_t read; /**< records ever taken */
    _Atomic(struct chunk *) first;    /**< the ring's first block, handed over by the writer once */
    const struct ring_writer *writer; /**< the other side, for the owner of the rings */
};

/** Takes a block for the writer. Returns its first slot. Called by ring_append only. */
unsigned char *ring_extend(struct ring_writer *writer, struct ring_reader *reader, struct chunk_pool *pool);

/** The first slot of the block after the one that ends here (NULL: of the first); gives back the one before. For readers that have seen chunk_is_end(end). */
unsigned char *ring_turn(const struct ring_reader *reader, unsigned char *end, struct chunk_pool *pool);

/** Appends a slot to fill; publish it with ring_publish before anything else is appended. */
static inline void *ring_append(struct ring_writer *writer, struct ring_reader *reader, struct chunk_pool *pool) {
    unsigned char *slot = writer->next;
    if (__builtin_expect(chunk_is_end(slot), 0)) {
        slot = ring_extend(writer, reader, pool);
    }
    writer->next = slot + CHUNK_SLOT_BYTES;
    return slot;
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
    if (__builtin_expect(chunk_is_end(reader->next), 0)) {
        reader->next = ring_turn(reader, reader->next, pool);
    }
    return reader->next;
}

/** Removes the oldest record. Its memory stays valid until the next ring_front. */
static inline void ring_pop(struct ring_reader *reader) {
    reader->next += CHUNK_SLOT_BYTES;
    reader->read++;
}

#endif
