// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/pull.h"

#include "base/memory.h"
#include "base/rate.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 8 };

struct pull_desk *pull_create(void) {
    struct pull_desk *desk = memory_allocate(1, sizeof(*desk));
    receiver_credit_begin(&desk->pace);
    return desk;
}

void pull_free(struct pull_desk *desk) {
    if (!desk) {
        return;
    }
    free(desk->flows);
    free(desk->ring);
    free(desk);
}

static struct pull_flow *flow_of(struct pull_desk *desk, uint32_t flow, const struct packet *packet) {
    const uint32_t before = desk->capacity;
    while (flow >= desk->capacity) {
        desk->capacity = desk->capacity ? 2 * desk->capacity : FIRST_CAPACITY;
    }
    if (desk->capacity != before) {
        desk->flows = memory_resize(desk->flows, desk->capacity, sizeof(*desk->flows));
        for (uint32_t i = before; i < desk->capacity; i++) {
            desk->flows[i] = (struct pull_flow){0};
        }
    }
    struct pull_flow *found = &desk->flows[flow];
    found->source = packet->source;
    found->queue_pair = packet->queue_pair;
    found->entropy = packet->entropy;
    return found;
}

static void ring_push(struct pull_desk *desk, uint32_t flow) {
    if (desk->ring_count == desk->ring_capacity) {
        const uint32_t old = desk->ring_capacity;
        uint32_t *ring = memory_allocate(old ? 2 * (size_t)old : FIRST_CAPACITY, sizeof(*ring));
        for (uint32_t i = 0; i < old; i++) {
            ring[i] = desk->ring[(desk->ring_first + i) & (old - 1)];
        }
        free(desk->ring);
        desk->ring = ring;
        desk->ring_first = 0;
        desk->ring_capacity = old ? 2 * old : FIRST_CAPACITY;
    }
    desk->ring[(desk->ring_first + desk->ring_count++) & (desk->ring_capacity - 1)] = flow;
    desk->flows[flow].waits = true;
}

/* One more packet is owed for one of so many bytes. */
static void owe(struct pull_desk *desk, uint32_t flow, const struct packet *packet, uint32_t size_bytes) {
    struct pull_flow *owed = flow_of(desk, flow, packet);
    owed->owed++;
    owed->owed_bytes += size_bytes;
    if (!owed->waits) {
        ring_push(desk, flow);
    }
}

void pull_arrived(struct pull_desk *desk, const struct congestion_parameters *congestion, uint32_t flow,
                  const struct packet *packet, bool taken, uint64_t now_ps) {
    receiver_credit_arrived(&congestion->receiver_credit, &desk->pace, packet->flags_transmission & PACKET_FLAG_MARKED,
                            now_ps);
    if (taken) {
        owe(desk, flow, packet, packet->size_bytes);
    }
}

void pull_trimmed(struct pull_desk *desk, const struct network_parameters *parameters, uint32_t flow,
                  const struct packet *packet, uint64_t now_ps) {
    receiver_credit_trimmed(&parameters->congestion.receiver_credit, &desk->pace,
                            packet->flags_transmission & PACKET_FLAG_LAST_HOP, now_ps);
    owe(desk, flow, packet, parameters->nic.payload_bytes + parameters->nic.header_bytes);
}

uint64_t pull_next_ps(const struct pull_desk *desk) {
    return desk->ring_count > 0 ? desk->next_ps : TIME_NEVER;
}

struct packet pull_take(struct pull_desk *desk, const struct network_parameters *parameters, uint32_t device,
                        uint64_t line_bits_per_s, uint64_t now_ps) {
    const uint32_t number = desk->ring[desk->ring_first];
    struct pull_flow *flow = &desk->flows[number];
    const uint32_t most = parameters->congestion.receiver_credit.pull_packets;
    const uint32_t packets = flow->owed < most ? flow->owed : most;
    const uint64_t bytes = flow->owed_bytes * packets / flow->owed;
    desk->ring_first = (desk->ring_first + 1) & (desk->ring_capacity - 1);
    desk->ring_count--;
    flow->waits = false;
    flow->owed -= packets;
    flow->owed_bytes -= bytes;
    flow->pulled += packets;
    if (flow->owed > 0) {
        ring_push(desk, number);
    }
    desk->next_ps = now_ps + receiver_credit_gap_ps(&desk->pace, bytes, line_bits_per_s);
    return (struct packet){
        .source = device,
        .destination = flow->source,
        .number = flow->pulled,
        .queue_pair = flow->queue_pair,
        .size_bytes = (uint16_t)parameters->nic.control_bytes,
        .entropy = flow->entropy,
        .kind_class = PACKET_PULL | PACKET_CLASS_CONTROL << 4,
    };
}

uint64_t pull_bytes(const struct pull_desk *desk) {
    return desk ? sizeof(*desk) + desk->capacity * sizeof(struct pull_flow) + desk->ring_capacity * sizeof(uint32_t)
                : 0;
}
