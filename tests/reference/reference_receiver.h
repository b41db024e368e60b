// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The receiving side of the NIC of an endpoint of the naive simulator.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_RECEIVER_H
#define MOEFABRIC_TESTS_REFERENCE_RECEIVER_H

#include "reference_nic.h"

struct reference_receiver;

/** Tags of messages that have become whole, in order. Zero-initialise; free(tags). */
struct reference_receiver_whole {
    uint32_t *tags;
    size_t count;
};

/** State of an endpoint. Freed by reference_receiver_free. */
struct reference_receiver *reference_receiver_create(uint32_t endpoint);

/** Frees the state; NULL is allowed. */
void reference_receiver_free(struct reference_receiver *receiver);

/** A data packet has arrived: replies go to the NIC, messages that become whole are appended. */
void reference_receiver_data(struct reference_world *world, struct reference_receiver *receiver,
                             struct reference_nic *nic, const struct packet *packet,
                             struct reference_receiver_whole *whole);

/** What a switch has left of a data packet has arrived. */
void reference_receiver_trimmed(struct reference_world *world, struct reference_receiver *receiver,
                                struct reference_nic *nic, const struct packet *arrived);

/** A probe has arrived. */
void reference_receiver_probe(struct reference_world *world, struct reference_nic *nic, const struct packet *probe);

#endif
