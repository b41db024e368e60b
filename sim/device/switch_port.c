// SPDX-License-Identifier: GPL-3.0-or-later
/* The transmitter of a switch port: which packet next, marking, and what happens when it has been sent. */
#include "base/hash.h"
#include "device/switch_internal.h"

/* What a class of weight 1 is given a turn. Ours: the law of this folder states it; shares over many packets do not depend on it. */
enum { DEFICIT_STEP_BYTES = 1024 };

enum packet_class switch_port_take_turn(const struct switch_device *device, struct switch_port *port) {
    for (;;) {
        const enum packet_class turn = (enum packet_class)port->turn;
        const uint32_t size = queue_front(&port->queues[turn])->size_bytes;
        if (port->deficit[turn] >= size) {
            port->deficit[turn] -= size;
            return turn;
        }
        port->turn = turn == PACKET_CLASS_LOSSLESS ? PACKET_CLASS_LOSSY : PACKET_CLASS_LOSSLESS;
        port->deficit[port->turn] += device->parameters->class_weight[port->turn] * DEFICIT_STEP_BYTES;
    }
}

/* When the head of a queue is ready; TIME_NEVER if nothing waits in it. */
static inline uint64_t head_ready_ps(const struct queue *queue) {
    return queue_is_empty(queue) ? TIME_NEVER : queue_ready_ps(queue_front(queue));
}

/* Whether control, which has a head that is ready, leaves a turn to data that is ready too. */
static bool yields(const struct switch_device *device, struct switch_port *port, uint64_t now_ps) {
    const uint64_t lossless_ps = port->paused ? TIME_NEVER : head_ready_ps(&port->queues[PACKET_CLASS_LOSSLESS]);
    if (lossless_ps > now_ps && head_ready_ps(&port->queues[PACKET_CLASS_LOSSY]) > now_ps) {
        return false;
    }
    port->control_run = port->control_run < device->trim_turns ? port->control_run + 1 : 0;
    return port->control_run == 0;
}

/* Class to send from at now_ps, PACKET_CLASSES if none; *wait_ps = when the earliest head becomes ready. */
static inline enum packet_class choose_class(const struct switch_device *device, struct switch_port *port,
                                             uint64_t now_ps, uint64_t *wait_ps) {
    const uint64_t control_ps = head_ready_ps(&port->queues[PACKET_CLASS_CONTROL]);
    if (control_ps <= now_ps && (device->trim_turns == 0 || !yields(device, port, now_ps))) {
        return PACKET_CLASS_CONTROL;
    }
    const uint64_t lossless_ps = port->paused ? TIME_NEVER : head_ready_ps(&port->queues[PACKET_CLASS_LOSSLESS]);
    const uint64_t lossy_ps = head_ready_ps(&port->queues[PACKET_CLASS_LOSSY]);
    if (lossless_ps <= now_ps && lossy_ps <= now_ps) {
        return switch_port_take_turn(device, port);
    }
    if (lossless_ps > now_ps && lossy_ps > now_ps) {
        const uint64_t data_ps = lossless_ps < lossy_ps ? lossless_ps : lossy_ps;
        *wait_ps = control_ps < data_ps ? control_ps : data_ps;
        return PACKET_CLASSES;
    }
    port->turn = lossless_ps <= now_ps ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY;
    port->deficit[PACKET_CLASS_LOSSLESS] = port->deficit[PACKET_CLASS_LOSSY] = 0;
    return (enum packet_class)port->turn;
}

/* ECN by the depth that the packet leaves behind it, itself included. */
static bool is_marked(const struct switch_parameters *parameters, struct switch_port *port, uint64_t depth_bytes) {
    if (depth_bytes <= parameters->ecn_minimum_bytes) {
        return false;
    }
    if (depth_bytes > parameters->ecn_maximum_bytes) {
        return true;
    }
    const uint64_t draw = hash_draw(port->mark_stream, port->mark_draws++) >> 32;
    const rate_wide left = (rate_wide)draw * (parameters->ecn_maximum_bytes - parameters->ecn_minimum_bytes);
    const rate_wide right =
        (rate_wide)parameters->ecn_probability_fxp20 * (depth_bytes - parameters->ecn_minimum_bytes);
    return left < right << 12;
}

