// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the switch share; nobody else includes it. */
#ifndef MOEFABRIC_DEVICE_SWITCH_INTERNAL_H
#define MOEFABRIC_DEVICE_SWITCH_INTERNAL_H

#include "congestion/telemetry.h"
#include "device/heap.h"
#include "device/queue.h"
#include "device/switch.h"
#include "device/switch_credit.h"
#include "device/switch_failure.h"
#include "device/watchdog.h"

/** A port: its transmitter with the queues in front of it, and what came in by it. Hot fields first. */
struct switch_port {
    _Alignas(64) uint64_t
        decision_ps; /**< when the transmitter next chooses: end of what is being sent, or when a waiting head is ready; TIME_NEVER if idle */
    uint64_t ps_per_byte;
    uint64_t latency_ps;
    uint64_t arrival_mask;          /**< all ones if a record arrives with its last bit, 0 if with its first */
    struct ring_writer *out;        /**< of the link that leaves it */
    struct link_counters *counters; /**< of that link */
    uint32_t carry;                 /**< fraction of a picosecond, see base/rate.h */
    uint32_t sending_bytes;         /**< 0: nothing is being sent */
    uint16_t sending_ingress;
    uint8_t sending_class;
    bool paused;     /**< the other end paused our lossless class; InfiniBand: a stall for want of credit lasts */
    uint8_t turn;    /**< deficit round-robin: class whose turn it is */
    bool pausing;    /**< as ingress: we paused the other end */
    uint16_t number; /**< of this port */
    uint32_t depth[PACKET_CLASSES];
    uint32_t shared_bytes;   /**< as ingress: lossless bytes from here in the shared pool */
    uint32_t headroom_bytes; /**< as ingress: lossless bytes from here in the headroom */
    uint32_t link;           /**< that leaves it */
    struct queue queues[PACKET_CLASSES];
    uint64_t in_ps_per_byte;
    uint64_t mark_stream, mark_draws;
    uint64_t paused_since_ps;
    uint32_t headroom_limit_bytes; /**< as ingress */
    uint32_t deficit[PACKET_CLASSES];
    uint32_t control_run; /**< control packets in a row that started while data waited */
    uint32_t trim_draws;  /**< so far (trim.c) */
};

static_assert(sizeof(struct switch_port) == 192, "a port is three lines of a processor's cache");

/** What admission needs to know of a pool: its threshold is what is free, << left, >> right. */
struct switch_pool {
    uint64_t used_bytes; /**< exact in exact mode, else an upper bound; see switch_buffer.c */
    uint64_t bytes;
    uint64_t threshold_half_full_bytes; /**< the threshold when half of the pool is used */
    uint32_t left, right;
};

struct switch_device {
    const struct context *context;
    const struct switch_parameters *parameters;
    const struct fabric_endpoint *endpoints; /**< of the fabric */
    const struct fabric_route *routes;       /**< to the leaves */
    uint32_t device, n_ports;
    uint32_t
        own_leaf; /**< number of the leaf that it is, within its plane; of no leaf if it is none (fabric_own_leaf) */
    bool waits_for_bits; /**< cuts through, and not all its links have the same rate */
    bool pfc;
    bool plain_pfc; /**< and no watchdog */
    bool exact;     /**< departures are handled one by one, from the heap; else ports are drained when touched */
    bool strained;  /**< the bound failed, or an ingress was paused, in this window */
    uint32_t n_pausing;
    struct switch_pool lossless;
    struct switch_pool lossy;                   /**< of control too */
    uint64_t queue_limit_bytes[PACKET_CLASSES]; /**< UINT64_MAX: none */
    uint32_t trim_turns;                        /**< 0: control is strict */
    uint64_t marks_above_bytes;       /**< a data queue so deep may be marked, or tells; UINT64_MAX without ECN */
    struct telemetry_port *telemetry; /**< [n_ports]; NULL: the controller wants none */
    uint64_t *active;                 /**< a bit a port: decision_ps may be set */
    uint64_t *stale;                  /**< a bit a port: its view may be out of date though it is not active */
    uint32_t words;
    struct heap departures; /**< (decision_ps, port); exact mode only */
    struct path_state *path;
    struct path_port *views;        /**< [n_ports], for refreshes */
    struct switch_credit *credit;   /**< NULL: its links are Ethernet (switch_credit.h) */
    struct switch_failure *failure; /**< NULL: nothing fails in this run */
    uint64_t next_failure_ps;       /**< when a link of the switch next goes down or comes up; TIME_NEVER: no more */
    struct watchdog *watchdog;      /**< NULL: none */
    uint64_t next_look_ps;          /**< the earliest of that, of the next refresh and of the watchdog */
    uint64_t next_refresh_ps;       /**< TIME_NEVER: the policy does not look at ports */
    struct switch_port ports[];
};

