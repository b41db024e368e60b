// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs, the sender's side: peers get them when they are first used, and messages are posted on them, whole or in parts. */
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "device/entropy.h"

static const uint64_t LARGEST_MESSAGE = UINT64_C(1) << 48;

/* What the next queue pair has beside itself. grown: pair_capacity has changed. */
static __attribute__((noinline)) void add_beside(struct endpoint *endpoint, bool grown) {
    struct nic *nic = &endpoint->nic;
    if (endpoint->context->controller->wants_acknowledgements) {
        if (grown) {
            nic->echoes = memory_resize(nic->echoes, nic->pair_capacity, sizeof(*nic->echoes));
        }
        nic->echoes[nic->n_pairs] = (struct echo_store){0};
    }
    if (nic->selective) {
        if (grown) {
            nic->recoveries = memory_resize(nic->recoveries, nic->pair_capacity, sizeof(*nic->recoveries));
        }
        nic->recoveries[nic->n_pairs] = (struct pair_recovery){0};
    }
    if (pair_recycles(endpoint)) {
        if (grown) {
            nic->recycled =
                memory_resize(nic->recycled, (size_t)nic->pair_capacity * nic->n_planes, sizeof(*nic->recycled));
        }
        for (uint32_t i = nic->n_pairs * nic->n_planes; i < (nic->n_pairs + 1) * nic->n_planes; i++) {
            nic->recycled[i] = (struct host_reps){
                .stream = host_reps_stream(endpoint->context->parameters->seed, endpoint->device, i)};
        }
    }
    if (nic->n_planes > 1) {
        pair_add_planes(nic, grown);
    }
}

static void add_pair(struct endpoint *endpoint, uint32_t destination, uint32_t index, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    const uint32_t capacity = nic->pair_capacity;
    ENDPOINT_RESERVE(nic->pairs, nic->n_pairs, nic->pair_capacity);
    if (!nic->plain) {
        add_beside(endpoint, nic->pair_capacity != capacity);
    }
    struct queue_pair *pair = &nic->pairs[nic->n_pairs];
    *pair = (struct queue_pair){
        .destination = destination,
        .oldest = NO_MESSAGE,
        .current = NO_MESSAGE,
        .newest = NO_MESSAGE,
        .entropy = entropy_of_pair(destination, index),
        .number = (uint16_t)nic->n_pairs,
        .window = nic->window_packets,
        .timer_ps = TIME_NEVER,
        .plane = {.window = CONGESTION_UNLIMITED},
    };
    if (!nic->plain) {
        pair_open_planes(endpoint, pair, now_ps);
        pair_ask_window(endpoint, pair, 0);
    }
    nic->n_pairs++;
}

/* Peers are numbered by first use; a new one gets all its queue pairs at once. */
static uint32_t peer_of(struct endpoint *endpoint, uint32_t destination, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    const uint32_t *found = table_find(&nic->peers, destination);
    if (found) {
        return *found;
    }
    const uint32_t peer = nic->n_peers;
    const uint32_t per_peer = endpoint->context->parameters->nic.queue_pairs;
    REQUIRE((uint64_t)(peer + 1) * per_peer <= UINT16_MAX, "endpoint %u has more than 65,535 queue pairs",
            endpoint->device);
    ENDPOINT_RESERVE(nic->peer_messages, nic->n_peers, nic->peer_capacity);
    nic->peer_messages[nic->n_peers++] = 0;
    table_add(&nic->peers, destination, peer);
    for (uint32_t i = 0; i < per_peer; i++) {
        add_pair(endpoint, destination, i, now_ps);
    }
    return peer;
}

static uint32_t take_node(struct nic *nic) {
    const uint32_t free_node = nic->free_message;
    if (free_node != NO_MESSAGE) {
        nic->free_message = nic->messages[free_node].next;
        return free_node;
    }
    ENDPOINT_RESERVE(nic->messages, nic->n_messages, nic->message_capacity);
    return nic->n_messages++;
}

