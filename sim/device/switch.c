// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/switch.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "device/switch_credit.h"
#include "device/switch_internal.h"
#include "fabric/headroom.h"

#include <stdlib.h>

/* What the port that a link enters may hold beyond its share of the pool. */
static uint32_t headroom_of(const struct switch_device *device, uint32_t link) {
    const uint64_t most_bytes = UINT32_MAX - UINT16_MAX; // with one more packet it is still counted by 32 bits
    const struct nic_parameters *nic = &device->context->parameters->nic;
    const uint64_t bytes =
        device->parameters->headroom_automatic
            ? headroom_automatic_bytes(device->context->fabric, link, (uint64_t)nic->payload_bytes + nic->header_bytes)
            : device->parameters->headroom_bytes;
    return (uint32_t)number_smaller(bytes, most_bytes);
}

static void init_port(struct switch_device *device, uint32_t number) {
    const struct fabric *fabric = device->context->fabric;
    const uint32_t first = fabric->devices[device->device].first_port;
    const struct fabric_link *link = &fabric->links[first + number];
    const struct fabric_device *head = &fabric->devices[link->head_device];
    device->ports[number] = (struct switch_port){
        .decision_ps = TIME_NEVER,
        .ps_per_byte = link->ps_per_byte,
        .latency_ps = link->latency_ps,
        .arrival_mask = head->kind == FABRIC_SWITCH && head->cut_through ? 0 : UINT64_MAX,
        .out = &device->context->rings->writers[ENGINE_PACKET][first + number],
        .counters = &device->context->links[first + number],
        .turn = PACKET_CLASS_LOSSLESS,
        .number = (uint16_t)number,
        .link = first + number,
        .headroom_limit_bytes = headroom_of(device, link->reverse),
        .in_ps_per_byte = fabric->links[link->reverse].ps_per_byte,
        .mark_stream = hash_stream(device->context->parameters->seed, HASH_PURPOSE_ECN, device->device, number),
    };
}

static struct switch_pool pool_of(uint64_t bytes, int alpha_shift) {
    struct switch_pool pool = {.bytes = bytes,
                               .used_bytes = bytes / 2,
                               .left = alpha_shift > 0 ? (uint32_t)alpha_shift : 0,
                               .right = alpha_shift < 0 ? (uint32_t)-alpha_shift : 0};
    pool.threshold_half_full_bytes = switch_threshold_bytes(&pool);
    pool.used_bytes = 0;
    return pool;
}

/* What packets ask for at every step, where it is near. */
static void init_shortcuts(struct switch_device *device, const struct fabric_device *place) {
    const struct fabric *fabric = device->context->fabric;
    const struct switch_parameters *parameters = device->parameters;
    device->endpoints = fabric->endpoints;
    device->own_leaf = fabric_own_leaf(fabric, device->device);
    device->routes = device->failure != NULL ? switch_failure_no_routes(device->failure)
                                             : &fabric->routes[(uint64_t)place->ordinal * fabric->plane_leaves];
    device->pfc = parameters->pfc;
    device->lossless = pool_of(parameters->lossless_pool_bytes, parameters->lossless_alpha_shift);
    device->lossy = pool_of(parameters->lossy_pool_bytes, parameters->lossy_alpha_shift);
    for (int class = 0; class < PACKET_CLASSES; class ++) {
        const bool limited = class == PACKET_CLASS_LOSSY && parameters->queue_limit_bytes > 0;
        device->queue_limit_bytes[class] = limited ? parameters->queue_limit_bytes : UINT64_MAX;
    }
    if (device->queue_limit_bytes[PACKET_CLASS_LOSSY] < device->lossy.threshold_half_full_bytes) {
        device->lossy.threshold_half_full_bytes = device->queue_limit_bytes[PACKET_CLASS_LOSSY];
    }
    device->trim_turns = parameters->trim ? parameters->trim_turns : 0;
    device->marks_above_bytes = parameters->ecn ? parameters->ecn_minimum_bytes : UINT64_MAX;
    if (device->context->controller->wants_telemetry) {
        device->telemetry = memory_allocate(place->n_ports, sizeof(*device->telemetry));
        device->marks_above_bytes = 0; // every packet is looked at
        for (uint32_t p = 0; p < place->n_ports; p++) {
            device->telemetry[p].stream =
                hash_stream(device->context->parameters->seed, HASH_PURPOSE_TELEMETRY, device->device, p);
        }
    }
    device->waits_for_bits = place->cut_through && device->failure != NULL && switch_failure_of_links(device->failure);
    for (uint32_t p = 0; p < place->n_ports; p++) {
        device->waits_for_bits |= place->cut_through && fabric->links[place->first_port + p].ps_per_byte !=
                                                            fabric->links[place->first_port].ps_per_byte;
        device->waits_for_bits |= place->cut_through && device->ports[p].in_ps_per_byte != device->ports[p].ps_per_byte;
    }
}

