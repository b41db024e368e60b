// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a switch does otherwise in a run with failures: ways around dead links, rates that change, pauses that are forgotten.
 * For the files of the switch alone. Rules: failures.md.
 */
#ifndef MOEFABRIC_DEVICE_SWITCH_FAILURE_H
#define MOEFABRIC_DEVICE_SWITCH_FAILURE_H

#include "device/switch.h"

#include <stdbool.h>
#include <stdint.h>

struct switch_port;
struct switch_failure;

/** The state of a switch for a run with failures; NULL for one without. Ends with switch_failure_free. */
struct switch_failure *switch_failure_create(const struct context *context, uint32_t device, uint32_t n_ports);

/** Frees it; NULL is allowed. */
void switch_failure_free(struct switch_failure *failure);

/** Bytes of memory; of NULL too. */
size_t switch_failure_bytes(const struct switch_failure *failure);

/** Whether a link of the switch ever fails. */
bool switch_failure_of_links(const struct switch_failure *failure);

/** When a link of the switch next goes down or comes up; TIME_NEVER: no more. */
uint64_t switch_failure_next_ps(const struct switch_failure *failure);

/** switch_port_start from the mark on: the packet may get lost on the link. */
void switch_failure_start(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          const struct packet *packet, uint32_t ingress, uint64_t now_ps);

/** Routes without a port to any leaf: what a switch looks up in a run with failures, so that it must ask switch_failure_route. */
const struct fabric_route *switch_failure_no_routes(const struct switch_failure *failure);

/** Port for a packet to another leaf that came in by `ingress`; NULL: there is no way, and it has been booked as unrouted. */
struct switch_port *switch_failure_route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                         uint64_t now_ps);

/** Rates (picoseconds a byte) that a packet which arrives now came in with, and is to go out with. */
void switch_failure_rates(const struct switch_device *device, const struct switch_port *ingress,
                          const struct switch_port *egress, uint64_t now_ps, uint64_t *in_ps_per_byte,
                          uint64_t *out_ps_per_byte);

/** Takes the next step of a link that goes down or comes up. */
void switch_failure_step(struct switch_device *device, struct engine_worker *worker);

/** When a link's going down or coming up must be looked at even if nothing arrives: somebody is paused. */
uint64_t switch_failure_due_ps(const struct switch_device *device);

#endif
