// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Messages of a send channel in their order: those on their way, those to be sent, and those that wait until there is room for them.
 */
#ifndef MOEFABRIC_FLUID_FIFO_H
#define MOEFABRIC_FLUID_FIFO_H

#include "workload/traffic.h"

#include <stdint.h>

/** Messages of 256 TB and more are none. */
#define FIFO_BYTES_MASK ((UINT64_C(1) << 48) - 1)

/** A message that is being sent or is on its way. */
struct fifo_entry {
    uint64_t bytes : 48;
    uint64_t to : 16; /**< number in its domain */
    uint32_t tag;
    uint32_t record_bytes; /**< of its first record, the largest */
};

/** A message or series that waits. */
struct fifo_waiting {
    struct traffic_message message;
    uint64_t cursor; /**< of a series */
};

/** Zero-initialise; freed by fifo_fini. */
struct fifo {
    struct fifo_entry *ring;
    uint32_t capacity;           /**< a power of two */
    uint32_t first, sent, count; /**< place of the first entry; entries on their way, and all */
    struct fifo_waiting *waiting;
    uint32_t first_waiting, n_waiting, waiting_capacity;
};

/** Makes room for more entries. */
void fifo_grow(struct fifo *fifo);

/** Appends a message to those to be sent: its entry, to be filled by the caller. */
static inline struct fifo_entry *fifo_append(struct fifo *fifo) {
    if (fifo->count == fifo->capacity) {
        fifo_grow(fifo);
    }
    return &fifo->ring[(fifo->first + fifo->count++) & (fifo->capacity - 1)];
}

/** How many are to be sent. */
static inline uint32_t fifo_unsent(const struct fifo *fifo) {
    return fifo->count - fifo->sent;
}

/** Number index of those to be sent. */
static inline const struct fifo_entry *fifo_unsent_entry(const struct fifo *fifo, uint32_t index) {
    return &fifo->ring[(fifo->first + fifo->sent + index) & (fifo->capacity - 1)];
}

/** The first `count` of those to be sent are on their way now. */
void fifo_send(struct fifo *fifo, uint32_t count);

/** Takes the first of those on their way, of which there must be one. */
static inline struct fifo_entry fifo_take(struct fifo *fifo) {
    const struct fifo_entry entry = fifo->ring[fifo->first];
    fifo->first = (fifo->first + 1) & (fifo->capacity - 1);
    fifo->sent--;
    fifo->count--;
    return entry;
}

/** Lets a message or series wait behind all others. */
void fifo_wait(struct fifo *fifo, const struct traffic_message *message);

/** The first that waits, NULL if none does. */
struct fifo_waiting *fifo_first_waiting(struct fifo *fifo);

/** Takes the first that waits away. */
void fifo_drop_waiting(struct fifo *fifo);

/** Frees what it holds. */
void fifo_fini(struct fifo *fifo);

#endif