struct switch_device *switch_create(const struct context *context, uint32_t device_number) {
    const struct fabric_device *place = &context->fabric->devices[device_number];
    struct switch_device *device =
        memory_allocate_aligned(1, sizeof(*device) + place->n_ports * sizeof(struct switch_port));
    device->context = context;
    device->parameters = place->tier == FABRIC_TIER_LEAF ? &context->parameters->leaf : &context->parameters->spine;
    device->device = device_number;
    device->n_ports = place->n_ports;
    device->words = (place->n_ports + 63) / 64;
    device->active = memory_allocate(device->words, sizeof(uint64_t));
    device->stale = memory_allocate(device->words, sizeof(uint64_t));
    device->views = memory_allocate(place->n_ports, sizeof(*device->views));
    device->path = path_state_create(context->path, &context->parameters->path, context->parameters->seed,
                                     context->fabric, device_number);
    device->next_refresh_ps =
        context->path->reads_ports
            ? path_refresh_offset_ps(&context->parameters->path, context->parameters->seed, device_number)
            : TIME_NEVER;
    for (uint32_t p = 0; p < place->n_ports; p++) {
        init_port(device, p);
    }
    device->credit = switch_credit_create(context, device_number);
    device->failure = switch_failure_create(context, device_number, place->n_ports);
    device->next_failure_ps = device->failure != NULL ? switch_failure_next_ps(device->failure) : TIME_NEVER;
    device->next_look_ps = number_smaller(device->next_failure_ps, device->next_refresh_ps);
    init_shortcuts(device, place);
    device->watchdog = watchdog_create(device->parameters, device->n_ports);
    device->plain_pfc = device->pfc && device->watchdog == NULL;
    return device;
}

void switch_free(struct switch_device *device) {
    if (!device) {
        return;
    }
    path_state_free(device->path);
    switch_failure_free(device->failure);
    watchdog_free(device->watchdog);
    switch_credit_free(device->credit);
    heap_fini(&device->departures);
    free(device->active);
    free(device->stale);
    free(device->telemetry);
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
    for (uint32_t w = 0; w < device->words; w++) {
        for (uint64_t bits = device->active[w] | device->stale[w]; bits; bits &= bits - 1) {
            const uint32_t p = w * 64 + (uint32_t)__builtin_ctzll(bits);
            struct switch_port *port = &device->ports[p];
            if (!device->exact) {
                switch_port_drain_any(device, worker, port, at_ps);
            }
            device->views[p].depth_bytes = (uint64_t)port->depth[0] + port->depth[1] + port->depth[2];
            device->views[p].paused = port->paused;
        }
        device->stale[w] = 0;
    }
    device->context->path->refresh(device->path, device->views);
}

/* Takes the steps of links that go down and come up, and of the watchdog, until now_ps, and lets the policy see the ports as they are between them. */
static void __attribute__((noinline))
follow_steps(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    for (;;) {
        const uint64_t watchdog_ps = watchdog_next_ps(device->watchdog);
        const uint64_t step_ps = number_smaller(device->next_failure_ps, watchdog_ps);
        if (step_ps > now_ps) {
            return;
        }
        if (device->next_refresh_ps < step_ps) {
            refresh(device, worker, step_ps - 1);
        }
        if (device->next_failure_ps <= watchdog_ps) {
            switch_failure_step(device, worker);
            device->next_failure_ps = switch_failure_next_ps(device->failure);
        } else {
            watchdog_step(device, worker);
        }
    }
}