static uint32_t book_sent(struct endpoint *endpoint, const struct traffic_message *message, uint16_t queue_pair,
                          uint64_t now_ps) {
    REQUIRE(message->bytes < LARGEST_MESSAGE, "endpoint %u posts a message of %llu bytes", endpoint->device,
            (unsigned long long)message->bytes);
    ENDPOINT_RESERVE(endpoint->sent, endpoint->n_sent, endpoint->sent_capacity);
    endpoint->sent[endpoint->n_sent] = (struct endpoint_sent){
        .destination = message->destination,
        .tag = message->tag,
        .bytes = message->bytes,
        .posted_ps = now_ps,
        .acknowledged_ps = TIME_NEVER,
        .queue_pair = queue_pair,
    };
    return endpoint->n_sent++;
}

/* A message, or its part of so many bytes, goes to the end of a queue pair. row: what it is, in endpoint.sent. */
static void append_part(struct endpoint *endpoint, struct queue_pair *pair, uint32_t row, uint64_t bytes,
                        uint32_t unit_bytes) {
    struct nic *nic = &endpoint->nic;
    const uint32_t node = take_node(nic);
    const struct pieces pieces = pair_pieces(endpoint, bytes, unit_bytes);
    const uint64_t n_packets = bytes > 0 ? pieces_count(&pieces) : 1;
    REQUIRE(n_packets <= UINT32_MAX - pair->posted_number, "more than 2^32 packets on queue pair %u to %u",
            pair->number, pair->destination);
    nic->messages[node] = (struct pair_message){
        .row = row,
        .unit_bytes = unit_bytes,
        .bytes = bytes,
        .first_number = pair->posted_number,
        .n_packets = (uint32_t)n_packets,
        .next = NO_MESSAGE,
    };
    if (pair->oldest == NO_MESSAGE) {
        pair->oldest = node;
    } else {
        nic->messages[pair->newest].next = node;
    }
    pair->newest = node;
    if (pair->current == NO_MESSAGE) {
        pair->current = node;
    }
    pair->posted_number += nic->messages[node].n_packets;
}

/* A message, or one of its parts, on its queue pair. share: of what it was announced. */
static void post_part(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint32_t row,
                      const struct pieces *part, uint32_t share, uint64_t now_ps) {
    append_part(endpoint, pair, row, part->bytes, part->unit_bytes);
    if (!pair->started) {
        pair_start(endpoint, pair, share, now_ps);
    } else if (share) {
        pair_announce(endpoint, pair, share, now_ps);
    }
    nic_line_up(endpoint, worker, pair, now_ps);
}

/* A part on each queue pair of the peer, from the first on. */
static void post_split(struct endpoint *endpoint, struct engine_worker *worker, uint32_t first_pair,
                       const struct traffic_message *message, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    const uint32_t row = book_sent(endpoint, message, nic->pairs[first_pair].number, now_ps);
    const struct pieces whole = pair_pieces(endpoint, message->bytes, message->unit_bytes);
    const uint32_t share = message->share > 0 && message->share < nic->n_parts ? 1 : message->share / nic->n_parts;
    for (uint32_t i = 0; i < nic->n_parts; i++) {
        const struct pieces part = pieces_part(&whole, nic->n_parts, i);
        post_part(endpoint, worker, &nic->pairs[first_pair + i], row, &part, share, now_ps);
    }
}

void pair_post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
               uint64_t now_ps) {
    nic_drain(endpoint, worker, now_ps);
    if (message->urgent) {
        urgent_post(endpoint, worker, message, now_ps);
        return;
    }
    struct nic *nic = &endpoint->nic;
    const uint32_t per_peer = endpoint->context->parameters->nic.queue_pairs;
    const uint32_t peer = peer_of(endpoint, message->destination, now_ps);
    if (nic->n_parts > 1) {
        post_split(endpoint, worker, peer * per_peer, message, now_ps);
        return;
    }
    struct queue_pair *pair = &nic->pairs[peer * per_peer + nic->peer_messages[peer]++ % per_peer];
    const uint32_t row = book_sent(endpoint, message, pair->number, now_ps);
    const struct pieces whole = pair_pieces(endpoint, message->bytes, message->unit_bytes);
    post_part(endpoint, worker, pair, row, &whole, message->share, now_ps);
}
