// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Credits of InfiniBand links in the naive simulator (sim/device/infiniband.md).
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_CREDIT_H
#define MOEFABRIC_TESTS_REFERENCE_CREDIT_H

#include "reference_world.h"

/** Whether links are InfiniBand. */
bool reference_credit_is_used(const struct reference_world *world);

/** Gives every transmitter of such a link its first credit. */
void reference_credit_begin(struct reference_world *world);

/** Whether a packet may start now at a port as far as credit goes. */
bool reference_credit_allows(struct reference_world *world, uint32_t device, uint16_t port,
                             const struct packet *packet);

/** Whether a lane of a NIC's port is open: it could start a packet of any size. */
bool reference_credit_is_open(struct reference_world *world, uint32_t endpoint, uint16_t port, enum packet_class lane);

/** A packet starts, and gets lost or not. */
void reference_credit_start(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet,
                            bool lost);

/** A packet begins to fill the buffer of a port. */
void reference_credit_fill(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet);

/** It leaves that buffer. */
void reference_credit_free(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet);

/** A credit has arrived. */
void reference_credit_arrived(struct reference_world *world, const struct reference_step *step);

/** The link that leaves a port comes up. */
void reference_credit_come_up(struct reference_world *world, uint32_t device, uint16_t port);

/** An idle transmitter has something to send that is ready, and starts nothing. */
void reference_credit_wait(struct reference_world *world, uint32_t device, uint16_t port);

/** It starts something, or nothing waits any more. */
void reference_credit_wait_no_more(struct reference_world *world, uint32_t device, uint16_t port);

#endif