/* When look is next needed. */
static inline void plan_look(struct switch_device *device) {
    device->next_look_ps = number_smaller(device->next_failure_ps, device->next_refresh_ps);
    if (__builtin_expect(device->watchdog != NULL, 0)) {
        device->next_look_ps = number_smaller(device->next_look_ps, watchdog_next_ps(device->watchdog));
    }
}

/* What is due until now_ps: links that go down and come up, and port states for the policy. */
static inline void look(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    if (__builtin_expect(device->next_failure_ps <= now_ps || device->watchdog != NULL, 0)) {
        follow_steps(device, worker, now_ps);
    }
    if (device->next_refresh_ps <= now_ps) {
        refresh(device, worker, now_ps);
    }
    plan_look(device);
}

void switch_look(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    look(device, worker, now_ps);
}

/* NULL: there is no way. */
static inline struct switch_port *route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                        uint64_t now_ps) {
    const struct fabric_endpoint *to = &device->endpoints[packet->destination];
    if (to->leaf == device->own_leaf) {
        return &device->ports[to->leaf_port];
    }
    const struct fabric_route routes = device->routes[to->leaf];
    if (routes.count == 1) {
        return &device->ports[routes.first_port];
    }
    if (__builtin_expect(routes.count == 0, 0)) {
        return switch_failure_route(device, packet, ingress, now_ps);
    }
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

struct switch_port *switch_route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                 uint64_t now_ps) {
    return route(device, packet, ingress, now_ps);
}

void switch_drop(const struct switch_device *device, const struct switch_port *egress, const struct packet *packet,
                 uint32_t ingress, uint64_t now_ps) {
    const struct context *context = device->context;
    struct link_counters *counters = egress->counters;
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
    uint64_t in_ps_per_byte = ingress->in_ps_per_byte, out_ps_per_byte = egress->ps_per_byte;
    if (device->failure != NULL) {
        switch_failure_rates(device, ingress, egress, now_ps, &in_ps_per_byte, &out_ps_per_byte);
    }
    if (in_ps_per_byte <= out_ps_per_byte) {
        return now_ps;
    }
    const uint64_t last_bit_ps = now_ps + rate_time_ps(in_ps_per_byte, size_bytes);
    const uint64_t out_ps = rate_time_ps(out_ps_per_byte, size_bytes);
    return last_bit_ps - out_ps > now_ps ? last_bit_ps - out_ps : now_ps;
}

uint64_t switch_ready_ps(const struct switch_device *device, uint32_t ingress, const struct switch_port *egress,
                         uint32_t size_bytes, uint64_t now_ps) {
    return device->waits_for_bits ? ready_ps(device, &device->ports[ingress], egress, size_bytes, now_ps) : now_ps;
}

static inline void enqueue(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                           struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    const enum packet_class class = packet_class(packet);
    uint64_t start_ps = now_ps;
    if (__builtin_expect(device->waits_for_bits, 0)) {
        start_ps = ready_ps(device, &device->ports[ingress], egress, packet->size_bytes, now_ps);
        packet->time_ps = queue_stamp(start_ps, ingress);
    }
    egress->depth[class] += packet->size_bytes;
    const uint64_t data_bytes = (uint64_t)egress->depth[PACKET_CLASS_LOSSLESS] + egress->depth[PACKET_CLASS_LOSSY];
    struct link_counters *counters = egress->counters;
    if (data_bytes > counters->deepest_bytes) {
        counters->deepest_bytes = data_bytes;
    }
    if (egress->decision_ps == TIME_NEVER && start_ps <= now_ps && queue_is_empty(&egress->queues[class]) &&
        !(class == PACKET_CLASS_LOSSLESS && egress->paused)) {
        if (class != PACKET_CLASS_CONTROL) { // as the choice among queues would leave them
            egress->deficit[PACKET_CLASS_LOSSLESS] = egress->deficit[PACKET_CLASS_LOSSY] = 0;
            egress->turn = (uint8_t) class;
        }
        switch_port_activate(device, egress);
        switch_port_start(device, worker, egress, packet, ingress, now_ps);
        return;
    }
    queue_push(&egress->queues[class], &worker->pool, packet);
    if (egress->sending_bytes == 0) {
        switch_port_note_stale(device, egress); // if it is paused, its depth grows while it stays idle
        switch_port_kick(device, worker, egress, now_ps);
    }
}

