// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_switch_internal.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/headroom.h"
#include "reference_credit.h"
#include "reference_failure.h"

#include <stdlib.h>

enum { PHASE_LINK = 0, TIE_WATCHDOG = 1, PHASE_REFRESH = 2, DEFICIT_UNIT_BYTES = 1024 };

static void schedule_refresh(struct reference_world *world, uint32_t device, uint64_t time_ps) {
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = time_ps,
                                                               .device = device,
                                                               .phase = PHASE_REFRESH,
                                                               .kind = REFERENCE_STEP_REFRESH});
}

struct reference_switch *reference_switch_create(struct reference_world *world, uint32_t device) {
    const struct fabric_device *description = &world->fabric->devices[device];
    const struct network_parameters *parameters = world->parameters;
    struct reference_switch *created = memory_allocate(1, sizeof *created);
    created->device = device;
    created->parameters = description->tier == FABRIC_TIER_LEAF ? &parameters->leaf : &parameters->spine;
    created->n_ports = (uint16_t)description->n_ports;
    created->ports = memory_allocate(description->n_ports, sizeof *created->ports);
    for (uint16_t port = 0; port < created->n_ports; port++) {
        created->ports[port].turn = PACKET_CLASS_LOSSLESS;
        created->ports[port].telemetry.stream = hash_stream(parameters->seed, HASH_PURPOSE_TELEMETRY, device, port);
    }
    created->policy = path_policy_of(parameters->path.kind);
    created->weighs = created->policy->weighs && parameters->path.remote_weights && reference_failure_any(world);
    created->path = path_state_create(created->policy, &parameters->path, parameters->seed, world->fabric, device);
    if (created->policy->reads_ports) {
        schedule_refresh(world, device, path_refresh_offset_ps(&parameters->path, parameters->seed, device));
    }
    return created;
}

void reference_switch_free(struct reference_switch *device) {
    if (device == NULL) {
        return;
    }
    for (uint16_t port = 0; port < device->n_ports; port++) {
        for (int class = 0; class < PACKET_CLASSES; class ++) {
            reference_queue_free(&device->ports[port].queues[class]);
        }
    }
    path_state_free(device->path);
    free(device->ports);
    free(device);
}

/* ---- what is in the buffer ---- */

static uint64_t shift(uint64_t value, int by) {
    return by >= 0 ? value << by : value >> -by;
}

static uint64_t used_bytes(const struct reference_switch *device) {
    uint64_t used = 0;
    for (uint16_t port = 0; port < device->n_ports; port++) {
        used += device->ports[port].shared;
    }
    return used;
}

static uint64_t lossless_threshold(const struct reference_switch *device) {
    return shift(device->parameters->lossless_pool_bytes - used_bytes(device),
                 device->parameters->lossless_alpha_shift);
}

static uint64_t lossy_threshold(const struct reference_switch *device) {
    return shift(device->parameters->lossy_pool_bytes - device->lossy_used, device->parameters->lossy_alpha_shift);
}

static bool is_protected(const struct reference_switch *device, const struct packet *packet) {
    return packet_class(packet) == PACKET_CLASS_LOSSLESS && device->parameters->pfc;
}

uint64_t reference_switch_data_bytes(const struct reference_switch *device, uint16_t port) {
    return device->ports[port].depth[PACKET_CLASS_LOSSLESS] + device->ports[port].depth[PACKET_CLASS_LOSSY];
}

static uint64_t depth_bytes(const struct reference_switch_port *port) {
    return port->depth[PACKET_CLASS_CONTROL] + port->depth[PACKET_CLASS_LOSSLESS] + port->depth[PACKET_CLASS_LOSSY];
}

static uint64_t headroom_bytes(const struct reference_world *world, const struct reference_switch *device,
                               uint16_t ingress) {
    const uint32_t in = world->fabric->links[reference_world_link(world, device->device, ingress)].reverse;
    const uint64_t packet = (uint64_t)world->parameters->nic.payload_bytes + world->parameters->nic.header_bytes;
    return device->parameters->headroom_automatic ? headroom_automatic_bytes(world->fabric, in, packet)
                                                  : device->parameters->headroom_bytes;
}