/** Port for a packet that came in by `ingress`; NULL: there is no way, and it has been booked as unrouted. */
struct switch_port *switch_route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                 uint64_t now_ps);

/** What is due until now_ps: links that go down and come up, and port states for the policy. */
void switch_look(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps);

/** When a packet that arrives at port `ingress` at now_ps may start at the egress. */
uint64_t switch_ready_ps(const struct switch_device *device, uint32_t ingress, const struct switch_port *egress,
                         uint32_t size_bytes, uint64_t now_ps);

/** Deficit round-robin between the two data classes, both of which have a packet to send. */
enum packet_class switch_port_take_turn(const struct switch_device *device, struct switch_port *port);

/** Everything that a port of a switch of Ethernet starts or finishes from its decision time up to now_ps, now_ps included. Called when that time has come. */
void switch_port_catch_up(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          uint64_t now_ps);

/** An idle transmitter looks for something to start at now_ps. */
void switch_port_kick(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                      uint64_t now_ps);

/** ECN: marks a packet that is about to start, if it is to be. Called by switch_port_start only. */
void switch_port_mark(const struct switch_device *device, struct switch_port *port, struct packet *packet,
                      uint64_t now_ps);

/** The transmission just started is put in the heap, or in the trace. Called by switch_port_start only. */
void switch_port_note(struct switch_device *device, const struct switch_port *port, const struct packet *packet,
                      uint64_t now_ps);

/** Admits a packet of the lossless class that the bound did not admit. Returns false: no room, to be dropped. */
bool switch_squeeze_lossless(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                             uint32_t size_bytes, uint64_t now_ps);

/** The same for a packet of another class. */
bool switch_squeeze_lossy(struct switch_device *device, struct engine_worker *worker, const struct switch_port *egress,
                          enum packet_class class, uint32_t size_bytes, uint64_t now_ps);

/** A packet finds no room: counts it. */
void switch_drop(const struct switch_device *device, const struct switch_port *egress, const struct packet *packet,
                 uint32_t ingress, uint64_t now_ps);

/**
 * A lossy data packet that came in at ingress finds no room at egress: it, or the one that joined the queue last, is cut to its
 * header (switch_trim.c). Returns false if nothing may be cut: it is to be dropped. *packet may be changed.
 */
bool switch_trim(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                 struct packet *packet, uint32_t ingress, uint64_t now_ps);

/** Lossless bytes leave the headroom or the pool of a paused ingress, which is resumed if that makes it due. */
void switch_release_paused(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                           uint32_t size_bytes, uint64_t now_ps);

/** Sends a pause to the other end of an ingress. */
void switch_send_pause(struct switch_device *device, struct engine_worker *worker, const struct switch_port *ingress,
                       uint64_t now_ps);

/** Handles all departures up to and including now_ps, in order (exact mode). */
void switch_run_departures(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps);

/** Brings a port of a switch of Ethernet up to now_ps: everything that it starts or finishes until then, now_ps included. */
static inline void switch_port_drain(struct switch_device *device, struct engine_worker *worker,
                                     struct switch_port *port, uint64_t now_ps) {
    if (port->decision_ps <= now_ps) {
        switch_port_catch_up(device, worker, port, now_ps);
    }
}

/** The same of a switch of any kind. */
static inline void switch_port_drain_any(struct switch_device *device, struct engine_worker *worker,
                                         struct switch_port *port, uint64_t now_ps) {
    if (device->credit == NULL) {
        switch_port_drain(device, worker, port, now_ps);
    } else if (port->decision_ps <= now_ps) {
        switch_credit_catch_up(device, worker, port, now_ps);
    }
}

/** Dynamic threshold of a pool as it is (SONiC dynamic_th). */
static inline uint64_t switch_threshold_bytes(const struct switch_pool *pool) {
    return (pool->bytes - pool->used_bytes) << pool->left >> pool->right;
}

/** Whether size_bytes more fit a pool, where what counts against the threshold would become counted_bytes. */
static inline bool switch_pool_admits(const struct switch_pool *pool, uint32_t size_bytes, uint64_t counted_bytes) {
    if (counted_bytes <= pool->threshold_half_full_bytes && pool->used_bytes + size_bytes <= pool->bytes / 2) {
        return true; // the usual case; the threshold only grows with what is free
    }
    return pool->used_bytes + size_bytes <= pool->bytes && counted_bytes <= switch_threshold_bytes(pool);
}

