// SPDX-License-Identifier: GPL-3.0-or-later
/* Urgent messages: one packet each in the control class, sent again until its receiver has acknowledged it, where that is asked for. */
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/endpoint_internal.h"

/* The plane whose port is free first, of those that lead there. */
static uint32_t plane_of(const struct endpoint *endpoint, uint32_t destination, uint64_t now_ps) {
    const uint32_t dead = failover_mask(endpoint->context, endpoint->device, destination, now_ps);
    uint32_t first = nic_first_free(endpoint);
    for (uint32_t plane = 0; plane < endpoint->nic.n_planes && dead != 0; plane++) {
        const bool better = dead >> first & 1 || endpoint->ports[plane].free_ps < endpoint->ports[first].free_ps;
        first = !(dead >> plane & 1) && better ? plane : first;
    }
    return first;
}

static uint64_t timeout_ps(const struct endpoint *endpoint) {
    return endpoint->context->parameters->nic.urgent_timeout_ps;
}

/* Sends a packet, and looks again after a while whether it has arrived. */
static void send(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet, uint8_t repeats,
                 uint64_t now_ps) {
    if (timeout_ps(endpoint) > 0) {
        heap_push(&endpoint->nic.timers, now_ps + (timeout_ps(endpoint) << repeats), URGENT_TIE + packet->number, 0);
    }
    nic_send_control(endpoint, worker, plane_of(endpoint, packet->destination, now_ps), packet, now_ps);
}

void urgent_post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
                 uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    REQUIRE(message->bytes <= endpoint->context->parameters->nic.payload_bytes,
            "an urgent message of %llu bytes is more than one packet", (unsigned long long)message->bytes);
    const struct packet packet = {
        .source = endpoint->device,
        .destination = message->destination,
        .number = nic->urgent_count,
        .message = message->tag,
        .size_bytes = (uint16_t)(message->bytes + endpoint->context->parameters->nic.header_bytes),
        .entropy = (uint16_t)hash_mix(message->destination),
        .kind_class = PACKET_URGENT | PACKET_CLASS_CONTROL << 4,
        .flags_transmission = PACKET_FLAG_LAST,
    };
    if (timeout_ps(endpoint) > 0) {
        ENDPOINT_RESERVE(nic->urgents, nic->urgent_count, nic->urgent_capacity);
        nic->urgents[nic->urgent_count] = (struct urgent_sent){.packet = packet};
    }
    nic->urgent_count++;
    send(endpoint, worker, &packet, 0, now_ps);
}

void urgent_handle_reply(struct endpoint *endpoint, const struct packet *packet) {
    endpoint->nic.urgents[packet->number].acknowledged = true;
}

bool urgent_waits(const struct nic *nic, uint64_t tie) {
    return !nic->urgents[tie - URGENT_TIE].acknowledged;
}

void urgent_handle_timer(struct endpoint *endpoint, struct engine_worker *worker, const struct heap_entry *entry) {
    struct urgent_sent *sent = &endpoint->nic.urgents[entry->tie - URGENT_TIE];
    if (sent->acknowledged) {
        return;
    }
    nic_drain(endpoint, worker, entry->time_ps);
    endpoint->counters.timeouts++;
    endpoint->counters.retransmitted_packets++;
    sent->repeats += sent->repeats < NIC_LONGEST_BACK_OFF;
    send(endpoint, worker, &sent->packet, sent->repeats, entry->time_ps);
}

bool urgent_is_new(struct endpoint *endpoint, const struct packet *packet) {
    const uint64_t key = (uint64_t)packet->source << 32 | packet->number;
    if (timeout_ps(endpoint) == 0) {
        return true;
    }
    if (table_find(&endpoint->urgent_seen, key)) {
        endpoint->counters.duplicates++;
        return false;
    }
    table_add(&endpoint->urgent_seen, key, 0);
    return true;
}
