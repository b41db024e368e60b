// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pulls that a receiver owes to senders, sent at its pace. Only where the controller wants pulls. Rules: README.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_PULL_H
#define MOEFABRIC_DEVICE_PULL_H

#include "congestion/receiver_credit.h"
#include "device/packet.h"
#include "device/parameters.h"

#include <stdbool.h>
#include <stdint.h>

/** A queue pair that sends here. */
struct pull_flow {
    uint32_t source;
    uint32_t owed;       /**< packets that were taken and not pulled */
    uint32_t pulled;     /**< so far */
    uint64_t owed_bytes; /**< on the wire, of the packets that are owed */
    uint16_t queue_pair, entropy;
    bool waits; /**< in the ring */
};

/** All of an endpoint. Starts with pull_create. */
struct pull_desk {
    struct pull_flow *flows; /**< by number of the receiver */
    uint32_t capacity;
    uint32_t *ring; /**< flows that are owed, circular */
    uint32_t ring_first, ring_count, ring_capacity;
    uint64_t next_ps; /**< the next pull, not before */
    struct receiver_credit_pace pace;
};

/** A desk without flows. Ends with pull_free. */
struct pull_desk *pull_create(void);

/** Frees a desk; NULL is allowed. */
void pull_free(struct pull_desk *desk);

/** A data packet of flow number `flow` has arrived; `taken`: it is new. */
void pull_arrived(struct pull_desk *desk, const struct congestion_parameters *congestion, uint32_t flow,
                  const struct packet *packet, bool taken, uint64_t now_ps);

/** A trimmed packet of flow number `flow` has arrived that is not there: one is owed for it as for a full packet. */
void pull_trimmed(struct pull_desk *desk, const struct network_parameters *parameters, uint32_t flow,
                  const struct packet *packet, uint64_t now_ps);

/** When the next pull is due; TIME_NEVER if nobody is owed. */
uint64_t pull_next_ps(const struct pull_desk *desk);

/** The pull that is due at now_ps, from endpoint `device` on a line. */
struct packet pull_take(struct pull_desk *desk, const struct network_parameters *parameters, uint32_t device,
                        uint64_t line_bits_per_s, uint64_t now_ps);

/** Bytes of memory. */
uint64_t pull_bytes(const struct pull_desk *desk);

#endif
