// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs, the receiver's side: order, acknowledgements, notifications, completion of messages. */
#include "base/memory.h"
#include "device/endpoint_internal.h"

#include <stdlib.h>

enum { FIRST_EARLY_BITS = 256 };
enum { ECHOES = PACKET_FLAG_MARKED | 15 << 4 }; /* of the packet that caused it: mark and transmission */

void receiver_fini(struct endpoint *endpoint) {
    for (uint32_t i = 0; i < endpoint->n_receivers; i++) {
        free(endpoint->receivers[i].early);
        free(endpoint->receivers[i].lasts);
        if (endpoint->nic.separate) {
            free(endpoint->receivers[i].notified_planes_ps);
        }
    }
    free(endpoint->receivers);
    table_fini(&endpoint->receiver_index);
}

static struct receiver *receiver_of(struct endpoint *endpoint, const struct packet *packet) {
    const uint64_t key = (uint64_t)packet->source << 16 | packet->queue_pair;
    if (key == endpoint->last_source) { // packets of one queue pair often come one after the other
        return &endpoint->receivers[endpoint->last_receiver];
    }
    endpoint->last_source = key;
    const uint32_t *found = table_find(&endpoint->receiver_index, key);
    if (found) {
        endpoint->last_receiver = *found;
        return &endpoint->receivers[*found];
    }
    endpoint->last_receiver = endpoint->n_receivers;
    ENDPOINT_RESERVE(endpoint->receivers, endpoint->n_receivers, endpoint->receiver_capacity);
    table_add(&endpoint->receiver_index, key, endpoint->n_receivers);
    struct receiver *receiver = &endpoint->receivers[endpoint->n_receivers++];
    *receiver = (struct receiver){.nack_ps = TIME_NEVER};
    if (!endpoint->nic.separate) {
        receiver->notified_ps = TIME_NEVER;
    }
    return receiver;
}

/* Whether a reply carries mark and transmission of what caused it. */
static bool echoes(const struct endpoint *endpoint, enum packet_kind kind) {
    return kind == PACKET_ACK || kind == PACKET_SELECTIVE_ACK || (kind == PACKET_NACK && endpoint->nic.selective);
}

/* A reply to the sender of a packet, in the control class. Inline for ACKs, which are half of all packets; see reply. */
static inline __attribute__((always_inline)) void send_reply(struct endpoint *endpoint, struct engine_worker *worker,
                                                             const struct packet *packet, enum packet_kind kind,
                                                             uint32_t number, uint32_t message, uint64_t now_ps) {
    const struct packet answer = {
        .source = endpoint->device,
        .destination = packet->source,
        .number = number,
        .message = message,
        .queue_pair = packet->queue_pair,
        .size_bytes = (uint16_t)endpoint->context->parameters->nic.control_bytes,
        .entropy = packet->entropy,
        .kind_class = (uint8_t)(kind | PACKET_CLASS_CONTROL << 4),
        .flags_transmission = echoes(endpoint, kind) ? packet->flags_transmission & ECHOES : 0,
    };
    const uint32_t came_by = endpoint->nic.reply_plane;
    const uint32_t plane = __builtin_expect(endpoint->fails, 0)
                               ? failover_plane(endpoint->context, endpoint->device, packet->source, came_by, now_ps)
                               : came_by;
    nic_send_control(endpoint, worker, plane, &answer, now_ps);
}

static __attribute__((noinline)) void reply(struct endpoint *endpoint, struct engine_worker *worker,
                                            const struct packet *packet, enum packet_kind kind, uint32_t number,
                                            uint32_t message, uint64_t now_ps) {
    send_reply(endpoint, worker, packet, kind, number, message, now_ps);
}

void receiver_handle_probe(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                           uint64_t now_ps) {
    nic_drain(endpoint, worker, now_ps);
    reply(endpoint, worker, packet, PACKET_PROBE_REPLY, packet->number, 0, now_ps);
}

