// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A GPU with its NIC and its NVLink ports. Rules: README.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_ENDPOINT_H
#define MOEFABRIC_DEVICE_ENDPOINT_H

#include "device/context.h"
#include "device/recorder.h"

/** A message that this endpoint sent over the fabric through a queue pair. */
struct endpoint_sent {
    uint32_t destination, tag;
    uint64_t bytes : 48; /**< narrow: there are millions of these */
    uint64_t queue_pair : 16;
    uint64_t posted_ps;
    uint64_t acknowledged_ps; /**< its last packet was acknowledged; TIME_NEVER until then */
};

/** A message over the fabric (queue pairs only) that arrived here. */
struct endpoint_received {
    uint32_t source, tag;
    uint64_t delivered_ps;
};

/** A queue pair that is not done. */
struct endpoint_stuck {
    uint32_t source, destination; /**< ranks */
    uint16_t queue_pair;
    uint32_t acknowledged_packets, sent_packets, posted_packets; /**< since the start; sent: the furthest one ever */
    uint32_t repeats;                                            /**< time-outs since the last progress */
};

struct endpoint;

/** An endpoint for a device number of the fabric. Ends with endpoint_free. */
struct endpoint *endpoint_create(const struct context *context, uint32_t device);

/** What an endpoint counted and noted, as bytes (to be freed) that endpoint_unpack understands on another rank of the same build. */
unsigned char *endpoint_pack(const struct endpoint *endpoint, size_t *size);

/** An endpoint that only answers what a packed one counted and noted; it cannot run. *size receives the bytes read. Ends with endpoint_free. */
struct endpoint *endpoint_unpack(const unsigned char *bytes, size_t *size);

/** Frees an endpoint; NULL is allowed. */
void endpoint_free(struct endpoint *endpoint);

/** After the run: frees all but what was counted and noted. */
void endpoint_release(struct endpoint *endpoint);

/** Asks the traffic for the first messages, at time 0. */
void endpoint_begin(struct endpoint *endpoint, struct engine_worker *worker);

/** Runs an endpoint for a window: engine_advance. */
uint64_t endpoint_advance(void *endpoint, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps);

/** After the run: books the paused time up to now. */
void endpoint_finish(struct endpoint *endpoint, uint64_t now_ps);

/** Device number. */
uint32_t endpoint_device(const struct endpoint *endpoint);

/** What the endpoint counted. */
const struct endpoint_counters *endpoint_counters_of(const struct endpoint *endpoint);

/** Messages sent through queue pairs, in order of posting; *n of them. Owned by the endpoint. */
const struct endpoint_sent *endpoint_sent_messages(const struct endpoint *endpoint, uint32_t *n);

/** Messages received through queue pairs, in order of delivery; *n of them. Owned by the endpoint. */
const struct endpoint_received *endpoint_received_messages(const struct endpoint *endpoint, uint32_t *n);

/** Whether this receiver has paused its leaf and not resumed it. */
bool endpoint_is_pausing(const struct endpoint *endpoint);

/** Time of the last delivery or completion here. */
uint64_t endpoint_last_ps(const struct endpoint *endpoint);

/** Grows with every packet and record that is accepted here and every message delivered; two equal answers mean that nothing came. Slow. */
uint64_t endpoint_progress(const struct endpoint *endpoint);

/** The first queue pair of this sender that has unacknowledged packets; false if there is none. */
bool endpoint_stuck_pair(const struct endpoint *endpoint, struct endpoint_stuck *stuck);

/** What the recorder asks between windows of a port: an endpoint has no queue of packets in front of it. */
struct recorder_port endpoint_recorder_port(const struct endpoint *endpoint, uint32_t port);

/** And of the queue pair number `index` to a destination: all 0 while it is not in use. Changes nothing. */
struct recorder_pair_state endpoint_recorder_pair(const struct endpoint *endpoint, uint32_t destination, uint32_t index,
                                                  uint64_t now_ps);

/** Bytes of memory. */
size_t endpoint_bytes(const struct endpoint *endpoint);

#endif
