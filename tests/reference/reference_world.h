// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the devices of the naive simulator share: the clock, the heap of steps, the transmitters of links, the trace.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_WORLD_H
#define MOEFABRIC_TESTS_REFERENCE_WORLD_H

#include "reference.h"
#include "reference_heap.h"
#include "reference_queue.h"

/** With telemetry a number field is number + what was told × this. A naive simulator sends no more packets. */
enum { REFERENCE_NUMBERS = 1 << 24 };

struct reference_switch;
struct reference_chip;
struct reference_endpoint;

/** The transmitter at the tail of a link, and what the other end told it. */
struct reference_transmitter {
    bool busy;
    uint32_t carry;               /**< base/rate.h */
    struct reference_queued sent; /**< what is under way while busy */
    bool paused;                  /**< its lossless class (Ethernet) */
    uint64_t paused_since_ps;
    uint64_t end_ps;         /**< of what is under way */
    uint64_t credit_bytes;   /**< NVLink */
    uint64_t returned_bytes; /**< NVLink: bytes that came in by this port and gather towards a credit record */
    uint64_t left
        [PACKET_CLASSES]; /**< InfiniBand, in blocks by lane: credit; what came in by this port and is still here; what gathers */
    uint64_t held[PACKET_CLASSES], gathered[PACKET_CLASSES];
    bool stalled; /**< InfiniBand: packets wait, and none has credit */
    uint64_t stalled_since_ps;
};

/** What a link had counted when the interval of the series began, and the deepest queue since. */
struct reference_recorded {
    uint64_t sent_bytes, paused_ps, marks, drops, deepest_bytes;
};

/** Everything. One of the three device arrays has the state of a device, the others NULL. */
struct reference_world {
    const struct fabric *fabric;
    const struct network_parameters *parameters;
    const struct traffic *traffic;
    struct reference *result;
    uint64_t now_ps;
    struct reference_heap heap;
    struct reference_transmitter *transmitters; /**< [n_links] */
    struct reference_switch **switches;         /**< [n_devices] */
    struct reference_chip **chips;              /**< [n_devices] */
    struct reference_endpoint **endpoints;      /**< [n_devices] */
    uint64_t arrived_ps;                        /**< time and device of the last packet that arrived */
    uint32_t arrived_device;
    struct reference_recorded *recorded; /**< [n_links]; NULL: no series */
    uint64_t *recorded_packets;          /**< [queue pairs of the series] sent when the interval began */
    uint32_t n_recorded;                 /**< intervals so far */
    bool records;                        /**< the first interval has begun */
};

/** Number of the link that leaves a port. */
uint32_t reference_world_link(const struct reference_world *world, uint32_t device, uint16_t port);

/** The transmitter of a port. */
struct reference_transmitter *reference_world_transmitter(struct reference_world *world, uint32_t device,
                                                          uint16_t port);

/** Counts of the link that leaves a port. */
struct reference_link_counts *reference_world_counts(struct reference_world *world, uint32_t device, uint16_t port);

/** The queue in front of a link has grown to so many bytes. */
void reference_world_deepen(struct reference_world *world, uint32_t device, uint16_t port, uint64_t bytes);

/** Starts a packet on an idle transmitter: its end and its arrival become steps. Returns how long it takes. */
uint64_t reference_world_start(struct reference_world *world, uint32_t device, uint16_t port,
                               const struct reference_queued *queued);

/** The transmission at a port has ended: the transmitter is idle, the packet is returned. */
struct reference_queued reference_world_sent(struct reference_world *world, uint32_t device, uint16_t port);

/** Lets the transmitter of a port look for work at a later time. */
void reference_world_wake(struct reference_world *world, uint32_t device, uint16_t port, uint64_t time_ps);

/** Sends a control record on the link that leaves a port. */
void reference_world_send(struct reference_world *world, uint32_t device, uint16_t port, enum reference_step_kind kind,
                          uint64_t value);

/** Sends a pause or resume record on the link that leaves a port. */
void reference_world_pause(struct reference_world *world, uint32_t device, uint16_t port, bool pause);

/** Gives back the buffer of a record that came in by a port; sends a credit record once a grain has gathered. */
void reference_world_return_credit(struct reference_world *world, uint32_t device, uint16_t port, uint64_t bytes);

/** Whether the transmitter of an NVLink port may start a record; counts it as a stall if not. */
bool reference_world_has_credit(struct reference_world *world, uint32_t device, uint16_t port);

/** The cable at a port dies: it is paused no longer. */
void reference_world_forget_pause(struct reference_world *world, uint32_t device, uint16_t port);

/** Notes a pause or resume that arrived at a port. */
void reference_world_paused(struct reference_world *world, uint32_t device, uint16_t port, bool paused);

#endif
