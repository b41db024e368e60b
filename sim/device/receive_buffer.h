// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The receive buffer of a NIC whose host does not take data as it arrives: it fills, pauses the leaf, and may overflow.
 * Rules: README.md of this folder, "Receive buffer". For the files of the endpoint alone.
 */
#ifndef MOEFABRIC_DEVICE_RECEIVE_BUFFER_H
#define MOEFABRIC_DEVICE_RECEIVE_BUFFER_H

#include "device/context.h"
#include "device/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct endpoint;
struct receive_buffer;

/** The buffer of an endpoint (with a NIC); NULL where the host takes all data as it arrives. Ends with receive_buffer_free. */
struct receive_buffer *receive_buffer_create(const struct context *context, uint32_t device);

/** Frees a buffer; NULL is allowed. What it still holds goes with the worker's pool. */
void receive_buffer_free(struct receive_buffer *buffer);

/** A packet has arrived at a port of the NIC (its time field says so too). True: the buffer keeps it, or has discarded it; false: it is to be handled at once. */
bool receive_buffer_keeps(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                          uint32_t port, uint64_t now_ps);

/** At endpoint->take_ps: the host has taken the packet at the head, which is handled. */
void receive_buffer_take(struct endpoint *endpoint, struct engine_worker *worker);

/** Sends a pause to the leaf of a port. */
void receive_buffer_pause(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port, uint64_t now_ps);

/** When something of it is due by itself, where there is one: a packet is taken, or the link changes while the leaf is paused. */
uint64_t receive_buffer_next_ps(const struct endpoint *endpoint);

/** Whether the leaves are paused; false of NULL. */
bool receive_buffer_is_pausing(const struct receive_buffer *buffer);

/** Bytes of memory; of NULL too. */
size_t receive_buffer_bytes(const struct receive_buffer *buffer);

#endif