static bool admit_lossless(struct reference_world *world, struct reference_switch *device, uint16_t ingress,
                           uint64_t size) {
    struct reference_switch_port *from = &device->ports[ingress];
    if (from->shared + size <= lossless_threshold(device) &&
        used_bytes(device) + size <= device->parameters->lossless_pool_bytes) {
        from->shared += size;
        return true;
    }
    if (from->headroom + size > headroom_bytes(world, device, ingress)) {
        return false;
    }
    from->headroom += size;
    if (!from->pausing) {
        from->pausing = true;
        reference_world_pause(world, device->device, ingress, true);
    }
    return true;
}

static bool admit_lossy(struct reference_switch *device, enum packet_class class, uint64_t queue_depth, uint64_t size) {
    const uint64_t limit = device->parameters->queue_limit_bytes;
    if ((class == PACKET_CLASS_LOSSY && limit > 0 && queue_depth + size > limit) ||
        queue_depth + size > lossy_threshold(device) ||
        device->lossy_used + size > device->parameters->lossy_pool_bytes) {
        return false;
    }
    device->lossy_used += size;
    return true;
}

static void release_lossless(struct reference_world *world, struct reference_switch *device, uint16_t ingress,
                             uint64_t size) {
    struct reference_switch_port *from = &device->ports[ingress];
    const uint64_t from_headroom = size < from->headroom ? size : from->headroom;
    from->headroom -= from_headroom;
    from->shared -= size - from_headroom;
    const uint64_t xon = device->parameters->xon_bytes;
    const bool low = from->shared <= xon || from->shared + xon <= lossless_threshold(device);
    if (from->pausing && from->headroom == 0 && low) {
        from->pausing = false;
        reference_world_pause(world, device->device, ingress, false);
    }
}

/* ---- the transmitter ---- */

static bool may_start(struct reference_world *world, struct reference_switch *device, uint16_t port,
                      enum packet_class class) {
    const struct reference_queue *queue = &device->ports[port].queues[class];
    const bool paused =
        class == PACKET_CLASS_LOSSLESS && reference_world_transmitter(world, device->device, port)->paused;
    return queue->count > 0 && queue->items[0].ready_ps <= world->now_ps && !paused &&
           reference_credit_allows(world, device->device, port, &queue->items[0].packet);
}

/** Nothing starts: whether that is for want of credit. */
static void look_for_stall(struct reference_world *world, struct reference_switch *device, uint16_t port) {
    for (int class = 0; class < PACKET_CLASSES; class ++) {
        const struct reference_queue *queue = &device->ports[port].queues[class];
        if (queue->count > 0 && queue->items[0].ready_ps <= world->now_ps) {
            reference_credit_wait(world, device->device, port);
        }
    }
}

static enum packet_class take_turn(const struct reference_switch *device, struct reference_switch_port *port) {
    while (port->deficit[port->turn] < port->queues[port->turn].items[0].packet.size_bytes) {
        port->turn = port->turn == PACKET_CLASS_LOSSLESS ? PACKET_CLASS_LOSSY : PACKET_CLASS_LOSSLESS;
        port->deficit[port->turn] += (uint64_t)device->parameters->class_weight[port->turn] * DEFICIT_UNIT_BYTES;
    }
    port->deficit[port->turn] -= port->queues[port->turn].items[0].packet.size_bytes;
    return port->turn;
}

/** Whether control leaves this turn to data; waiting: there is data that could start. */
static bool yields(const struct reference_world *world, const struct reference_switch *device,
                   struct reference_switch_port *port, bool waiting) {
    const struct switch_parameters *p = device->parameters;
    const bool counts = p->trim && p->trim_turns > 0 && waiting && !reference_credit_is_used(world);
    port->control_run = counts ? (port->control_run + 1) % (p->trim_turns + UINT64_C(1)) : port->control_run;
    return counts && port->control_run == 0;
}

/** The class that sends now, or PACKET_CLASSES. */
static enum packet_class choose_class(struct reference_world *world, struct reference_switch *device, uint16_t number) {
    struct reference_switch_port *port = &device->ports[number];
    const bool lossless = may_start(world, device, number, PACKET_CLASS_LOSSLESS);
    const bool lossy = may_start(world, device, number, PACKET_CLASS_LOSSY);
    if (may_start(world, device, number, PACKET_CLASS_CONTROL) && !yields(world, device, port, lossless || lossy)) {
        return PACKET_CLASS_CONTROL;
    }
    if (lossless && lossy) {
        reference_world_counts(world, device->device, number)->turns++;
        return take_turn(device, port);
    }
    if (!lossless && !lossy) {
        return PACKET_CLASSES;
    }
    port->turn = lossless ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY;
    port->deficit[PACKET_CLASS_LOSSLESS] = 0;
    port->deficit[PACKET_CLASS_LOSSY] = 0;
    return port->turn;
}