/* The port tells a packet that starts. */
static void tell(const struct switch_device *device, const struct switch_port *port, struct packet *packet,
                 enum packet_class class, uint64_t now_ps) {
    const struct network_parameters *parameters = device->context->parameters;
    const uint64_t queue_ps = (uint64_t)((rate_wide)port->ps_per_byte * port->depth[class] >> RATE_FRACTION_BITS);
    const uint8_t told =
        telemetry_tell(&device->telemetry[port->number], queue_ps, rate_time_ps(port->ps_per_byte, packet->size_bytes),
                       now_ps, parameters->congestion.hpcc.round_trip_ps);
    if (packet_kind(packet) == PACKET_DATA && told > packet_telemetry(packet->number)) {
        packet->number = packet_number_telling(packet->number, told);
    }
}

void switch_port_mark(const struct switch_device *device, struct switch_port *port, struct packet *packet,
                      uint64_t now_ps) {
    const enum packet_class class = packet_class(packet);
    if (class == PACKET_CLASS_CONTROL) {
        return;
    }
    if (device->telemetry) {
        tell(device, port, packet, class, now_ps);
    }
    if (!device->parameters->ecn || (packet->flags_transmission & PACKET_FLAG_MARKED)) {
        return;
    }
    if (is_marked(device->parameters, port, port->depth[class])) {
        packet->flags_transmission |= PACKET_FLAG_MARKED;
        port->counters->marks++;
    }
}

void switch_port_note(struct switch_device *device, const struct switch_port *port, const struct packet *packet,
                      uint64_t now_ps) {
    if (device->exact) {
        heap_push(&device->departures, port->decision_ps, port->number, 0);
    }
    if (device->context->trace) {
        trace_add_packet(device->context->trace, TRACE_START, now_ps, device->device, port->number, packet,
                         port->decision_ps);
    }
}

/* What was being sent has left. */
static inline void depart(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          uint64_t now_ps) {
    const uint32_t size = port->sending_bytes;
    port->sending_bytes = 0;
    port->depth[port->sending_class] -= size;
    if (port->sending_class == PACKET_CLASS_LOSSLESS && device->pfc) {
        switch_release_lossless(device, worker, &device->ports[port->sending_ingress], size, now_ps);
    } else {
        device->lossy.used_bytes -= size;
    }
}

/* The transmitter waits until a head is ready, or for ever. */
static void wait_until(struct switch_device *device, struct switch_port *port, uint64_t ready_ps) {
    port->decision_ps = ready_ps;
    if (ready_ps == TIME_NEVER) {
        return;
    }
    switch_port_activate(device, port);
    if (device->exact) {
        heap_push(&device->departures, ready_ps, port->number, 0);
    }
}

/* A transmitter that is free chooses at now_ps. Returns false if it has nothing to start yet; *wait_ps tells when. */
static inline bool choose(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          uint64_t now_ps, uint64_t *wait_ps) {
    const enum packet_class class = choose_class(device, port, now_ps, wait_ps);
    if (class == PACKET_CLASSES) {
        return false;
    }
    struct packet *packet = queue_front(&port->queues[class]);
    switch_port_start(device, worker, port, packet, queue_ingress(packet), now_ps);
    queue_pop(&port->queues[class], &worker->pool);
    return true;
}

void switch_port_kick(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                      uint64_t now_ps) {
    if (port->sending_bytes) {
        return;
    }
    const bool was_idle = port->decision_ps == TIME_NEVER;
    uint64_t wait_ps = TIME_NEVER;
    if (choose(device, worker, port, now_ps, &wait_ps)) {
        if (was_idle) {
            switch_port_activate(device, port);
        }
    } else if (wait_ps != port->decision_ps) {
        wait_until(device, port, wait_ps);
    }
}

void switch_port_catch_up(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          uint64_t now_ps) {
    do {
        const uint64_t decision_ps = port->decision_ps;
        if (port->sending_bytes) {
            depart(device, worker, port, decision_ps);
        }
        if (!switch_port_has_waiting(port)) {
            port->decision_ps = TIME_NEVER;
            return;
        }
        uint64_t wait_ps = TIME_NEVER;
        if (!choose(device, worker, port, decision_ps, &wait_ps)) {
            wait_until(device, port, wait_ps);
        }
    } while (port->decision_ps <= now_ps);
}
