// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/switch.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/switch_internal.h"

#include <stdlib.h>

static void init_port(struct switch_device *device, uint32_t number) {
    const struct fabric *fabric = device->context->fabric;
    const struct fabric_link *link = &fabric->links[fabric->devices[device->device].first_port + number];
    const struct fabric_device *head = &fabric->devices[link->head_device];
    device->ports[number] = (struct switch_port){
        .decision_ps = TIME_NEVER,
        .ps_per_byte = link->ps_per_byte,
        .latency_ps = link->latency_ps,
        .head_cuts_through = head->kind == FABRIC_SWITCH && head->cut_through,
        .turn = PACKET_CLASS_LOSSLESS,
        .number = (uint16_t)number,
        .link = fabric->devices[device->device].first_port + number,
        .in_ps_per_byte = fabric->links[link->reverse].ps_per_byte,
        .mark_stream = hash_stream(device->context->parameters->seed, HASH_PURPOSE_ECN, device->device, number),
    };
}

struct switch_device *switch_create(const struct context *context, uint32_t device_number) {
    const struct fabric_device *place = &context->fabric->devices[device_number];
    struct switch_device *device = memory_allocate(1, sizeof(*device) + place->n_ports * sizeof(struct switch_port));
    device->context = context;
    device->parameters = place->tier == FABRIC_TIER_LEAF ? &context->parameters->leaf : &context->parameters->spine;
    device->device = device_number;
    device->n_ports = place->n_ports;
    device->cuts_through = place->cut_through;
    device->words = (place->n_ports + 63) / 64;
    device->active = memory_allocate(device->words, sizeof(uint64_t));
    device->views = memory_allocate(place->n_ports, sizeof(*device->views));
    device->path =
        context->path->create(&context->parameters->path, context->parameters->seed, device_number, place->n_ports);
    device->next_refresh_ps =
        context->path->reads_ports
            ? path_refresh_offset_ps(&context->parameters->path, context->parameters->seed, device_number)
            : TIME_NEVER;
    for (uint32_t p = 0; p < place->n_ports; p++) {
        init_port(device, p);
    }
    return device;
}

void switch_free(struct switch_device *device) {
    if (!device) {
        return;
    }
    path_state_free(device->path);
    heap_fini(&device->departures);
    free(device->active);
    free(device->views);
    free(device);
}

/* Port states as they are at the last refresh time up to now_ps. */
static void refresh(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    const uint64_t period_ps = device->context->parameters->path.refresh_period_ps;
    const uint64_t at_ps = device->next_refresh_ps + (now_ps - device->next_refresh_ps) / period_ps * period_ps;
    device->next_refresh_ps = at_ps + period_ps;
    if (device->exact) {
        switch_run_departures(device, worker, at_ps);
    }
    for (uint32_t p = 0; p < device->n_ports; p++) {
        struct switch_port *port = &device->ports[p];
        if (!device->exact) {
            switch_port_drain(device, worker, port, at_ps);
        }
        device->views[p].depth_bytes = (uint64_t)port->depth[0] + port->depth[1] + port->depth[2];
        device->views[p].paused = port->paused;
    }
    device->context->path->refresh(device->path, device->views);
}

static struct switch_port *route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                 uint64_t now_ps) {
    const struct fabric_route routes = fabric_route_to(device->context->fabric, device->device, packet->destination);
    if (routes.count == 1) {
        return &device->ports[routes.first_port];
    }
    REQUIRE(routes.count > 0, "switch %u knows no way to endpoint %u", device->device, packet->destination);
    const struct path_request request = {
        .now_ps = now_ps,
        .source = packet->source,
        .destination = packet->destination,
        .entropy = packet->entropy,
        .ingress_port = (uint16_t)ingress,
        .first_port = routes.first_port,
        .count = routes.count,
        .adaptive = packet->flags_transmission & PACKET_FLAG_ADAPTIVE,
    };
    return &device->ports[device->context->path->choose(device->path, &request)];
}

static void drop(const struct switch_device *device, const struct switch_port *egress, const struct packet *packet,
                 uint32_t ingress, uint64_t now_ps) {
    const struct context *context = device->context;
    struct link_counters *counters = &context->links[egress->link];
    if (packet_class(packet) == PACKET_CLASS_LOSSLESS) {
        counters->lossless_drops++;
    } else {
        counters->lossy_drops++;
    }
    counters->dropped_bytes += packet->size_bytes;
    if (context->trace) {
        trace_add_packet(context->trace, TRACE_DROP, now_ps, device->device, (uint16_t)ingress, packet, egress->number);
    }
}

/* From when an outgoing transmission may start without running dry: later than now only if the packet comes in slower than it goes out. */
static uint64_t ready_ps(const struct switch_device *device, const struct switch_port *ingress,
                         const struct switch_port *egress, uint32_t size_bytes, uint64_t now_ps) {
    if (!device->cuts_through || ingress->in_ps_per_byte <= egress->ps_per_byte) {
        return now_ps;
    }
    const uint64_t last_bit_ps = now_ps + rate_time_ps(ingress->in_ps_per_byte, size_bytes);
    const uint64_t out_ps = rate_time_ps(egress->ps_per_byte, size_bytes);
    return last_bit_ps - out_ps > now_ps ? last_bit_ps - out_ps : now_ps;
}