void receiver_handle_urgent(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                            uint64_t now_ps) {
    if (endpoint->context->parameters->nic.urgent_timeout_ps > 0) {
        nic_drain(endpoint, worker, now_ps);
        reply(endpoint, worker, packet, PACKET_URGENT_ACK, packet->number, 0, now_ps);
    }
    if (urgent_is_new(endpoint, packet)) {
        endpoint_deliver(endpoint, worker, PACKET_URGENT, packet->source, packet->message, 0, now_ps);
    }
}

/* When the congestion context that is at issue was notified last. */
static uint64_t *notified_of(const struct endpoint *endpoint, struct receiver *receiver) {
    const struct nic *nic = &endpoint->nic;
    if (!nic->separate) {
        return &receiver->notified_ps;
    }
    if (!receiver->notified_planes_ps) {
        receiver->notified_planes_ps = memory_allocate(nic->n_planes, sizeof(*receiver->notified_planes_ps));
        for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
            receiver->notified_planes_ps[plane] = TIME_NEVER;
        }
    }
    return &receiver->notified_planes_ps[nic->reply_plane];
}

static void notify(struct endpoint *endpoint, struct engine_worker *worker, struct receiver *receiver,
                   const struct packet *packet, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    if (!(packet->flags_transmission & PACKET_FLAG_MARKED) || !context->controller->wants_notifications) {
        return;
    }
    uint64_t *notified_ps = notified_of(endpoint, receiver);
    if (*notified_ps != TIME_NEVER &&
        now_ps - *notified_ps < context->parameters->congestion.notification_interval_ps) {
        return;
    }
    *notified_ps = now_ps;
    endpoint->counters.notifications_sent++;
    reply(endpoint, worker, packet, PACKET_CONGESTION, packet->number, 0, now_ps);
}

static bool early_bit(const struct receiver *receiver, uint32_t number) {
    const uint32_t at = number & (receiver->early_bits - 1);
    return receiver->early[at / 64] >> (at % 64) & 1;
}

static void set_early_bit(struct receiver *receiver, uint32_t number, bool value) {
    const uint32_t at = number & (receiver->early_bits - 1);
    const uint64_t bit = UINT64_C(1) << (at % 64);
    receiver->early[at / 64] = value ? receiver->early[at / 64] | bit : receiver->early[at / 64] & ~bit;
}

/* Makes the circular bitmap cover number. */
static void reach(struct receiver *receiver, uint32_t number) {
    const uint32_t depth = number - receiver->expected;
    if (depth < receiver->early_bits) {
        return;
    }
    struct receiver grown = *receiver;
    grown.early_bits = receiver->early_bits ? receiver->early_bits : FIRST_EARLY_BITS;
    while (grown.early_bits <= depth) {
        grown.early_bits *= 2;
    }
    grown.early = memory_allocate(grown.early_bits / 64, sizeof(uint64_t));
    for (uint32_t i = 0; i < receiver->early_bits; i++) {
        if (early_bit(receiver, receiver->expected + i)) {
            set_early_bit(&grown, receiver->expected + i, true);
        }
    }
    free(receiver->early);
    *receiver = grown;
}

static void note_completed(struct endpoint *endpoint, uint32_t tag, uint32_t *n) {
    ENDPOINT_RESERVE(endpoint->completed, *n, endpoint->completed_capacity);
    endpoint->completed[(*n)++] = tag;
}

/* If a message ended with the packet of this number, which came early, it is complete now. */
static void complete_early(struct endpoint *endpoint, struct receiver *receiver, uint32_t number, uint32_t *n) {
    for (uint32_t i = 0; i < receiver->n_lasts; i++) {
        if (receiver->lasts[i].number == number) {
            note_completed(endpoint, receiver->lasts[i].tag, n);
            receiver->lasts[i] = receiver->lasts[--receiver->n_lasts];
            return;
        }
    }
}

