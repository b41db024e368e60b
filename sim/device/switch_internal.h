// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the switch share; nobody else includes it. */
#ifndef MOEFABRIC_DEVICE_SWITCH_INTERNAL_H
#define MOEFABRIC_DEVICE_SWITCH_INTERNAL_H

#include "device/heap.h"
#include "device/queue.h"
#include "device/switch.h"

/** A port: its transmitter with the queues in front of it, and what came in by it. Hot fields first. */
struct switch_port {
    uint64_t
        decision_ps; /**< when the transmitter next chooses: end of what is being sent, or when a waiting head is ready; TIME_NEVER if idle */
    uint64_t ps_per_byte;
    uint64_t latency_ps;
    uint32_t carry;         /**< fraction of a picosecond, see base/rate.h */
    uint32_t sending_bytes; /**< 0: nothing is being sent */
    uint16_t sending_ingress;
    uint8_t sending_class;
    bool head_cuts_through; /**< the record arrives with the first bit */
    bool paused;            /**< the other end paused our lossless class */
    uint8_t turn;           /**< deficit round-robin: class whose turn it is */
    uint16_t number;        /**< of this port */
    uint32_t link;          /**< that leaves it */
    uint32_t depth[PACKET_CLASSES];
    struct queue queues[PACKET_CLASSES];
    /* as ingress */
    uint32_t shared_bytes;   /**< lossless bytes from here in the shared pool */
    uint32_t headroom_bytes; /**< lossless bytes from here in the headroom */
    bool pausing;            /**< we paused the other end */
    uint64_t in_ps_per_byte;
    uint32_t deficit[PACKET_CLASSES];
    uint64_t mark_stream, mark_draws;
    uint64_t paused_since_ps;
};

struct switch_device {
    const struct context *context;
    const struct switch_parameters *parameters;
    uint32_t device, n_ports;
    bool cuts_through;
    bool exact;    /**< departures are handled one by one, from the heap; else ports are drained when touched */
    bool strained; /**< the bound failed, or an ingress was paused, in this window */
    uint32_t n_pausing;
    uint64_t used_bytes; /**< of the lossless pool: exact in exact mode, else an upper bound */
    uint64_t lossy_used_bytes;
    uint64_t *active; /**< a bit a port: decision_ps is set */
    uint32_t words;
    struct heap departures; /**< (decision_ps, port); exact mode only */
    struct path_state *path;
    struct path_port *views;  /**< [n_ports], for refreshes */
    uint64_t next_refresh_ps; /**< TIME_NEVER: the policy does not look at ports */
    struct switch_port ports[];
};

/** Brings a port up to now_ps: everything that it starts or finishes until then, now_ps included. */
void switch_port_drain(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                       uint64_t now_ps);

/** The transmitter of a port chooses at its decision time. */
void switch_port_decide(struct switch_device *device, struct engine_worker *worker, struct switch_port *port);

/** An idle transmitter looks for something to start at now_ps. */
void switch_port_kick(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                      uint64_t now_ps);

/** Starts a packet on an idle port without queueing it. */
void switch_port_start(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                       struct packet *packet, uint32_t ingress, uint64_t now_ps);

/** Admits a packet of the lossless class to the buffer, pausing its ingress if need be. Returns false: no room, to be dropped. */
bool switch_admit_lossless(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                           uint32_t size_bytes, uint64_t now_ps);

/** Admits a packet of another class by the depth of its egress queue. */
bool switch_admit_lossy(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                        enum packet_class class, uint32_t size_bytes, uint64_t now_ps);

/** The lossless bytes of a sent packet leave the buffer; resumes the ingress if that makes it due. */
void switch_release_lossless(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                             uint32_t size_bytes, uint64_t now_ps);

/** From now on departures are handled one by one. All ports are brought up to now_ps first. */
void switch_make_exact(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps);

/** Handles all departures up to and including now_ps, in order (exact mode). */
void switch_run_departures(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps);

/** Sets when a port next decides, and books it. */
static inline void switch_port_plan(struct switch_device *device, struct switch_port *port, uint64_t decision_ps) {
    port->decision_ps = decision_ps;
    const uint64_t bit = UINT64_C(1) << (port->number % 64);
    if (decision_ps == TIME_NEVER) {
        device->active[port->number / 64] &= ~bit;
        return;
    }
    device->active[port->number / 64] |= bit;
    if (device->exact) {
        heap_push(&device->departures, decision_ps, port->number, 0);
    }
}

#endif
