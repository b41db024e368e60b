// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_credit.h"

#include "base/error.h"
#include "base/rate.h"
#include "reference_failure.h"

enum { BLOCK = 64, LANE_BIT = 32 };

static uint64_t blocks_of(uint64_t bytes) {
    return bytes / BLOCK + (bytes % BLOCK > 0);
}

static uint64_t largest(const struct reference_world *world) {
    const struct nic_parameters *nic = &world->parameters->nic;
    const uint64_t data = (uint64_t)nic->payload_bytes + nic->header_bytes;
    return blocks_of(data > nic->control_bytes ? data : nic->control_bytes);
}

static uint64_t grain(const struct reference_world *world) {
    return blocks_of(world->parameters->infiniband.credit_grain_bytes);
}

/** Blocks of a lane of the buffer at the head of a link. */
static uint64_t buffer_of(const struct reference_world *world, uint32_t link) {
    const struct fabric_link *there = &world->fabric->links[link];
    const struct fabric_link *back = &world->fabric->links[there->reverse];
    const uint64_t slower = there->ps_per_byte > back->ps_per_byte ? there->ps_per_byte : back->ps_per_byte;
    const uint64_t least = largest(world) + grain(world);
    const uint64_t around_ps =
        there->latency_ps + back->latency_ps + 2 * rate_time_ps(slower, (uint32_t)(largest(world) * BLOCK));
    const uint64_t around_bytes = (uint64_t)((rate_wide)around_ps * there->rate_bits_per_s / UINT64_C(8000000000000));
    const uint64_t given = world->parameters->infiniband.buffer_bytes / BLOCK;
    const uint64_t blocks = given > 0 ? given : around_bytes / BLOCK + least;
    return blocks > least ? blocks : least;
}

bool reference_credit_is_used(const struct reference_world *world) {
    return world->parameters->infiniband.links;
}

void reference_credit_begin(struct reference_world *world) {
    for (uint32_t link = 0; link < world->fabric->n_links; link++) {
        for (int lane = 0; lane < PACKET_CLASSES; lane++) {
            world->transmitters[link].left[lane] = buffer_of(world, link);
        }
    }
}

static bool is_dead(const struct reference_world *world, uint32_t device, uint16_t port) {
    return reference_failure_down(world, reference_world_link(world, device, port), world->now_ps);
}

bool reference_credit_allows(struct reference_world *world, uint32_t device, uint16_t port,
                             const struct packet *packet) {
    const struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    return !reference_credit_is_used(world) || is_dead(world, device, port) ||
           transmitter->left[packet_class(packet)] >= blocks_of(packet->size_bytes);
}

bool reference_credit_is_open(struct reference_world *world, uint32_t endpoint, uint16_t port, enum packet_class lane) {
    return !reference_credit_is_used(world) || is_dead(world, endpoint, port) ||
           reference_world_transmitter(world, endpoint, port)->left[lane] >= largest(world);
}

void reference_credit_start(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet,
                            bool lost) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    uint64_t *left = &transmitter->left[packet_class(packet)];
    reference_credit_wait_no_more(world, device, port);
    if (!lost) {
        REQUIRE(*left >= blocks_of(packet->size_bytes), "device %u port %u sends without credit", device, port);
        *left -= blocks_of(packet->size_bytes);
    }
}

void reference_credit_fill(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    uint64_t *held = &transmitter->held[packet_class(packet)];
    const uint32_t in = world->fabric->links[reference_world_link(world, device, port)].reverse;
    *held += blocks_of(packet->size_bytes);
    REQUIRE(*held <= buffer_of(world, in), "device %u port %u has no room for a packet", device, port);
}

static void tell(struct reference_world *world, uint32_t device, uint16_t port, int lane, uint64_t blocks) {
    const uint64_t value = (uint64_t)lane << LANE_BIT | blocks;
    reference_world_send(world, device, port, REFERENCE_STEP_CREDIT, value);
    trace_add_control(&world->result->trace, TRACE_CREDIT, world->now_ps, device, port, value);
}

void reference_credit_free(struct reference_world *world, uint32_t device, uint16_t port, const struct packet *packet) {
    if (!reference_credit_is_used(world)) {
        return;
    }
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    const enum packet_class lane = packet_class(packet);
    transmitter->held[lane] -= blocks_of(packet->size_bytes);
    transmitter->gathered[lane] += blocks_of(packet->size_bytes);
    if (transmitter->gathered[lane] >= grain(world)) {
        tell(world, device, port, lane, transmitter->gathered[lane]);
        transmitter->gathered[lane] = 0;
    }
}

void reference_credit_arrived(struct reference_world *world, const struct reference_step *step) {
    reference_world_transmitter(world, step->device, step->port)->left[step->value >> LANE_BIT] +=
        step->value & UINT32_MAX;
}

void reference_credit_come_up(struct reference_world *world, uint32_t device, uint16_t port) {
    if (!reference_credit_is_used(world)) {
        return;
    }
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    const uint32_t in = world->fabric->links[reference_world_link(world, device, port)].reverse;
    for (int lane = 0; lane < PACKET_CLASSES; lane++) {
        transmitter->left[lane] = 0;
        transmitter->gathered[lane] = 0;
        tell(world, device, port, lane, buffer_of(world, in) - transmitter->held[lane]);
    }
    reference_world_counts(world, device, port)->renewed_credits++;
}

void reference_credit_wait(struct reference_world *world, uint32_t device, uint16_t port) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    if (!transmitter->stalled) {
        transmitter->stalled = true;
        transmitter->stalled_since_ps = world->now_ps;
        reference_world_counts(world, device, port)->lane_stalls++;
    }
}

void reference_credit_wait_no_more(struct reference_world *world, uint32_t device, uint16_t port) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, device, port);
    if (transmitter->stalled) {
        reference_world_counts(world, device, port)->lane_stalled_ps += world->now_ps - transmitter->stalled_since_ps;
    }
    transmitter->stalled = false;
}