/* The expected packet is here: moves over it and all that came early. Returns the number of messages completed. */
static uint32_t take_expected(struct endpoint *endpoint, struct receiver *receiver, const struct packet *packet) {
    uint32_t completed = 0;
    receiver->received++;
    receiver->unacknowledged_bytes += packet->size_bytes - endpoint->context->parameters->nic.header_bytes;
    if (packet->flags_transmission & PACKET_FLAG_LAST) {
        note_completed(endpoint, packet->message, &completed);
    }
    receiver->expected++;
    if (receiver->received == receiver->expected) {
        return completed; // nothing came early
    }
    while (early_bit(receiver, receiver->expected)) {
        set_early_bit(receiver, receiver->expected, false);
        complete_early(endpoint, receiver, receiver->expected, &completed);
        receiver->expected++;
    }
    return completed;
}

/* A packet beyond the expected one. Returns false if it was here already. */
static bool take_early(struct endpoint *endpoint, struct receiver *receiver, const struct packet *packet) {
    const uint32_t depth = packet->number - receiver->expected;
    struct endpoint_counters *counters = &endpoint->counters;
    counters->out_of_order++;
    counters->reordering_depth = depth > counters->reordering_depth ? depth : counters->reordering_depth;
    reach(receiver, packet->number);
    if (early_bit(receiver, packet->number)) {
        return false;
    }
    set_early_bit(receiver, packet->number, true);
    receiver->received++;
    receiver->unacknowledged_bytes += packet->size_bytes - endpoint->context->parameters->nic.header_bytes;
    if (packet->flags_transmission & PACKET_FLAG_LAST) {
        ENDPOINT_RESERVE(receiver->lasts, receiver->n_lasts, receiver->last_capacity);
        receiver->lasts[receiver->n_lasts++] = (struct receiver_last){.number = packet->number, .tag = packet->message};
    }
    return true;
}

/* Go-back-N: a packet beyond the expected one is thrown away. */
static void refuse(struct endpoint *endpoint, struct engine_worker *worker, struct receiver *receiver,
                   const struct packet *packet, uint64_t now_ps) {
    endpoint->counters.out_of_order++;
    const uint32_t depth = packet->number - receiver->expected;
    if (depth > endpoint->counters.reordering_depth) {
        endpoint->counters.reordering_depth = depth;
    }
    if (receiver->nack_ps != TIME_NEVER && receiver->nack_number == receiver->expected &&
        now_ps - receiver->nack_ps < endpoint->context->parameters->nic.nack_interval_ps) {
        return;
    }
    receiver->nack_number = receiver->expected;
    receiver->nack_ps = now_ps;
    endpoint->counters.nacks++;
    reply(endpoint, worker, packet, PACKET_NACK, receiver->expected, 0, now_ps);
}

/* Acknowledges what is here, because of a packet. Under selective repeat one beyond the expected number is named. */
static inline void acknowledge(struct endpoint *endpoint, struct engine_worker *worker, struct receiver *receiver,
                               const struct packet *packet, uint8_t telemetry, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const uint32_t number = context->controller->wants_telemetry ? packet_number_telling(receiver->expected, telemetry)
                                                                 : receiver->expected;
    receiver->unacknowledged_bytes = 0;
    if (__builtin_expect(endpoint->nic.selective, 0) && packet->number >= receiver->expected) {
        reply(endpoint, worker, packet, PACKET_SELECTIVE_ACK, number, packet->number, now_ps);
        return;
    }
    send_reply(endpoint, worker, packet, PACKET_ACK, number,
               packet_ack_message(receiver->expected, receiver->received, packet->number), now_ps);
}

/* Whether a packet that was taken, or was there already, is acknowledged now. */
static bool acknowledges(const struct endpoint *endpoint, const struct receiver *receiver, const struct packet *packet,
                         bool completed, bool duplicate) {
    const struct context *context = endpoint->context;
    return duplicate || completed || (packet->flags_transmission & PACKET_FLAG_LAST) ||
           receiver->unacknowledged_bytes >= context->parameters->nic.acknowledge_bytes ||
           ((packet->flags_transmission & PACKET_FLAG_MARKED) && context->controller->wants_acknowledgements);
}

