// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sending side of the NIC of an endpoint of the naive simulator: queue pairs, pacing, what goes on the wire next.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_NIC_H
#define MOEFABRIC_TESTS_REFERENCE_NIC_H

#include "reference_world.h"

#include "device/recorder.h"

struct reference_nic;

enum {
    REFERENCE_URGENT_PLACE = 1 << 16
}; /**< of a time-out: from here on of urgent messages, by number; below, of queue pairs */

/** State of an endpoint; NULL if it has no NIC. Its ports, one a plane, are the first of the device. Freed by reference_nic_free. */
struct reference_nic *reference_nic_create(struct reference_world *world, uint32_t endpoint);

/** Frees the state; NULL is allowed. */
void reference_nic_free(struct reference_nic *nic);

/** Posts a message over the fabric, urgent or on its queue pair. */
void reference_nic_post(struct reference_world *world, struct reference_nic *nic,
                        const struct traffic_message *message);

/** Appends a reply to the control FIFO of the plane that the packet of reference_nic_arrival came by. */
void reference_nic_reply(struct reference_world *world, struct reference_nic *nic, const struct packet *reply);

/** A data packet has come; if it was new, its sender is owed a pull. Does nothing where the controller wants none. */
void reference_nic_owe(struct reference_world *world, struct reference_nic *nic, const struct packet *packet, bool new);

/** A trimmed packet that is not there has come: one is owed as for a full packet. Does nothing where the controller wants no pulls. */
void reference_nic_owe_trimmed(struct reference_world *world, struct reference_nic *nic, const struct packet *packet);

/** From now on replies are to a packet that came by a port. */
void reference_nic_arrival(struct reference_nic *nic, uint16_t port);

/** The congestion context that the packet of reference_nic_arrival is of. */
uint32_t reference_nic_context(const struct reference_nic *nic);

/** Idle transmitters look for something to send. */
void reference_nic_choose(struct reference_world *world, struct reference_nic *nic);

/** The transmission at a port has ended. */
void reference_nic_sent(struct reference_world *world, struct reference_nic *nic, uint16_t port);

/** A reply to this sender has arrived: ACK, NACK, CONGESTION, PROBE_REPLY or PULL. */
void reference_nic_replied(struct reference_world *world, struct reference_nic *nic, const struct packet *reply);

/** The clock of a queue pair has run out, unless it was set again since. True if it was not. */
bool reference_nic_timeout(struct reference_world *world, struct reference_nic *nic, uint32_t queue_pair,
                           uint64_t setting);

/** Queue pair number `index` to a destination, as the series shows it. */
struct recorder_pair_state reference_nic_pair(const struct reference_world *world, const struct reference_nic *nic,
                                              uint32_t destination, uint32_t index, uint64_t now_ps);

/** The clock of an urgent message has run out, unless it is acknowledged. True if it is not. */
bool reference_urgent_timeout(struct reference_world *world, struct reference_nic *nic, uint32_t number);

/** An urgent message has been acknowledged. */
void reference_urgent_acknowledged(struct reference_nic *nic, uint32_t number);

/** Looks which planes lead where: queue pairs leave those that do not, and come back. */
void reference_nic_fail_over(struct reference_world *world, struct reference_nic *nic);

/** How many messages on queue pairs are not complete. */
uint64_t reference_nic_incomplete(const struct reference_nic *nic);

#endif
