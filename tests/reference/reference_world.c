// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_world.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/rate.h"
#include "reference_credit.h"
#include "reference_failure.h"

enum { PHASE_TRANSMITTER = 1, PHASE_CONTROL = 3, PHASE_PACKET = 4 };

uint32_t reference_world_link(const struct reference_world *world, uint32_t device, uint16_t port) {
    return world->fabric->devices[device].first_port + port;
}

struct reference_transmitter *reference_world_transmitter(struct reference_world *world, uint32_t device,
                                                          uint16_t port) {
    return &world->transmitters[reference_world_link(world, device, port)];
}

struct reference_link_counts *reference_world_counts(struct reference_world *world, uint32_t device, uint16_t port) {
    return &world->result->links[reference_world_link(world, device, port)];
}

static void raise(uint64_t *most, uint64_t value) {
    *most = value > *most ? value : *most;
}

void reference_world_deepen(struct reference_world *world, uint32_t device, uint16_t port, uint64_t bytes) {
    const uint32_t link = reference_world_link(world, device, port);
    raise(&world->result->links[link].deepest_bytes, bytes);
    if (world->recorded != NULL) {
        raise(&world->recorded[link].deepest_bytes, bytes);
    }
}

/** A step at the head of a link, in the order that the rules give to what arrives at one time. */
static struct reference_step arrival(const struct reference_world *world, uint32_t link, int phase, uint64_t time_ps) {
    const uint64_t stream = hash_stream(world->parameters->seed, HASH_PURPOSE_TIE, link, (uint64_t)phase);
    return (struct reference_step){.time_ps = time_ps,
                                   .device = world->fabric->links[link].head_device,
                                   .phase = phase,
                                   .tie = phase == PHASE_PACKET ? hash_draw(stream, time_ps) : 0,
                                   .place = link,
                                   .port = (uint16_t)world->fabric->links[link].head_port};
}

static void count_start(struct reference_world *world, uint32_t link, const struct packet *packet,
                        uint64_t duration_ps) {
    struct reference_link_counts *counts = &world->result->links[link];
    const enum packet_kind kind = packet_kind(packet);
    counts->bytes += packet->size_bytes;
    counts->busy_ps += duration_ps;
    if (kind == PACKET_DATA || kind == PACKET_URGENT || kind == PACKET_RECORD) {
        counts->packets++;
    } else {
        counts->control_packets++;
    }
}

static void lose(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet,
                 uint64_t arrival_ps) {
    const uint32_t link = reference_world_link(world, device, port);
    struct reference_link_counts *counts = reference_world_counts(world, device, port);
    counts->lost_at_random += !reference_failure_down_within(world, link, world->now_ps, arrival_ps);
    counts->lost_packets++;
    counts->lost_bytes += packet->size_bytes;
    trace_add_packet(&world->result->trace, TRACE_LOSE, world->now_ps, device, port, packet, 0);
}

static void arrive_later(struct reference_world *world, uint32_t link, const struct packet *packet, uint64_t end_ps) {
    const struct fabric_link *wire = &world->fabric->links[link];
    const uint64_t leaves_ps = world->fabric->devices[wire->head_device].cut_through ? world->now_ps : end_ps;
    struct reference_step step = arrival(world, link, PHASE_PACKET, leaves_ps + wire->latency_ps);
    step.kind = REFERENCE_STEP_PACKET;
    step.packet = *packet;
    reference_heap_push(&world->heap, &step);
}

