// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Credits of the InfiniBand links of a NIC. Inside of the endpoint, as endpoint_internal.h. Rules: infiniband.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_NIC_CREDIT_H
#define MOEFABRIC_DEVICE_NIC_CREDIT_H

#include "device/link_credit.h"

struct endpoint;
struct nic;
struct nic_port;
struct failure_change;

/** Credits of a port. */
struct nic_credit {
    struct link_credit link; /**< held: what the host has not taken yet */
    uint32_t largest;        /**< blocks of the largest packet: a lane is open with so much left */
    bool stalled;
    uint64_t stalled_since_ps;
};

/** Sets up the credits of all ports of an endpoint's NIC, if its links are InfiniBand. */
void nic_credit_init(struct endpoint *endpoint);

/** A packet starts at a port; `lost`: it will not arrive, and takes no credit. Ends a stall. */
void nic_credit_spend(const struct nic *nic, struct nic_port *port, const struct packet *packet, bool lost,
                      uint64_t now_ps);

/** A credit has arrived. */
void nic_credit_gain(const struct nic *nic, struct nic_port *port, const struct control *control);

/** A packet that has arrived at a port waits for the host (receive_buffer.h), or does so no longer. */
void nic_credit_keep(struct endpoint *endpoint, uint32_t port, const struct packet *packet, bool waits);

/** A packet that has arrived at a port is handled: its room is free again. */
void nic_credit_take(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                     const struct packet *packet, uint64_t now_ps);

/** The link of a port goes down or comes up. */
void nic_credit_change(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                       const struct failure_change *change);

/** Something waits at a port, and nothing has credit. */
void nic_credit_begin_stall(struct nic_port *port, uint64_t now_ps);

/** That ends, if it lasts. */
void nic_credit_end_stall(struct nic_port *port, uint64_t now_ps);

/** The credits of a port, for checks. */
const struct link_credit *nic_credit_of(const struct endpoint *endpoint, uint32_t port);

#endif
