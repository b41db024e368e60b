// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_intake.h"

#include "base/memory.h"
#include "base/rate.h"
#include "reference_failure.h"

#include <stdlib.h>

enum { PHASE_TAKEN = 5, TIE_TAKEN = 0, FIRST_PORT = 0 };

struct reference_intake {
    uint32_t endpoint;
    struct reference_queue queue;
    bool pausing;
};

struct reference_intake *reference_intake_create(uint32_t endpoint) {
    struct reference_intake *intake = memory_allocate(1, sizeof *intake);
    intake->endpoint = endpoint;
    return intake;
}

void reference_intake_free(struct reference_intake *intake) {
    if (intake != NULL) {
        reference_queue_free(&intake->queue);
        free(intake);
    }
}

static uint32_t link_in(const struct reference_world *world, const struct reference_intake *intake) {
    return world->fabric->links[reference_world_link(world, intake->endpoint, FIRST_PORT)].reverse;
}

static uint64_t held_bytes(const struct reference_intake *intake, enum packet_class class) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < intake->queue.count; i++) {
        const struct packet *packet = &intake->queue.items[i].packet;
        bytes += packet_class(packet) == class ? packet->size_bytes : 0;
    }
    return bytes;
}

/** The host turns to the oldest packet now: when will it have taken it? Nothing is scheduled if never. */
static void turn_to_oldest(struct reference_world *world, const struct reference_intake *intake) {
    const uint32_t link = link_in(world, intake);
    const uint64_t given = world->parameters->nic.receive_ps_per_byte;
    const uint64_t ports = world->fabric->endpoints[intake->endpoint].n_nics;
    uint64_t rate = given != 0 ? given : world->fabric->links[link].ps_per_byte / ports, from_ps = world->now_ps;
    while (from_ps != TIME_NEVER && reference_failure_receive_ps_per_byte(world, link, from_ps) == TIME_NEVER) {
        from_ps = reference_failure_receive_next_ps(world, link, from_ps);
    }
    if (from_ps == TIME_NEVER) {
        return;
    }
    const uint64_t failing = reference_failure_receive_ps_per_byte(world, link, from_ps);
    rate = failing > rate ? failing : rate;
    const uint64_t taken_ps = from_ps + rate_time_ps(rate, intake->queue.items[0].packet.size_bytes);
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = taken_ps,
                                                               .device = intake->endpoint,
                                                               .phase = PHASE_TAKEN,
                                                               .tie = TIE_TAKEN,
                                                               .kind = REFERENCE_STEP_TAKEN,
                                                               .port = FIRST_PORT});
}

/** Whether a packet that comes now goes through the buffer. */
static bool is_limited(const struct reference_world *world, const struct reference_intake *intake) {
    return intake->queue.count > 0 || world->parameters->nic.receive_ps_per_byte != 0 ||
           reference_failure_receive_ps_per_byte(world, link_in(world, intake), world->now_ps) != 0;
}

static void tell_leaves(struct reference_world *world, const struct reference_intake *intake, bool pause) {
    for (uint16_t port = 0; port < world->fabric->endpoints[intake->endpoint].n_nics; port++) {
        world->result->endpoints[intake->endpoint].receive_pauses += pause;
        reference_world_pause(world, intake->endpoint, port, pause);
    }
}

bool reference_intake_keeps(struct reference_world *world, struct reference_intake *intake, uint16_t port,
                            const struct packet *packet) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    struct reference_endpoint_counts *counts = &world->result->endpoints[intake->endpoint];
    const enum packet_class class = packet_class(packet);
    if (class == PACKET_CLASS_CONTROL || !is_limited(world, intake)) {
        return false;
    }
    if (held_bytes(intake, class) + packet->size_bytes > parameters->receive_buffer_bytes &&
        !world->parameters->infiniband.links) {
        counts->receive_discards++;
        trace_add_packet(&world->result->trace, TRACE_DROP, world->now_ps, intake->endpoint, port, packet, 0);
        return true;
    }
    reference_queue_push(&intake->queue, &(struct reference_queued){.packet = *packet, .ingress = port});
    const uint64_t held = held_bytes(intake, class);
    counts->receive_deepest_bytes = held > counts->receive_deepest_bytes ? held : counts->receive_deepest_bytes;
    if (intake->queue.count == 1) {
        turn_to_oldest(world, intake);
    }
    if (class == PACKET_CLASS_LOSSLESS && world->parameters->leaf.pfc && !world->parameters->infiniband.links &&
        !intake->pausing && held > parameters->receive_xoff_bytes) {
        intake->pausing = true;
        tell_leaves(world, intake, true);
    }
    return true;
}

struct packet reference_intake_taken(struct reference_world *world, struct reference_intake *intake, uint16_t *port) {
    const struct reference_queued queued = reference_queue_pop(&intake->queue);
    const struct packet packet = queued.packet;
    *port = queued.ingress;
    if (intake->queue.count > 0) {
        turn_to_oldest(world, intake);
    }
    if (intake->pausing && packet_class(&packet) == PACKET_CLASS_LOSSLESS &&
        held_bytes(intake, PACKET_CLASS_LOSSLESS) <= world->parameters->nic.receive_xon_bytes) {
        intake->pausing = false;
        tell_leaves(world, intake, false);
    }
    return packet;
}

void reference_intake_come_up(struct reference_world *world, struct reference_intake *intake, uint16_t port) {
    if (intake->pausing) {
        world->result->endpoints[intake->endpoint].receive_pauses++;
        reference_world_pause(world, intake->endpoint, port, true);
    }
}
