// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The traffic plan as the devices see it: who sends what, and what a delivery sets free.
 *
 * A plan is never a list of everything. Each rank is asked once for its first messages, and again whenever a
 * message has been delivered to it; it answers with messages of its own. A rank knows only what it has itself
 * received, so ranks may be asked from different threads: calls for one rank never overlap, and a call for a
 * rank may write only that rank's own state.
 */
#ifndef MOEFABRIC_WORKLOAD_TRAFFIC_H
#define MOEFABRIC_WORKLOAD_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum traffic_route {
    TRAFFIC_FABRIC, /**< through the NIC */
    TRAFFIC_NVLINK, /**< inside the NVLink domain */
};

enum {
    TRAFFIC_CHANNELS = 2
}; /**< NVLink send channels of a GPU, served in turn: 0 its own data, 1 what it forwards for others */

/** One message that a rank sends. */
struct traffic_message {
    uint32_t destination; /**< rank */
    uint32_t tag;         /**< opaque to devices; (source, destination, tag) is unique in a run */
    uint64_t bytes;       /**< payload, > 0 */
    uint64_t start_ps;    /**< not before this time; a time already past means now */
    uint32_t unit_bytes;  /**< packets never straddle a multiple of this (one token copy); 0 = the whole message */
    uint32_t
        share; /**< early pacing: the sender's share of what the destination's port was announced, 1 << 20 = all; 0 = not announced */
    uint32_t local_units; /**< NVLink: units that the GPU's kernel copies within its own memory right before it */
    uint8_t route;        /**< enum traffic_route */
    uint8_t channel;      /**< NVLink send channel, 0 … TRAFFIC_CHANNELS-1 */
    uint8_t
        urgent; /**< 1: a small control message (counts, grant) that goes in the strict-priority class, one packet */
    uint8_t
        series; /**< 1: stands in this place for all messages that traffic.series generates under this tag; route, channel and start are theirs, the rest is unused */
};

/** Messages that a rank answers with, in sending order. The caller owns it and empties it (count = 0) before each call. */
struct traffic_outbox {
    struct traffic_message *messages;
    uint32_t count, capacity;
    bool
        takes_series; /**< set by who asks: series may be among the messages; else the plan adds each of their messages itself */
};

/** Appends a copy. Grows the outbox as needed. */
void traffic_outbox_add(struct traffic_outbox *outbox, const struct traffic_message *message);

/** Frees what an outbox owns. */
void traffic_outbox_free(struct traffic_outbox *outbox);

/** A plan: operations and the object that they work on. */
struct traffic {
    void *plan;
    uint32_t n_ranks; /**< ranks 0 … n_ranks-1 are endpoints of the fabric */
    /** First messages of a rank; called once, at time 0, for every rank. */
    void (*begin)(void *plan, uint32_t rank, struct traffic_outbox *outbox);
    /** A message has wholly arrived at rank at now_ps; what may it send now? */
    void (*delivered)(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                      struct traffic_outbox *outbox);
    /**
     * The next messages of a series of a rank, at most capacity of them, fewer only at its end. *cursor is 0 at first and otherwise what
     * the last call left. The same messages every time, whatever else happens: many are never kept at once. NULL: the plan has no series.
     */
    uint32_t (*series)(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                       struct traffic_message *messages, uint32_t capacity);
};

#endif
