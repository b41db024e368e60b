// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A switch whose links are InfiniBand: packets start only against credit of their virtual lane, and none is ever dropped for want
 * of room. For the files of the switch and for network.c. Rules: infiniband.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_SWITCH_CREDIT_H
#define MOEFABRIC_DEVICE_SWITCH_CREDIT_H

#include "device/switch.h"

struct link_credit;
struct switch_credit;
struct switch_port;
struct failure_change;

/** The credits of a switch; NULL where links are not InfiniBand. Ends with switch_credit_free. */
struct switch_credit *switch_credit_create(const struct context *context, uint32_t device);

/** Frees them; NULL is allowed. */
void switch_credit_free(struct switch_credit *credit);

/** Bytes of memory; of NULL too. */
size_t switch_credit_bytes(const struct switch_credit *credit);

/** Runs a switch for a window: engine_advance. */
uint64_t switch_credit_advance(void *device, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps);

/** switch_port_catch_up for such a switch. */
void switch_credit_catch_up(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                            uint64_t now_ps);

/** A link that leaves the switch goes down or comes up. */
void switch_credit_change(struct switch_device *device, struct engine_worker *worker,
                          const struct failure_change *change);

/** After the run: books the stall of a port up to now. */
void switch_credit_finish(struct switch_port *port, uint64_t now_ps);

/** Whether a port has packets and no credit for any. */
bool switch_credit_waits(const struct switch_device *device, uint32_t port);

/** Whether a packet that came in by port `ingress` waits at port `egress` for credit. */
bool switch_credit_holds_from(const struct switch_device *device, uint32_t egress, uint32_t ingress);

/** The credits of a port, for checks. */
const struct link_credit *switch_credit_of(const struct switch_device *device, uint32_t port);

#endif