uint64_t reference_world_start(struct reference_world *world, uint32_t device, uint16_t port,
                               const struct reference_queued *queued) {
    const uint32_t link = reference_world_link(world, device, port);
    const struct fabric_link *wire = &world->fabric->links[link];
    struct reference_transmitter *transmitter = &world->transmitters[link];
    REQUIRE(!transmitter->busy, "a start on a busy transmitter: device %u port %u", device, port);

    const uint64_t ps_per_byte = reference_failure_ps_per_byte(world, link, world->now_ps);
    const uint64_t wire_ps = rate_next_ps(ps_per_byte, queued->packet.size_bytes, &transmitter->carry);
    const uint64_t duration_ps = wire_ps < queued->least_ps ? queued->least_ps : wire_ps;
    const uint64_t end_ps = world->now_ps + wire_ps;
    transmitter->busy = true;
    transmitter->sent = *queued;
    transmitter->end_ps = world->now_ps + duration_ps;
    count_start(world, link, &queued->packet, wire_ps);
    world->result->links[link].lengthened_packets += wire_ps < duration_ps;
    world->result->links[link].slowed_packets += ps_per_byte > wire->ps_per_byte;
    trace_add_packet(&world->result->trace, TRACE_START, world->now_ps, device, port, &queued->packet,
                     transmitter->end_ps);

    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = transmitter->end_ps,
                                                               .device = device,
                                                               .phase = PHASE_TRANSMITTER,
                                                               .place = port,
                                                               .kind = REFERENCE_STEP_SENT,
                                                               .port = port});
    const bool lost = reference_failure_loses(world, link, end_ps + wire->latency_ps);
    if (reference_credit_is_used(world) && wire->kind == FABRIC_ETHERNET) {
        reference_credit_start(world, device, port, &queued->packet, lost);
    }
    if (lost) {
        lose(world, device, port, &queued->packet, end_ps + wire->latency_ps);
    } else {
        arrive_later(world, link, &queued->packet, end_ps);
    }
    return duration_ps;
}

struct reference_queued reference_world_sent(struct reference_world *world, uint32_t device, uint16_t port) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    REQUIRE(transmitter->busy, "an end without a start: device %u port %u", device, port);
    transmitter->busy = false;
    return transmitter->sent;
}

void reference_world_wake(struct reference_world *world, uint32_t device, uint16_t port, uint64_t time_ps) {
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = time_ps,
                                                               .device = device,
                                                               .phase = PHASE_TRANSMITTER,
                                                               .place = port,
                                                               .kind = REFERENCE_STEP_WAKE,
                                                               .port = port});
}

void reference_world_send(struct reference_world *world, uint32_t device, uint16_t port, enum reference_step_kind kind,
                          uint64_t value) {
    const uint32_t link = reference_world_link(world, device, port);
    const uint64_t arrival_ps = world->now_ps + world->fabric->links[link].latency_ps;
    struct reference_step step = arrival(world, link, PHASE_CONTROL, arrival_ps);
    if (reference_failure_down_within(world, link, world->now_ps, arrival_ps)) {
        return;
    }
    step.kind = kind;
    step.value = value;
    reference_heap_push(&world->heap, &step);
}

void reference_world_pause(struct reference_world *world, uint32_t device, uint16_t port, bool pause) {
    reference_world_send(world, device, port, pause ? REFERENCE_STEP_PAUSE : REFERENCE_STEP_RESUME, 0);
    trace_add_control(&world->result->trace, pause ? TRACE_PAUSE : TRACE_RESUME, world->now_ps, device, port, 0);
}

void reference_world_return_credit(struct reference_world *world, uint32_t device, uint16_t port, uint64_t bytes) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    transmitter->returned_bytes += bytes;
    if (transmitter->returned_bytes >= world->parameters->nvlink.credit_grain_bytes) {
        reference_world_send(world, device, port, REFERENCE_STEP_CREDIT, transmitter->returned_bytes);
        trace_add_control(&world->result->trace, TRACE_CREDIT, world->now_ps, device, port,
                          transmitter->returned_bytes);
        transmitter->returned_bytes = 0;
    }
}

bool reference_world_has_credit(struct reference_world *world, uint32_t device, uint16_t port) {
    const bool enough =
        reference_world_transmitter(world, device, port)->credit_bytes >= world->parameters->nvlink.record_bytes;
    if (!enough) {
        reference_world_counts(world, device, port)->credit_stalls++;
    }
    return enough;
}

void reference_world_forget_pause(struct reference_world *world, uint32_t device, uint16_t port) {
    reference_world_counts(world, device, port)->forgotten_pauses +=
        reference_world_transmitter(world, device, port)->paused;
    reference_world_paused(world, device, port, false);
}

void reference_world_paused(struct reference_world *world, uint32_t device, uint16_t port, bool paused) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    struct reference_link_counts *counts = reference_world_counts(world, device, port);
    counts->pauses += paused;
    if (paused && !transmitter->paused) {
        transmitter->paused_since_ps = world->now_ps;
    }
    if (!paused && transmitter->paused) {
        counts->paused_ps += world->now_ps - transmitter->paused_since_ps;
    }
    transmitter->paused = paused;
}