static void choose(struct reference_world *world, struct reference_switch *device, uint16_t port) {
    if (reference_world_transmitter(world, device->device, port)->busy) {
        return;
    }
    const enum packet_class class = choose_class(world, device, port);
    if (class == PACKET_CLASSES) {
        if (reference_credit_is_used(world)) {
            look_for_stall(world, device, port);
        }
        return;
    }
    struct reference_queued queued = reference_queue_pop(&device->ports[port].queues[class]);
    reference_switch_tell(world, device, port, &queued.packet);
    reference_switch_mark(world, device, port, &queued.packet);
    reference_world_start(world, device->device, port, &queued);
}

static void sent(struct reference_world *world, struct reference_switch *device, uint16_t port) {
    const struct reference_queued queued = reference_world_sent(world, device->device, port);
    const uint64_t size = queued.packet.size_bytes;
    device->ports[port].depth[packet_class(&queued.packet)] -= size;
    if (reference_credit_is_used(world)) {
        reference_credit_free(world, device->device, queued.ingress, &queued.packet);
    } else if (is_protected(device, &queued.packet)) {
        release_lossless(world, device, queued.ingress, size);
    } else {
        device->lossy_used -= size;
    }
    choose(world, device, port);
}

/* ---- the PFC watchdog ---- */

/** The watchdog is to look at a port after delay_ps, in place of any time set before. */
static void set_watchdog(struct reference_world *world, struct reference_switch *device, uint16_t port,
                         uint64_t delay_ps) {
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = world->now_ps + delay_ps,
                                                               .device = device->device,
                                                               .phase = PHASE_LINK,
                                                               .tie = TIE_WATCHDOG,
                                                               .place = port,
                                                               .kind = REFERENCE_STEP_WATCHDOG,
                                                               .port = port,
                                                               .value = ++device->ports[port].setting});
}

/** A port was told to pause or to resume, or its cable went down. */
static void watch(struct reference_world *world, struct reference_switch *device, uint16_t port, bool was_paused,
                  bool paused) {
    const struct switch_parameters *parameters = device->parameters;
    struct reference_switch_port *at = &device->ports[port];
    if (parameters->watchdog_detection_ps == 0 || !parameters->pfc || paused == was_paused) {
        return;
    }
    at->setting++;
    if (paused != at->storm) {
        set_watchdog(world, device, port,
                     paused ? parameters->watchdog_detection_ps : parameters->watchdog_restoration_ps);
    }
}

/** Whether a port sends in spite of pauses. */
static bool sends_anyway(const struct reference_switch *device, uint16_t port) {
    return device->ports[port].storm && device->parameters->watchdog_action == WATCHDOG_FORWARD;
}

/** A port has been told to pause or to resume: obeys, but not in a storm in which it sends all the same. */
static void change_pause(struct reference_world *world, struct reference_switch *device, uint16_t port, bool paused) {
    struct reference_switch_port *at = &device->ports[port];
    const bool sends = sends_anyway(device, port);
    const bool before = sends ? at->held : reference_world_transmitter(world, device->device, port)->paused;
    if (sends) {
        at->held = paused;
    } else {
        reference_world_paused(world, device->device, port, paused);
    }
    watch(world, device, port, before, paused);
}

static void drop_by_watchdog(struct reference_world *world, struct reference_switch *device, uint16_t ingress,
                             uint16_t egress, const struct packet *packet) {
    struct reference_link_counts *counts = reference_world_counts(world, device->device, egress);
    counts->watchdog_drops++;
    counts->dropped_bytes += packet->size_bytes;
    trace_add_packet(&world->result->trace, TRACE_DROP, world->now_ps, device->device, ingress, packet, egress);
}

/** Whether a port takes no lossless packets. */
static bool drops_all(const struct reference_switch *device, uint16_t port) {
    return device->ports[port].storm && device->parameters->watchdog_action == WATCHDOG_DROP;
}

