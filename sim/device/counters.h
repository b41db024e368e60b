// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What devices count. Integers only, written by the device that owns them.
 */
#ifndef MOEFABRIC_DEVICE_COUNTERS_H
#define MOEFABRIC_DEVICE_COUNTERS_H

#include "device/packet.h"

#include <stdint.h>

/** One directed link, counted by the device that it leaves. */
struct link_counters {
    uint64_t bytes;                       /**< put on the link */
    uint64_t packets;                     /**< of them data: data, urgent and record packets */
    uint64_t control_packets;             /**< acknowledgements, notifications, probes and their replies */
    uint64_t arrived_bytes;               /**< that came in by the port which this link leaves, on the link's reverse */
    uint64_t marks;                       /**< packets marked when they started on this link */
    uint64_t lossless_drops, lossy_drops; /**< packets that were to leave by this link and found no room */
    uint64_t watchdog_drops;              /**< lossless packets that the PFC watchdog discarded at this port */
    uint64_t watchdog_storms;             /**< times that it declared a storm there */
    uint64_t dropped_bytes;
    uint64_t trims;         /**< packets that were to leave by this link and lost their payload for want of room */
    uint64_t trimmed_bytes; /**< that payload */
    uint64_t lost_packets, lost_bytes; /**< put on the link, and lost on it: it was dead, died, or is lossy */
    uint64_t unrouted_packets;         /**< that came in by the port which this link leaves, and knew no way on */
    uint64_t unrouted_bytes;
    uint64_t pauses;            /**< pause records that stopped this link's lossless class */
    uint64_t paused_ps;         /**< for how long in all */
    uint64_t credit_stalls;     /**< InfiniBand: times that packets waited and none had credit */
    uint64_t credit_stalled_ps; /**< for how long in all (IBTA: PortXmitWait) */
    uint64_t deepest_bytes;     /**< of the data queues in front of the link */
};

/** One endpoint. */
struct endpoint_counters {
    uint64_t retransmitted_packets, timeouts;
    uint64_t duplicates;       /**< data packets received again */
    uint64_t out_of_order;     /**< data packets that were not the next expected */
    uint64_t reordering_depth; /**< largest number - expected seen */
    uint64_t notifications_sent, notifications_received;
    uint64_t probes;
    uint64_t nacks;
    uint64_t receive_discards;      /**< packets that found the receive buffer of the NIC full */
    uint64_t receive_pauses;        /**< pause records sent to the leaf */
    uint64_t receive_deepest_bytes; /**< most that a data class held in the receive buffer */
    uint64_t
        spurious; /**< selective repeat, as sender: packets that turned out to have arrived before they were sent again */
    uint64_t nvlink_bytes_sent, nvlink_bytes_received;
    uint64_t posted_messages, delivered_messages;
};

/** Books a packet that is put on a link. */
static inline void counters_sent(struct link_counters *counters, const struct packet *packet) {
    const enum packet_kind kind = packet_kind(packet);
    counters->bytes += packet->size_bytes;
    if (kind == PACKET_DATA || kind == PACKET_URGENT || kind == PACKET_RECORD) {
        counters->packets++;
    } else {
        counters->control_packets++;
    }
}

#endif