/** Admits a packet of the lossless class to the buffer, pausing its ingress if need be. Returns false: no room, to be dropped. */
static inline bool switch_admit_lossless(struct switch_device *device, struct engine_worker *worker,
                                         struct switch_port *ingress, uint32_t size_bytes, uint64_t now_ps) {
    const uint32_t shared_bytes = ingress->shared_bytes + size_bytes;
    if (__builtin_expect(!switch_pool_admits(&device->lossless, size_bytes, shared_bytes), 0)) {
        return switch_squeeze_lossless(device, worker, ingress, size_bytes, now_ps);
    }
    ingress->shared_bytes = shared_bytes;
    device->lossless.used_bytes += size_bytes;
    return true;
}

/** Admits a packet of another class by the depth of its egress queue. */
static inline bool switch_admit_lossy(struct switch_device *device, struct engine_worker *worker,
                                      const struct switch_port *egress, enum packet_class class, uint32_t size_bytes,
                                      uint64_t now_ps) {
    struct switch_pool *pool = &device->lossy;
    if (__builtin_expect(
            egress->depth[class] + size_bytes > pool->threshold_half_full_bytes ||
                pool->used_bytes + size_bytes > pool->bytes / 2,
            0)) { // else whatever is asked for is admitted: limits of queues are below the threshold, or they lower it
        return switch_squeeze_lossy(device, worker, egress, class, size_bytes, now_ps);
    }
    pool->used_bytes += size_bytes;
    return true;
}

/** The lossless bytes of a sent packet leave the buffer; resumes the ingress if that makes it due. */
static inline void switch_release_lossless(struct switch_device *device, struct engine_worker *worker,
                                           struct switch_port *ingress, uint32_t size_bytes, uint64_t now_ps) {
    if (__builtin_expect(ingress->headroom_bytes != 0 || ingress->pausing, 0)) {
        switch_release_paused(device, worker, ingress, size_bytes, now_ps);
        return;
    }
    ingress->shared_bytes -= size_bytes;
    device->lossless.used_bytes -= size_bytes;
}

/** Whether a port has packets that have not been started. */
static inline bool switch_port_has_waiting(const struct switch_port *port) {
    const uintptr_t control = (uintptr_t)port->queues[PACKET_CLASS_CONTROL].head;
    const uintptr_t data =
        (uintptr_t)port->queues[PACKET_CLASS_LOSSLESS].head | (uintptr_t)port->queues[PACKET_CLASS_LOSSY].head;
    return (control | data) != 0;
}

/** The policy is to be shown a port anew, though it may not be active. */
static inline void switch_port_note_stale(struct switch_device *device, const struct switch_port *port) {
    device->stale[port->number / 64] |= UINT64_C(1) << (port->number % 64);
}

/** An idle port has got something to do. */
static inline void switch_port_activate(struct switch_device *device, const struct switch_port *port) {
    device->active[port->number / 64] |= UINT64_C(1) << (port->number % 64);
}

/** Starts a packet on a transmitter that is free, and active. */
static inline void switch_port_start(struct switch_device *device, struct engine_worker *worker,
                                     struct switch_port *port, struct packet *packet, uint32_t ingress,
                                     uint64_t now_ps) {
    const enum packet_class class = packet_class(packet);
    const uint32_t size = packet->size_bytes;
    if (__builtin_expect(port->depth[class] > device->marks_above_bytes, 0)) {
        switch_port_mark(device, port, packet, now_ps);
    }
    if (__builtin_expect(device->failure != NULL, 0)) {
        switch_failure_start(device, worker, port, packet, ingress, now_ps);
        return;
    }
    const uint64_t duration_ps = rate_next_ps(port->ps_per_byte, size, &port->carry);
    engine_put(worker, port->out, ENGINE_PACKET, now_ps + port->latency_ps + (duration_ps & port->arrival_mask),
               packet);
    port->decision_ps = now_ps + duration_ps;
    port->sending_bytes = size;
    port->sending_ingress = (uint16_t)ingress;
    port->sending_class = (uint8_t) class;
    counters_sent(port->counters, packet);
    if (__builtin_expect(device->exact || device->context->trace, 0)) {
        switch_port_note(device, port, packet, now_ps);
    }
}

#endif
