// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A queue of packets by value, in pooled blocks.
 *
 * While a packet waits, its time field holds when it is ready and which port it came in by: 48 bits of picoseconds
 * (281 s, the longest run) and 16 bits of port.
 */
#ifndef MOEFABRIC_DEVICE_QUEUE_H
#define MOEFABRIC_DEVICE_QUEUE_H

#include "device/packet.h"
#include "engine/chunk.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { QUEUE_PORT_BITS = 16 };

/** A first-in first-out queue. Zero-initialise. */
struct queue {
    struct chunk *head, *tail;
    uint16_t head_slot, tail_slot;
    uint32_t count;
};

/** The time field of a waiting packet. */
static inline uint64_t queue_stamp(uint64_t ready_ps, uint32_t port) {
    return ready_ps << QUEUE_PORT_BITS | port;
}

/** When a waiting packet is ready. */
static inline uint64_t queue_ready_ps(const struct packet *packet) {
    return packet->time_ps >> QUEUE_PORT_BITS;
}

/** Which port a waiting packet came in by. */
static inline uint32_t queue_ingress(const struct packet *packet) {
    return (uint32_t)(packet->time_ps & ((1u << QUEUE_PORT_BITS) - 1));
}

/** Whether one of the packets came in by this port. Looks at all of them. */
static inline bool queue_holds_from(const struct queue *queue, uint32_t port) {
    const struct chunk *chunk = queue->head;
    uint32_t slot = queue->head_slot;
    for (uint32_t i = 0; i < queue->count; i++, slot++) {
        if (slot == CHUNK_SLOTS) {
            chunk = chunk->next;
            slot = 0;
        }
        const void *packet = chunk->slots[slot];
        if (queue_ingress(packet) == port) {
            return true;
        }
    }
    return false;
}

/** Appends a copy. */
static inline void queue_push(struct queue *queue, struct chunk_pool *pool, const struct packet *packet) {
    if (!queue->tail || queue->tail_slot == CHUNK_SLOTS) {
        struct chunk *chunk = chunk_take(pool);
        if (queue->tail) {
            queue->tail->next = chunk;
        } else {
            queue->head = chunk;
            queue->head_slot = 0;
        }
        queue->tail = chunk;
        queue->tail_slot = 0;
    }
    memcpy(queue->tail->slots[queue->tail_slot++], packet, sizeof(*packet));
    queue->count++;
}

/** The oldest packet; the queue must not be empty. */
static inline struct packet *queue_front(const struct queue *queue) {
    void *slot = queue->head->slots[queue->head_slot];
    return slot;
}

/** Removes the oldest packet; an empty queue keeps no block. */
static inline void queue_pop(struct queue *queue, struct chunk_pool *pool) {
    queue->head_slot++;
    queue->count--;
    if (queue->count == 0) {
        chunk_give(pool, queue->head);
        queue->head = queue->tail = NULL;
    } else if (queue->head_slot == CHUNK_SLOTS) {
        struct chunk *next = queue->head->next;
        chunk_give(pool, queue->head);
        queue->head = next;
        queue->head_slot = 0;
    }
}

#endif