/* What a packet that has arrived means for pulls; one may start. */
static void ask_for_more(struct endpoint *endpoint, struct engine_worker *worker, const struct receiver *receiver,
                         const struct packet *packet, bool taken, uint64_t now_ps) {
    struct pull_desk *desk = endpoint->nic.pulls;
    if (desk) {
        pull_arrived(desk, &endpoint->context->parameters->congestion, (uint32_t)(receiver - endpoint->receivers),
                     packet, taken, now_ps);
        nic_kick(endpoint, worker, now_ps);
    }
}

/* A packet whose number is whole. */
static void take(struct endpoint *endpoint, struct engine_worker *worker, struct receiver *receiver,
                 const struct packet *packet, uint8_t telemetry, uint64_t now_ps) {
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    uint32_t completed = 0;
    bool duplicate = false;
    const bool selective = endpoint->nic.selective;
    const bool gap = selective && receiver->received != receiver->expected; // something was missing
    nic_drain(endpoint, worker, now_ps);
    notify(endpoint, worker, receiver, packet, now_ps);
    if (packet->number == receiver->expected) {
        completed = take_expected(endpoint, receiver, packet);
    } else if (packet->number < receiver->expected) {
        duplicate = true;
    } else if (parameters->out_of_order) {
        duplicate = !take_early(endpoint, receiver, packet);
    } else {
        refuse(endpoint, worker, receiver, packet, now_ps);
        ask_for_more(endpoint, worker, receiver, packet, false, now_ps);
        return;
    }
    endpoint->counters.duplicates += duplicate;
    if (acknowledges(endpoint, receiver, packet, completed > 0, duplicate) ||
        (__builtin_expect(selective, 0) && (gap || receiver->received != receiver->expected))) {
        acknowledge(endpoint, worker, receiver, packet, telemetry, now_ps);
    }
    ask_for_more(endpoint, worker, receiver, packet, !duplicate, now_ps);
    for (uint32_t i = 0; i < completed; i++) {
        const uint64_t message = (uint64_t)packet->source << 32 | endpoint->completed[i];
        if (table_count_down(&endpoint->parts, message, endpoint->nic.n_parts)) {
            endpoint_deliver(endpoint, worker, PACKET_DATA, packet->source, endpoint->completed[i], packet->queue_pair,
                             now_ps);
        }
    }
}

/* Whether a packet is here. */
static bool is_here(const struct receiver *receiver, uint32_t number) {
    return number < receiver->expected ||
           (number - receiver->expected < receiver->early_bits && early_bit(receiver, number));
}

void receiver_handle_trimmed(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                             uint64_t now_ps) {
    struct receiver *receiver = receiver_of(endpoint, packet);
    const bool telling = endpoint->context->controller->wants_telemetry;
    struct packet whole = *packet;
    whole.number = telling ? packet_number_near(packet->number, receiver->expected) : packet->number;
    nic_drain(endpoint, worker, now_ps);
    notify(endpoint, worker, receiver, &whole, now_ps);
    if (is_here(receiver, whole.number)) {
        acknowledge(endpoint, worker, receiver, &whole, telling ? packet_telemetry(packet->number) : 0, now_ps);
        return;
    }
    endpoint->counters.nacks++;
    reply(endpoint, worker, &whole, PACKET_NACK, receiver->expected, whole.number, now_ps);
    if (endpoint->nic.pulls) {
        pull_trimmed(endpoint->nic.pulls, endpoint->context->parameters, (uint32_t)(receiver - endpoint->receivers),
                     &whole, now_ps);
        nic_kick(endpoint, worker, now_ps);
    }
}

void receiver_handle_data(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                          uint64_t now_ps) {
    struct receiver *receiver = receiver_of(endpoint, packet);
    if (!endpoint->context->controller->wants_telemetry) {
        take(endpoint, worker, receiver, packet, 0, now_ps);
        return;
    }
    struct packet whole = *packet;
    whole.number = packet_number_near(packet->number, receiver->expected);
    take(endpoint, worker, receiver, &whole, packet_telemetry(packet->number), now_ps);
}
