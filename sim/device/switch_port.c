// SPDX-License-Identifier: GPL-3.0-or-later
/* The transmitter of a switch port: which packet next, marking, and what happens when it has been sent. */
#include "base/hash.h"
#include "device/switch_internal.h"

enum { DEFICIT_STEP_BYTES = 1024 };

/* Deficit round-robin between the two data classes, both of which have a packet to send. */
static enum packet_class take_turn(const struct switch_device *device, struct switch_port *port) {
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

/* Class to send from at now_ps, PACKET_CLASSES if none; *wait_ps = when the earliest head becomes ready. */
static enum packet_class choose_class(const struct switch_device *device, struct switch_port *port, uint64_t now_ps,
                                      uint64_t *wait_ps) {
    bool ready[PACKET_CLASSES] = {false};
    *wait_ps = TIME_NEVER;
    for (int class = 0; class < PACKET_CLASSES; class ++) {
        if (port->queues[class].count == 0 || (class == PACKET_CLASS_LOSSLESS && port->paused)) {
            continue;
        }
        const uint64_t ready_ps = queue_ready_ps(queue_front(&port->queues[class]));
        ready[class] = ready_ps <= now_ps;
        if (!ready[class] && ready_ps < *wait_ps) {
            *wait_ps = ready_ps;
        }
    }
    if (ready[PACKET_CLASS_CONTROL]) {
        return PACKET_CLASS_CONTROL;
    }
    if (ready[PACKET_CLASS_LOSSLESS] && ready[PACKET_CLASS_LOSSY]) {
        return take_turn(device, port);
    }
    if (!ready[PACKET_CLASS_LOSSLESS] && !ready[PACKET_CLASS_LOSSY]) {
        return PACKET_CLASSES;
    }
    port->turn = ready[PACKET_CLASS_LOSSLESS] ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY;
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

static void mark(const struct switch_device *device, struct switch_port *port, struct packet *packet,
                 enum packet_class class) {
    const struct switch_parameters *parameters = device->parameters;
    if (class == PACKET_CLASS_CONTROL || !parameters->ecn || (packet->flags_transmission & PACKET_FLAG_MARKED)) {
        return;
    }
    if (is_marked(parameters, port, port->depth[class])) {
        packet->flags_transmission |= PACKET_FLAG_MARKED;
        device->context->links[port->link].marks++;
    }
}

void switch_port_start(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                       struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    const struct context *context = device->context;
    const enum packet_class class = packet_class(packet);
    const uint32_t size = packet->size_bytes;
    mark(device, port, packet, class);
    const uint64_t duration_ps = rate_next_ps(port->ps_per_byte, size, &port->carry);
    packet->time_ps = now_ps + port->latency_ps + (port->head_cuts_through ? 0 : duration_ps);
    engine_send(worker, context->rings, port->link, ENGINE_PACKET, packet);
    counters_sent(&context->links[port->link], packet);
    port->sending_bytes = size;
    port->sending_class = (uint8_t) class;
    port->sending_ingress = (uint16_t)ingress;
    switch_port_plan(device, port, now_ps + duration_ps);
    if (context->trace) {
        trace_add_packet(context->trace, TRACE_START, now_ps, device->device, port->number, packet,
                         now_ps + duration_ps);
    }
}

static void depart(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                   uint64_t now_ps) {
    const uint32_t size = port->sending_bytes;
    port->sending_bytes = 0;
    port->depth[port->sending_class] -= size;
    if (port->sending_class == PACKET_CLASS_LOSSLESS && device->parameters->pfc) {
        switch_release_lossless(device, worker, &device->ports[port->sending_ingress], size, now_ps);
    } else {
        device->lossy_used_bytes -= size;
    }
}

void switch_port_kick(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                      uint64_t now_ps) {
    if (port->sending_bytes) {
        return;
    }
    uint64_t wait_ps;
    const enum packet_class class = choose_class(device, port, now_ps, &wait_ps);
    if (class == PACKET_CLASSES) {
        if (wait_ps != port->decision_ps) {
            switch_port_plan(device, port, wait_ps);
        }
        return;
    }
    struct packet *packet = queue_front(&port->queues[class]);
    switch_port_start(device, worker, port, packet, queue_ingress(packet), now_ps);
    queue_pop(&port->queues[class], &worker->pool);
}

void switch_port_decide(struct switch_device *device, struct engine_worker *worker, struct switch_port *port) {
    const uint64_t now_ps = port->decision_ps;
    if (port->sending_bytes) {
        depart(device, worker, port, now_ps);
    }
    port->decision_ps = 0; // decided: whatever comes next is planned anew
    switch_port_kick(device, worker, port, now_ps);
}

void switch_port_drain(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                       uint64_t now_ps) {
    while (port->decision_ps <= now_ps) {
        switch_port_decide(device, worker, port);
    }
}