static void enqueue(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                    struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    const enum packet_class class = packet_class(packet);
    const uint64_t start_ps = ready_ps(device, &device->ports[ingress], egress, packet->size_bytes, now_ps);
    egress->depth[class] += packet->size_bytes;
    const uint64_t data_bytes = (uint64_t)egress->depth[PACKET_CLASS_LOSSLESS] + egress->depth[PACKET_CLASS_LOSSY];
    struct link_counters *counters = &device->context->links[egress->link];
    counters->deepest_bytes = data_bytes > counters->deepest_bytes ? data_bytes : counters->deepest_bytes;
    if (egress->decision_ps == TIME_NEVER && start_ps <= now_ps && egress->queues[class].count == 0 &&
        !(class == PACKET_CLASS_LOSSLESS && egress->paused)) {
        if (class != PACKET_CLASS_CONTROL) { // as the choice among queues would leave them
            egress->deficit[PACKET_CLASS_LOSSLESS] = egress->deficit[PACKET_CLASS_LOSSY] = 0;
            egress->turn = (uint8_t) class;
        }
        switch_port_start(device, worker, egress, packet, ingress, now_ps);
        return;
    }
    packet->time_ps = queue_stamp(start_ps, ingress);
    queue_push(&egress->queues[class], &worker->pool, packet);
    switch_port_kick(device, worker, egress, now_ps);
}

static void handle_packet(struct switch_device *device, struct engine_worker *worker, struct packet *packet,
                          uint32_t ingress, uint64_t now_ps) {
    device->context->links[device->ports[ingress].link].arrived_bytes += packet->size_bytes;
    struct switch_port *egress = route(device, packet, ingress, now_ps);
    switch_port_drain(device, worker, egress, now_ps);
    const enum packet_class class = packet_class(packet);
    const bool admitted =
        class == PACKET_CLASS_LOSSLESS && device->parameters->pfc
            ? switch_admit_lossless(device, worker, &device->ports[ingress], packet->size_bytes, now_ps)
            : switch_admit_lossy(device, worker, egress, class, packet->size_bytes, now_ps);
    if (admitted) {
        enqueue(device, worker, egress, packet, ingress, now_ps);
    } else {
        drop(device, egress, packet, ingress, now_ps);
    }
}

static void handle_control(struct switch_device *device, struct engine_worker *worker, const struct control *control,
                           uint32_t port_number, uint64_t now_ps) {
    struct switch_port *port = &device->ports[port_number];
    struct link_counters *counters = &device->context->links[port->link];
    switch_port_drain(device, worker, port, now_ps);
    if (control->kind == CONTROL_PAUSE) {
        port->paused = true;
        port->paused_since_ps = now_ps;
        counters->pauses++;
    } else if (control->kind == CONTROL_RESUME && port->paused) {
        port->paused = false;
        counters->paused_ps += now_ps - port->paused_since_ps;
        switch_port_kick(device, worker, port, now_ps);
    }
}

/* Starts everything that starts before the window ends; returns when the next start is due. */
static uint64_t close_window(struct switch_device *device, struct engine_worker *worker, uint64_t end_ps) {
    if (device->next_refresh_ps < end_ps) {
        refresh(device, worker, end_ps - 1);
    }
    if (device->exact) {
        switch_run_departures(device, worker, end_ps - 1);
        if (device->n_pausing > 0 || device->strained) {
            return heap_time_ps(&device->departures);
        }
        device->exact = false;
        device->departures.count = 0;
    }
    uint64_t due_ps = TIME_NEVER;
    for (uint32_t w = 0; w < device->words; w++) {
        for (uint64_t bits = device->active[w]; bits; bits &= bits - 1) {
            struct switch_port *port = &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            switch_port_drain(device, worker, port, end_ps - 1);
            const uint32_t waiting = port->queues[0].count + port->queues[1].count + port->queues[2].count;
            if (waiting && port->decision_ps < due_ps) {
                due_ps = port->decision_ps;
            }
        }
    }
    return due_ps;
}

uint64_t switch_advance(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct switch_device *device = object;
    const uint32_t n = engine_gather(worker, device->device, begin_ps, end_ps);
    device->strained = false;
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        struct engine_record *record = engine_arrival(worker, i, &queue);
        const uint64_t now_ps = engine_stamp_ps(record->stamp);
        const uint32_t port = engine_stamp_port(record->stamp);
        if (now_ps >= device->next_refresh_ps) { // before later departures: it sees the ports as they were then
            refresh(device, worker, now_ps);
        }
        if (device->exact) {
            switch_run_departures(device, worker, now_ps);
        }
        if (queue == ENGINE_PACKET) {
            handle_packet(device, worker, (void *)record, port, now_ps);
        } else {
            handle_control(device, worker, (void *)record, port, now_ps);
        }
    }
    return close_window(device, worker, end_ps);
}

void switch_finish(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    for (uint32_t p = 0; p < device->n_ports; p++) {
        struct switch_port *port = &device->ports[p];
        switch_port_drain(device, worker, port, now_ps);
        if (port->paused) {
            device->context->links[port->link].paused_ps += now_ps - port->paused_since_ps;
        }
    }
}

bool switch_port_waits(const struct switch_device *device, uint32_t port) {
    return device->ports[port].paused && device->ports[port].queues[PACKET_CLASS_LOSSLESS].count > 0;
}

bool switch_port_holds_from(const struct switch_device *device, uint32_t egress, uint32_t ingress) {
    return queue_holds_from(&device->ports[egress].queues[PACKET_CLASS_LOSSLESS], ingress);
}

uint64_t switch_buffered_bytes(const struct switch_device *device) {
    uint64_t bytes = device->lossy_used_bytes + device->used_bytes;
    for (uint32_t p = 0; p < device->n_ports; p++) {
        bytes += device->ports[p].headroom_bytes;
    }
    return bytes;
}

size_t switch_bytes(const struct switch_device *device) {
    return sizeof(*device) + device->n_ports * (sizeof(struct switch_port) + sizeof(struct path_port)) +
           device->words * sizeof(uint64_t) + device->departures.capacity * sizeof(struct heap_entry);
}
