// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_switch_internal.h"

#include "base/hash.h"
#include "base/rate.h"

static bool draw_mark(struct reference_world *world, struct reference_switch *device, uint16_t port, uint64_t depth) {
    const struct switch_parameters *p = device->parameters;
    const uint64_t stream = hash_stream(world->parameters->seed, HASH_PURPOSE_ECN, device->device, port);
    const uint64_t draw = hash_draw(stream, device->ports[port].draws++);
    return (rate_wide)(draw >> 32) * (p->ecn_maximum_bytes - p->ecn_minimum_bytes) <
           ((rate_wide)p->ecn_probability_fxp20 * (depth - p->ecn_minimum_bytes)) << 12;
}

void reference_switch_mark(struct reference_world *world, struct reference_switch *device, uint16_t port,
                           struct packet *packet) {
    const struct switch_parameters *p = device->parameters;
    const enum packet_class class = packet_class(packet);
    if (!p->ecn || class == PACKET_CLASS_CONTROL || (packet->flags_transmission & PACKET_FLAG_MARKED)) {
        return;
    }
    const uint64_t depth = device->ports[port].depth[class];
    if (depth > p->ecn_maximum_bytes || (depth > p->ecn_minimum_bytes && draw_mark(world, device, port, depth))) {
        packet->flags_transmission |= PACKET_FLAG_MARKED;
        reference_world_counts(world, device->device, port)->marks++;
    }
}

void reference_switch_tell(struct reference_world *world, struct reference_switch *device, uint16_t port,
                           struct packet *packet) {
    const struct congestion_parameters *congestion = &world->parameters->congestion;
    const struct fabric_link *out = &world->fabric->links[reference_world_link(world, device->device, port)];
    const enum packet_class class = packet_class(packet);
    if (!congestion_controller_of(congestion->kind)->wants_telemetry || class == PACKET_CLASS_CONTROL) {
        return;
    }
    const rate_wide queue_ps = (rate_wide)out->ps_per_byte * device->ports[port].depth[class] >> RATE_FRACTION_BITS;
    const uint32_t told = telemetry_tell(&device->ports[port].telemetry, (uint64_t)queue_ps,
                                         rate_time_ps(out->ps_per_byte, packet->size_bytes), world->now_ps,
                                         congestion->hpcc.round_trip_ps);
    if (packet_kind(packet) == PACKET_DATA && told > packet->number / REFERENCE_NUMBERS) {
        packet->number = packet->number % REFERENCE_NUMBERS + told * REFERENCE_NUMBERS;
    }
}