/* Whether a port takes no packets of a class, because of the watchdog. */
static bool is_dropping(const struct switch_device *device, const struct switch_port *egress, enum packet_class class) {
    return class == PACKET_CLASS_LOSSLESS && watchdog_is_dropping(device->watchdog, egress->number);
}

/* Admits a packet of the lossless class to a switch with a watchdog, or without priority flow control. */
static __attribute__((noinline)) bool admit_unusual(struct switch_device *device, struct engine_worker *worker,
                                                    struct switch_port *ingress, const struct switch_port *egress,
                                                    uint32_t size_bytes, uint64_t now_ps) {
    if (is_dropping(device, egress, PACKET_CLASS_LOSSLESS)) {
        return false;
    }
    return device->pfc ? switch_admit_lossless(device, worker, ingress, size_bytes, now_ps)
                       : switch_admit_lossy(device, worker, egress, PACKET_CLASS_LOSSLESS, size_bytes, now_ps);
}

static inline bool admit(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                         const struct switch_port *egress, enum packet_class class, uint32_t size_bytes,
                         uint64_t now_ps) {
    if (class != PACKET_CLASS_LOSSLESS) {
        return switch_admit_lossy(device, worker, egress, class, size_bytes, now_ps);
    }
    return __builtin_expect(device->plain_pfc, 1) ? switch_admit_lossless(device, worker, ingress, size_bytes, now_ps)
                                                  : admit_unusual(device, worker, ingress, egress, size_bytes, now_ps);
}

/* What becomes of a packet that is not admitted. */
static __attribute__((noinline)) void refuse(struct switch_device *device, struct engine_worker *worker,
                                             struct switch_port *egress, struct packet *packet, uint32_t number,
                                             uint64_t now_ps) {
    if (is_dropping(device, egress, packet_class(packet))) {
        watchdog_drop(device, egress, packet, number, now_ps);
    } else if (!device->parameters->trim || !switch_trim(device, worker, egress, packet, number, now_ps)) {
        switch_drop(device, egress, packet, number, now_ps);
    }
}

static inline void handle_packet(struct switch_device *device, struct engine_worker *worker, struct packet *packet,
                                 uint32_t number, uint64_t now_ps) {
    struct switch_port *ingress = &device->ports[number];
    const uint32_t size = packet->size_bytes;
    ingress->counters->arrived_bytes += size;
    struct switch_port *egress = route(device, packet, number, now_ps);
    if (__builtin_expect(egress == NULL, 0)) {
        return; // unrouted
    }
    switch_port_drain(device, worker, egress, now_ps);
    const bool admitted = admit(device, worker, ingress, egress, packet_class(packet), size, now_ps);
    if (__builtin_expect(admitted, 1)) {
        enqueue(device, worker, egress, packet, number, now_ps);
    } else {
        refuse(device, worker, egress, packet, number, now_ps);
    }
}

static void handle_control(struct switch_device *device, struct engine_worker *worker, const struct control *control,
                           uint32_t port_number, uint64_t now_ps) {
    struct switch_port *port = &device->ports[port_number];
    struct link_counters *counters = port->counters;
    switch_port_drain(device, worker, port, now_ps);
    switch_port_note_stale(device, port);
    if (__builtin_expect(device->watchdog != NULL, 0) &&
        watchdog_overrides(device->watchdog, port_number, control->kind == CONTROL_PAUSE, now_ps)) {
        plan_look(device);
        return;
    }
    if (control->kind == CONTROL_PAUSE) {
        if (__builtin_expect(device->watchdog != NULL, 0) && !port->paused) {
            watchdog_paused(device->watchdog, port_number, now_ps);
            plan_look(device);
        }
        port->paused = true;
        port->paused_since_ps = now_ps;
        counters->pauses++;
    } else if (control->kind == CONTROL_RESUME && port->paused) {
        port->paused = false;
        counters->paused_ps += now_ps - port->paused_since_ps;
        if (__builtin_expect(device->watchdog != NULL, 0)) {
            watchdog_resumed(device->watchdog, port_number, now_ps);
            plan_look(device);
        }
        switch_port_kick(device, worker, port, now_ps);
    }
}

