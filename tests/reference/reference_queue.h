// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A first-in first-out queue of packets, as an array.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_QUEUE_H
#define MOEFABRIC_TESTS_REFERENCE_QUEUE_H

#include "device/packet.h"

#include <stddef.h>
#include <stdint.h>

/** A packet that waits at a port. */
struct reference_queued {
    struct packet packet;
    uint16_t ingress;  /**< port that it came in by (switches and chips) */
    uint64_t ready_ps; /**< may start from then on (switches) */
    uint64_t least_ps; /**< its transmission takes at least so long (NICs) */
};

/** Zero-initialise. */
struct reference_queue {
    struct reference_queued *items;
    size_t count, capacity;
};

/** Appends a copy. */
void reference_queue_push(struct reference_queue *queue, const struct reference_queued *item);

/** Takes the head of a queue that is not empty. */
struct reference_queued reference_queue_pop(struct reference_queue *queue);

/** Frees the items. */
void reference_queue_free(struct reference_queue *queue);

#endif