static void look_at(struct reference_world *world, struct reference_switch *device, uint16_t port, uint64_t setting) {
    struct reference_switch_port *at = &device->ports[port];
    if (setting != at->setting) {
        return;
    }
    at->storm = !at->storm;
    struct reference_link_counts *counts = reference_world_counts(world, device->device, port);
    counts->watchdog_storms += at->storm;
    counts->watchdog_restorations += !at->storm;
    if (sends_anyway(device, port)) {
        counts->watchdog_forwards++;
        reference_world_paused(world, device->device, port, false);
        at->held = true;
        choose(world, device, port);
    }
    while (drops_all(device, port) && at->queues[PACKET_CLASS_LOSSLESS].count > 0) {
        const struct reference_queued queued = reference_queue_pop(&at->queues[PACKET_CLASS_LOSSLESS]);
        at->depth[PACKET_CLASS_LOSSLESS] -= queued.packet.size_bytes;
        drop_by_watchdog(world, device, queued.ingress, port, &queued.packet);
        release_lossless(world, device, queued.ingress, queued.packet.size_bytes);
    }
}

/* ---- arrivals ---- */

/** Whether ports weigh differently. */
static bool differ(const uint32_t *weights, uint16_t count) {
    for (uint16_t i = 1; i < count; i++) {
        if (weights[i] != weights[0] && weights[i] != 0 && weights[0] != 0) {
            return true;
        }
    }
    return false;
}

/** The port that a packet leaves by; false if there is none. ports: room for all of the switch. */
static bool route(struct reference_world *world, struct reference_switch *device, uint16_t ingress,
                  const struct packet *packet, uint16_t *ports, uint16_t *egress) {
    bool avoided;
    const struct fabric_route whole = fabric_route_to(world->fabric, device->device, packet->destination);
    const uint16_t count = reference_failure_candidates(world, device->device, packet->destination,
                                                        device->policy->reorders, ports, &avoided);
    REQUIRE(whole.count > 0, "endpoint %u cannot be reached from device %u", packet->destination, device->device);
    reference_world_counts(world, device->device, ingress)->detours += avoided;
    *egress = ports[0];
    if (count > 1) {
        uint32_t *weights = device->weighs ? memory_allocate(device->n_ports, sizeof *weights) : NULL;
        if (weights != NULL) {
            reference_failure_weights(world, device->device, packet->destination, weights);
            reference_world_counts(world, device->device, ingress)->weighed += differ(weights, whole.count);
        }
        *egress = device->policy->choose(device->path,
                                         &(struct path_request){
                                             .now_ps = world->now_ps,
                                             .source = packet->source,
                                             .destination = packet->destination,
                                             .entropy = packet->entropy,
                                             .ingress_port = ingress,
                                             .first_port = whole.first_port,
                                             .count = count,
                                             .ports = avoided ? ports : NULL,
                                             .weights = weights,
                                             .adaptive = (packet->flags_transmission & PACKET_FLAG_ADAPTIVE) != 0,
                                         });
        free(weights);
    }
    return count > 0;
}

static void drop_unrouted(struct reference_world *world, struct reference_switch *device, uint16_t ingress,
                          const struct packet *packet) {
    struct reference_link_counts *counts = reference_world_counts(world, device->device, ingress);
    counts->unrouted_packets++;
    counts->unrouted_bytes += packet->size_bytes;
    trace_add_packet(&world->result->trace, TRACE_DROP, world->now_ps, device->device, ingress, packet, TRACE_UNROUTED);
}

static uint64_t ready_ps(const struct reference_world *world, uint32_t device, uint16_t ingress, uint16_t egress,
                         uint64_t size) {
    const uint32_t out = reference_world_link(world, device, egress);
    const uint32_t in = world->fabric->links[reference_world_link(world, device, ingress)].reverse;
    const bool first_bit = world->fabric->devices[device].cut_through;
    uint64_t last_bit_ps = world->now_ps;
    if (first_bit) {
        const uint64_t started_ps = world->now_ps - world->fabric->links[in].latency_ps;
        last_bit_ps += rate_time_ps(reference_failure_ps_per_byte(world, in, started_ps), size);
    }
    const uint64_t out_ps = rate_time_ps(reference_failure_ps_per_byte(world, out, world->now_ps), size);
    const uint64_t earliest_ps = last_bit_ps > out_ps ? last_bit_ps - out_ps : 0;
    return earliest_ps > world->now_ps ? earliest_ps : world->now_ps;
}

static void drop(struct reference_world *world, struct reference_switch *device, uint16_t ingress, uint16_t egress,
                 const struct packet *packet) {
    struct reference_link_counts *counts = reference_world_counts(world, device->device, egress);
    if (packet_class(packet) == PACKET_CLASS_LOSSLESS) {
        counts->drops_lossless++;
    } else {
        counts->drops_lossy++;
    }
    counts->dropped_bytes += packet->size_bytes;
    trace_add_packet(&world->result->trace, TRACE_DROP, world->now_ps, device->device, ingress, packet, egress);
}