/* Starts everything that starts before the window ends; returns when the next start is due. */
static uint64_t finish_window(struct switch_device *device, struct engine_worker *worker, uint64_t end_ps) {
    if (device->next_look_ps < end_ps) {
        look(device, worker, end_ps - 1);
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
        device->stale[w] |= device->active[w];
        for (uint64_t bits = device->active[w]; bits; bits &= bits - 1) {
            struct switch_port *port = &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            switch_port_drain(device, worker, port, end_ps - 1);
            if (port->decision_ps == TIME_NEVER) {
                device->active[w] &= ~(bits & -bits);
            } else if (switch_port_has_waiting(port) && port->decision_ps < due_ps) {
                due_ps = port->decision_ps;
            }
        }
    }
    return due_ps;
}

/* The same, with links that go down or come up while somebody is paused. */
static uint64_t close_window(struct switch_device *device, struct engine_worker *worker, uint64_t end_ps) {
    uint64_t due_ps = finish_window(device, worker, end_ps);
    if (__builtin_expect(device->watchdog != NULL, 0)) {
        due_ps = number_smaller(due_ps, watchdog_next_ps(device->watchdog));
    }
    if (device->next_failure_ps == TIME_NEVER) {
        return due_ps;
    }
    const uint64_t failure_ps = switch_failure_due_ps(device);
    return failure_ps < due_ps ? failure_ps : due_ps;
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
        if (now_ps >= device->next_look_ps) { // before later departures: it sees the ports as they were then
            look(device, worker, now_ps);
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
        switch_port_drain_any(device, worker, port, now_ps);
        if (device->credit) {
            switch_credit_finish(port, now_ps);
        } else if (port->paused) {
            port->counters->paused_ps += now_ps - port->paused_since_ps;
        }
    }
}

bool switch_port_waits(const struct switch_device *device, uint32_t port) {
    if (device->credit) {
        return switch_credit_waits(device, port);
    }
    return device->ports[port].paused && !queue_is_empty(&device->ports[port].queues[PACKET_CLASS_LOSSLESS]);
}

bool switch_port_holds_from(const struct switch_device *device, uint32_t egress, uint32_t ingress) {
    if (device->credit) {
        return switch_credit_holds_from(device, egress, ingress);
    }
    return queue_holds_from(&device->ports[egress].queues[PACKET_CLASS_LOSSLESS], ingress);
}

struct recorder_port switch_recorder_port(const struct switch_device *device, uint32_t number, uint64_t now_ps) {
    const struct switch_port *port = &device->ports[number];
    const bool sends = port->sending_bytes != 0 && port->decision_ps >= now_ps;
    const bool left = port->sending_bytes != 0 && !sends && port->sending_class != PACKET_CLASS_CONTROL;
    const uint64_t data_bytes = (uint64_t)port->depth[PACKET_CLASS_LOSSLESS] + port->depth[PACKET_CLASS_LOSSY];
    return (struct recorder_port){.depth_bytes = data_bytes - (left ? port->sending_bytes : 0),
                                  .free_ps = sends ? port->decision_ps : 0,
                                  .paused_since_ps = port->paused ? port->paused_since_ps : TIME_NEVER};
}

uint64_t switch_buffered_bytes(const struct switch_device *device) {
    uint64_t bytes = device->lossy.used_bytes + device->lossless.used_bytes;
    for (uint32_t p = 0; p < device->n_ports; p++) {
        bytes += device->ports[p].headroom_bytes;
    }
    return bytes;
}

size_t switch_bytes(const struct switch_device *device) {
    return sizeof(*device) + device->n_ports * (sizeof(struct switch_port) + sizeof(struct path_port)) +
           switch_failure_bytes(device->failure) + watchdog_bytes(device->watchdog) +
           switch_credit_bytes(device->credit) + 2 * sizeof(uint64_t) * device->words +
           device->departures.capacity * sizeof(struct heap_entry) +
           (device->telemetry ? device->n_ports * sizeof(struct telemetry_port) : 0);
}
