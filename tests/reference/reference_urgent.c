// SPDX-License-Identifier: GPL-3.0-or-later
/* Urgent messages of a naive NIC. */
#include "reference_failure.h"
#include "reference_nic_internal.h"

#include "base/hash.h"
#include "base/memory.h"

/* The plane whose port is free first, of those that lead there. */
static uint16_t plane_of_urgent(struct reference_world *world, const struct reference_nic *nic, uint32_t destination) {
    uint16_t first = reference_nic_next_plane(world, nic, destination, 0);
    for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
        const bool out = reference_failure_left_out(world, nic->endpoint, destination, plane);
        const bool sooner =
            reference_nic_free_ps(world, nic, plane) < reference_nic_free_ps(world, nic, first) ||
            (reference_nic_free_ps(world, nic, plane) == reference_nic_free_ps(world, nic, first) && plane < first);
        first = !out && sooner ? plane : first;
    }
    return first;
}

static void send_urgent(struct reference_world *world, struct reference_nic *nic,
                        const struct reference_urgent *urgent) {
    const struct packet packet = urgent->packet;
    if (world->parameters->nic.urgent_timeout_ps > 0) {
        const int doublings = urgent->repeats < REPEATS_MOST ? (int)urgent->repeats : REPEATS_MOST;
        reference_heap_push(
            &world->heap,
            &(struct reference_step){.time_ps = world->now_ps + (world->parameters->nic.urgent_timeout_ps << doublings),
                                     .device = nic->endpoint,
                                     .phase = PHASE_TIMER,
                                     .tie = TIE_TIMER,
                                     .place = REFERENCE_URGENT_PLACE + packet.number,
                                     .kind = REFERENCE_STEP_TIMEOUT});
    }
    reference_nic_send_control(world, nic, plane_of_urgent(world, nic, packet.destination), &packet);
}

void reference_urgent_post(struct reference_world *world, struct reference_nic *nic,
                           const struct traffic_message *message) {
    const struct packet packet = {.source = nic->endpoint,
                                  .destination = message->destination,
                                  .number = nic->urgent,
                                  .message = message->tag,
                                  .size_bytes = (uint16_t)(message->bytes + world->parameters->nic.header_bytes),
                                  .entropy = (uint16_t)hash_mix(message->destination),
                                  .kind_class = PACKET_URGENT | PACKET_CLASS_CONTROL << 4,
                                  .flags_transmission = PACKET_FLAG_LAST};
    nic->urgents = memory_resize(nic->urgents, nic->urgent + 1, sizeof *nic->urgents);
    nic->urgents[nic->urgent] = (struct reference_urgent){.packet = packet};
    send_urgent(world, nic, &nic->urgents[nic->urgent++]);
}

bool reference_urgent_timeout(struct reference_world *world, struct reference_nic *nic, uint32_t number) {
    struct reference_urgent *urgent = &nic->urgents[number];
    if (urgent->acknowledged) {
        return false;
    }
    world->result->endpoints[nic->endpoint].timeouts++;
    world->result->endpoints[nic->endpoint].retransmitted_packets++;
    world->result->endpoints[nic->endpoint].urgent_again++;
    urgent->repeats++;
    send_urgent(world, nic, urgent);
    return true;
}

void reference_urgent_acknowledged(struct reference_nic *nic, uint32_t number) {
    nic->urgents[number].acknowledged = true;
}