/* ---- trimming ---- */

static bool may_be_cut(const struct reference_switch *device, const struct packet *packet) {
    return device->parameters->trim && packet_kind(packet) == PACKET_DATA &&
           packet_class(packet) == PACKET_CLASS_LOSSY && packet->size_bytes > device->parameters->trim_bytes;
}

/** A packet that joined the queue last leaves it for one that arrives, if that makes room. */
static bool change_places(struct reference_world *world, struct reference_switch *device,
                          const struct reference_step *step, uint16_t egress, struct reference_queued *leaves) {
    struct reference_switch_port *to = &device->ports[egress];
    struct reference_queue *queue = &to->queues[PACKET_CLASS_LOSSY];
    const uint64_t size = step->packet.size_bytes;
    if (queue->count == 0 || !may_be_cut(device, &queue->items[queue->count - 1].packet)) {
        return false;
    }
    const struct reference_queued last = queue->items[queue->count - 1];
    device->lossy_used -= last.packet.size_bytes;
    if (!admit_lossy(device, PACKET_CLASS_LOSSY, to->depth[PACKET_CLASS_LOSSY] - last.packet.size_bytes, size)) {
        device->lossy_used += last.packet.size_bytes;
        return false;
    }
    *leaves = last;
    to->depth[PACKET_CLASS_LOSSY] += size - last.packet.size_bytes;
    queue->items[queue->count - 1] =
        (struct reference_queued){.packet = step->packet,
                                  .ingress = step->port,
                                  .ready_ps = ready_ps(world, device->device, step->port, egress, size)};
    reference_world_wake(world, device->device, egress, queue->items[queue->count - 1].ready_ps);
    reference_world_counts(world, device->device, egress)->changed_places++;
    return true;
}

/** The header of a packet that is cut joins the control class. */
static void send_header(struct reference_world *world, struct reference_switch *device, uint16_t egress,
                        struct reference_queued cut) {
    struct reference_switch_port *to = &device->ports[egress];
    const uint64_t limit = device->parameters->trim_limit_bytes, depth = to->depth[PACKET_CLASS_CONTROL];
    const uint32_t head = world->fabric->links[reference_world_link(world, device->device, egress)].head_device;
    const uint64_t size = device->parameters->trim_bytes;
    struct reference_link_counts *counts = reference_world_counts(world, device->device, egress);
    trace_add_packet(&world->result->trace, TRACE_TRIM, world->now_ps, device->device, cut.ingress, &cut.packet,
                     egress);
    counts->trims++;
    counts->trimmed_bytes += cut.packet.size_bytes - size;
    cut.packet.size_bytes = (uint16_t)size;
    cut.packet.kind_class = (uint8_t)(PACKET_TRIMMED | PACKET_CLASS_CONTROL << 4);
    if (world->fabric->devices[head].kind == FABRIC_ENDPOINT) {
        cut.packet.flags_transmission |= PACKET_FLAG_LAST_HOP;
    }
    cut.ready_ps = world->now_ps;
    if ((limit > 0 && depth + size > limit) || !admit_lossy(device, PACKET_CLASS_CONTROL, depth, size)) {
        drop(world, device, cut.ingress, egress, &cut.packet);
        return;
    }
    to->depth[PACKET_CLASS_CONTROL] += size;
    reference_queue_push(&to->queues[PACKET_CLASS_CONTROL], &cut);
}

/** A packet that finds no room. */
static void trim_or_drop(struct reference_world *world, struct reference_switch *device,
                         const struct reference_step *step, uint16_t egress) {
    struct reference_queued cut = {.packet = step->packet, .ingress = step->port};
    if (!may_be_cut(device, &step->packet)) {
        drop(world, device, step->port, egress, &step->packet);
        return;
    }
    const uint64_t stream = hash_stream(world->parameters->seed, HASH_PURPOSE_TRIM, device->device, egress);
    const uint64_t draw = hash_draw(stream, device->ports[egress].trim_draws++);
    if (draw >> 32 >= device->parameters->trim_arriving_fxp32) {
        change_places(world, device, step, egress, &cut);
    }
    send_header(world, device, egress, cut);
    choose(world, device, egress);
}

