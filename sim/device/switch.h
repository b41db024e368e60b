// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A switch. Ethernet: shared buffer, per-class queues, ECN, priority flow control; rules: README.md of this folder. InfiniBand:
 * switch_credit.h.
 */
#ifndef MOEFABRIC_DEVICE_SWITCH_H
#define MOEFABRIC_DEVICE_SWITCH_H

#include "device/context.h"
#include "device/recorder.h"

struct switch_device;

/** A switch for a device number of the fabric. Ends with switch_free. */
struct switch_device *switch_create(const struct context *context, uint32_t device);

/** Frees a switch; NULL is allowed. */
void switch_free(struct switch_device *device);

/** Runs a switch for a window: engine_advance. */
uint64_t switch_advance(void *device, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps);

/** After the run: books what is still being sent, and the paused time up to now. */
void switch_finish(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps);

/** Whether a port has lossless packets and may not send them, because the other end paused it or has given it no credit. */
bool switch_port_waits(const struct switch_device *device, uint32_t port);

/** Whether a lossless packet that waits at port `egress` came in by port `ingress`. */
bool switch_port_holds_from(const struct switch_device *device, uint32_t egress, uint32_t ingress);

/** What the recorder asks between windows, all steps before now_ps done: a departure that is over may not have been handled. */
struct recorder_port switch_recorder_port(const struct switch_device *device, uint32_t port, uint64_t now_ps);

/** Bytes held in the buffer (0 after a finished run). */
uint64_t switch_buffered_bytes(const struct switch_device *device);

/** Bytes of memory. */
size_t switch_bytes(const struct switch_device *device);

#endif
