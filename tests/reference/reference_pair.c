// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_pair.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

enum { TRANSMISSIONS = 16 };

struct reference_pair *reference_pair_create(uint32_t source, uint32_t destination, uint32_t number, uint32_t index) {
    struct reference_pair *pair = memory_allocate(1, sizeof *pair);
    pair->source = source;
    pair->destination = destination;
    pair->number = number;
    pair->entropy = (uint16_t)hash_mix(hash_mix(destination) + index);
    pair->window = CONGESTION_UNLIMITED;
    return pair;
}

void reference_pair_free(struct reference_pair *pair) {
    if (pair != NULL) {
        free(pair->packets);
        free(pair->started_ps);
        free(pair->started_as);
        free(pair->messages);
        free(pair);
    }
}

static void add_packet(struct reference_pair *pair, const struct packet *packet) {
    pair->packets = memory_resize(pair->packets, pair->n_packets + 1, sizeof *pair->packets);
    pair->started_ps = memory_resize(pair->started_ps, pair->n_packets + 1, sizeof *pair->started_ps);
    pair->started_as = memory_resize(pair->started_as, pair->n_packets + 1, sizeof *pair->started_as);
    pair->packets[pair->n_packets++] = *packet;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void reference_pair_add(struct reference_pair *pair, const struct traffic_message *message,
                        const struct nic_parameters *parameters) {
    const uint64_t unit = message->unit_bytes ? message->unit_bytes : message->bytes;
    for (uint64_t offset = 0, piece; offset < message->bytes; offset += piece) {
        piece = least(least(parameters->payload_bytes, unit - offset % unit), message->bytes - offset);
        const bool last = offset + piece == message->bytes;
        add_packet(pair,
                   &(struct packet){
                       .source = pair->source,
                       .destination = pair->destination,
                       .number = pair->n_packets,
                       .message = message->tag,
                       .queue_pair = (uint16_t)pair->number,
                       .size_bytes = (uint16_t)(piece + parameters->header_bytes),
                       .entropy = pair->entropy,
                       .kind_class = (uint8_t)(PACKET_DATA | (int)nic_parameters_class(parameters, pair->source) << 4),
                       .flags_transmission = (uint8_t)((parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0) |
                                                       (last ? PACKET_FLAG_LAST : 0))});
    }
    pair->messages = memory_resize(pair->messages, pair->n_messages + 1, sizeof *pair->messages);
    pair->messages[pair->n_messages++] = (struct reference_pair_message){.tag = message->tag, .end = pair->n_packets};
}

uint32_t reference_pair_acknowledged(const struct reference_pair *pair, const struct nic_parameters *parameters) {
    return parameters->out_of_order ? pair->received : pair->cumulative;
}

bool reference_pair_has_work(const struct reference_pair *pair, const struct nic_parameters *parameters) {
    const int64_t in_flight = (int64_t)pair->next - (int64_t)reference_pair_acknowledged(pair, parameters);
    const bool window_open = (parameters->window_packets == 0 || in_flight < (int64_t)parameters->window_packets) &&
                             (pair->window == CONGESTION_UNLIMITED || in_flight < (int64_t)pair->window);
    return pair->next < pair->n_packets && (window_open || pair->next < pair->sent);
}

bool reference_pair_outstanding(const struct reference_pair *pair) {
    return pair->cumulative < pair->sent;
}

struct packet reference_pair_packet(const struct reference_pair *pair) {
    struct packet packet = pair->packets[pair->next];
    packet.flags_transmission |= (uint8_t)(pair->transmission << 4);
    return packet;
}

void reference_pair_advance(struct reference_pair *pair, uint64_t now_ps) {
    pair->started_ps[pair->next] = now_ps;
    pair->started_as[pair->next] = pair->transmission;
    pair->next++;
    pair->sent = pair->next > pair->sent ? pair->next : pair->sent;
}

void reference_pair_acknowledge(struct reference_pair *pair, uint32_t cumulative, uint32_t received) {
    pair->cumulative = cumulative > pair->cumulative ? cumulative : pair->cumulative;
    pair->received = received > pair->received ? received : pair->received;
    pair->next = pair->next > pair->cumulative ? pair->next : pair->cumulative;
}

void reference_pair_rewind(struct reference_pair *pair) {
    pair->next = pair->cumulative;
    pair->transmission = (uint8_t)((pair->transmission + 1) % TRANSMISSIONS);
}