static void accept(struct reference_world *world, struct reference_switch *device, const struct reference_step *step,
                   uint16_t egress) {
    const struct packet *packet = &step->packet;
    const uint64_t size = packet->size_bytes;
    const enum packet_class class = packet_class(packet);
    struct reference_switch_port *to = &device->ports[egress];

    if (class == PACKET_CLASS_LOSSLESS && drops_all(device, egress)) {
        drop_by_watchdog(world, device, step->port, egress, packet);
        return;
    }
    const bool admitted = reference_credit_is_used(world) ? true /* the buffer of its port has room */
                          : is_protected(device, packet)  ? admit_lossless(world, device, step->port, size)
                                                          : admit_lossy(device, class, to->depth[class], size);
    if (!admitted) {
        trim_or_drop(world, device, step, egress);
        return;
    }
    const struct reference_queued queued = {.packet = *packet,
                                            .ingress = step->port,
                                            .ready_ps = ready_ps(world, device->device, step->port, egress, size)};
    to->depth[class] += size;
    reference_queue_push(&to->queues[class], &queued);
    struct reference_link_counts *counts = reference_world_counts(world, device->device, egress);
    reference_world_deepen(world, device->device, egress, reference_switch_data_bytes(device, egress));
    counts->held_back += queued.ready_ps > world->now_ps;
    if (queued.ready_ps > world->now_ps) {
        reference_world_wake(world, device->device, egress, queued.ready_ps);
    }
    choose(world, device, egress);
}

static void arrive(struct reference_world *world, struct reference_switch *device, const struct reference_step *step) {
    uint16_t *ports = memory_allocate(device->n_ports, sizeof *ports);
    uint16_t egress;
    if (route(world, device, step->port, &step->packet, ports, &egress)) {
        accept(world, device, step, egress);
    } else {
        drop_unrouted(world, device, step->port, &step->packet);
        if (reference_credit_is_used(world)) {
            reference_credit_free(world, device->device, step->port, &step->packet);
        }
    }
    free(ports);
}

/** The cable at a port goes down: a pause is forgotten. */
static void go_down(struct reference_world *world, struct reference_switch *device, uint16_t port) {
    reference_world_counts(world, device->device, port)->forgotten_pauses +=
        reference_world_transmitter(world, device->device, port)->paused;
    change_pause(world, device, port, false);
    choose(world, device, port);
}

/** It comes up: a pause that the other end has forgotten is told again. */
static void come_up(struct reference_world *world, struct reference_switch *device, uint16_t port) {
    if (reference_credit_is_used(world)) {
        reference_credit_come_up(world, device->device, port);
    }
    if (device->ports[port].pausing) {
        reference_world_counts(world, device->device, port)->repeated_pauses++;
        reference_world_pause(world, device->device, port, true);
    }
}

static void refresh(struct reference_world *world, struct reference_switch *device) {
    struct path_port *ports = memory_allocate(device->n_ports, sizeof *ports);
    for (uint16_t port = 0; port < device->n_ports; port++) {
        ports[port].depth_bytes = depth_bytes(&device->ports[port]);
        const struct reference_transmitter *transmitter = reference_world_transmitter(world, device->device, port);
        ports[port].paused = transmitter->paused || transmitter->stalled;
    }
    device->policy->refresh(device->path, ports);
    free(ports);
    schedule_refresh(world, device->device, world->now_ps + world->parameters->path.refresh_period_ps);
}

void reference_switch_step(struct reference_world *world, struct reference_switch *device,
                           const struct reference_step *step) {
    switch (step->kind) {
    case REFERENCE_STEP_DOWN:
        go_down(world, device, step->port);
        break;
    case REFERENCE_STEP_UP:
        come_up(world, device, step->port);
        break;
    case REFERENCE_STEP_SENT:
        sent(world, device, step->port);
        break;
    case REFERENCE_STEP_WAKE:
        choose(world, device, step->port);
        break;
    case REFERENCE_STEP_REFRESH:
        refresh(world, device);
        break;
    case REFERENCE_STEP_PAUSE:
        change_pause(world, device, step->port, true);
        break;
    case REFERENCE_STEP_WATCHDOG:
        look_at(world, device, step->port, step->value);
        break;
    case REFERENCE_STEP_RESUME:
        change_pause(world, device, step->port, false);
        choose(world, device, step->port);
        break;
    case REFERENCE_STEP_CREDIT:
        reference_credit_arrived(world, step);
        choose(world, device, step->port);
        break;
    case REFERENCE_STEP_PACKET:
        arrive(world, device, step);
        break;
    default:
        BUG("a switch has no step of kind %d", (int)step->kind);
    }
}
