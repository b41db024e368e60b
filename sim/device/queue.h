// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A queue of packets by value, in pooled blocks.
 *
 * While a packet waits, its time field holds when it is ready and which port it came in by: 48 bits of picoseconds
 * (281 s, the longest run) and 16 bits of port, as engine_gather hands it over.
 */
#ifndef MOEFABRIC_DEVICE_QUEUE_H
#define MOEFABRIC_DEVICE_QUEUE_H

#include "device/packet.h"
#include "engine/chunk.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** A first-in first-out queue. Zero-initialise. */
struct queue {
    unsigned char *head; /**< slot of the oldest packet; NULL if there is none */
    unsigned char *tail; /**< slot to fill; the end of a block, or NULL: a block is needed */
};

/** Whether nothing waits. */
static inline bool queue_is_empty(const struct queue *queue) {
    return queue->head == NULL;
}

/** The time field of a waiting packet. */
static inline uint64_t queue_stamp(uint64_t ready_ps, uint32_t port) {
    return ready_ps << ENGINE_PORT_BITS | port;
}

/** The oldest packet; the queue must not be empty. */
static inline struct packet *queue_front(const struct queue *queue) {
    return (void *)queue->head;
}

/** The packet that joined last; the queue must not be empty. */
static inline struct packet *queue_last(const struct queue *queue) {
    return (void *)(queue->tail - CHUNK_SLOT_BYTES);
}

/** When a waiting packet is ready. */
static inline uint64_t queue_ready_ps(const struct packet *packet) {
    return packet->time_ps >> ENGINE_PORT_BITS;
}

/** Which port a waiting packet came in by. */
static inline uint32_t queue_ingress(const struct packet *packet) {
    return (uint16_t)packet->time_ps;
}

/** Whether one of the packets came in by this port. Looks at all of them. */
static inline bool queue_holds_from(const struct queue *queue, uint32_t port) {
    for (unsigned char *slot = queue->head; slot != queue->tail; slot += CHUNK_SLOT_BYTES) {
        slot = chunk_is_end(slot) ? chunk_of(slot)->next->slots[0] : slot;
        const void *packet = slot;
        if (queue_ingress(packet) == port) {
            return true;
        }
    }
    return false;
}

/** Appends a copy. */
static inline void queue_push(struct queue *queue, struct chunk_pool *pool, const struct packet *packet) {
    unsigned char *slot = queue->tail;
    if (chunk_is_end(slot)) {
        struct chunk *chunk = chunk_take(pool);
        if (slot) {
            chunk_of(slot)->next = chunk;
        } else {
            queue->head = chunk->slots[0];
        }
        slot = chunk->slots[0];
    }
    memcpy(slot, packet, sizeof(*packet));
    queue->tail = slot + CHUNK_SLOT_BYTES;
}

/** Removes the oldest packet; an empty queue keeps no block. */
static inline void queue_pop(struct queue *queue, struct chunk_pool *pool) {
    struct chunk *chunk = chunk_of(queue->head);
    queue->head += CHUNK_SLOT_BYTES;
    if (queue->head == queue->tail) {
        queue->head = queue->tail = NULL;
        chunk_give(pool, chunk);
    } else if (chunk_is_end(queue->head)) {
        queue->head = chunk->next->slots[0];
        chunk_give(pool, chunk);
    }
}

#endif
