// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs, the sender's side: packets, acknowledgements, rewinds and timers. Posting: pair_post.c. Selective repeat: pair_recovery.c. */
#include "base/error.h"
#include "device/endpoint_internal.h"

static bool is_outstanding(const struct queue_pair *pair) {
    return pair->cumulative < pair->sent_number;
}

static uint64_t deadline_of(const struct endpoint *endpoint, const struct queue_pair *pair) {
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    const bool few = parameters->short_timeout_ps > 0 &&
                     pair->sent_number - pair_acknowledged(endpoint, pair) <= parameters->short_timeout_packets;
    const uint64_t timeout_ps = few ? parameters->short_timeout_ps : parameters->retransmit_timeout_ps;
    return pair->clock_ps + (timeout_ps << pair->repeats);
}

void pair_set_timer(struct endpoint *endpoint, struct queue_pair *pair) {
    const uint64_t deadline_ps = deadline_of(endpoint, pair);
    if (deadline_ps < pair->timer_ps) {
        pair->timer_ps = deadline_ps;
        heap_push(&endpoint->nic.timers, deadline_ps, pair->number, 0);
    }
}

uint32_t pair_message_of(const struct nic *nic, const struct queue_pair *pair, uint32_t number) {
    uint32_t node = pair->oldest;
    while (node != NO_MESSAGE && number - nic->messages[node].first_number >= nic->messages[node].n_packets) {
        node = nic->messages[node].next;
    }
    return node;
}

/* Compiled once for NICs that are plain and once for the others; most are, and it is done for each packet of a run. */
#define FOR_PLAIN_OR_FULL static inline __attribute__((always_inline))

/* Packet `number` of a message, for a plane. Returns whether it is the last one. */
FOR_PLAIN_OR_FULL bool fill(const struct endpoint *endpoint, const struct queue_pair *pair,
                            const struct pair_message *message, uint32_t number, uint8_t transmission, uint32_t plane,
                            struct packet *packet, bool plain) {
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    const uint32_t index = number - message->first_number;
    const bool last = index + 1 == message->n_packets;
    const uint8_t adaptive = parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0;
    const struct pieces pieces = pair_pieces(endpoint, message->bytes, message->unit_bytes);
    *packet = (struct packet){
        .source = endpoint->device,
        .destination = pair->destination,
        .number = !plain && endpoint->context->controller->wants_telemetry ? packet_number_telling(number, 0) : number,
        .message = endpoint->sent[message->row].tag,
        .queue_pair = pair->number,
        .size_bytes = (uint16_t)(pieces_size(&pieces, index) + parameters->header_bytes),
        .entropy = pair->entropy,
        .kind_class = (uint8_t)(PACKET_DATA | endpoint->nic.data_class << 4),
        .flags_transmission = (uint8_t)(adaptive | (transmission & 15) << 4 | (last ? PACKET_FLAG_LAST : 0)),
    };
    if (!plain && endpoint->nic.recycled) {
        packet->entropy = host_reps_next(&endpoint->nic.recycled[pair->number * endpoint->nic.n_planes + plane]);
    }
    return last;
}

/* A packet starts: the clock, and what is kept for round trips. */
FOR_PLAIN_OR_FULL void note_start(struct endpoint *endpoint, struct queue_pair *pair, uint32_t number,
                                  uint8_t transmission, uint64_t now_ps, bool plain) {
    if (!is_outstanding(pair)) {
        pair->clock_ps = now_ps;
        pair_arm_timer(endpoint, pair);
    }
    if (!plain && endpoint->nic.echoes) {
        echo_note(&endpoint->nic.echoes[pair->number], pair->cumulative, number, transmission, now_ps);
    }
}

/* Selective repeat: what is lost comes first, the lowest number of it. */
static void next_selectively(struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane, struct packet *packet,
                             uint64_t now_ps) {
    struct recovery *recovery = &endpoint->nic.recoveries[pair->number].packets;
    uint32_t number = pair->next_number, node = pair->current;
    uint8_t transmission = 0;
    const bool again = pair->n_lost > 0;
    if (again) {
        number = recovery_send_lost(recovery, &transmission);
        node = pair_message_of(&endpoint->nic, pair, number);
    } else {
        recovery_send_new(recovery);
    }
    const struct pair_message *message = &endpoint->nic.messages[node];
    const bool last = fill(endpoint, pair, message, number, transmission, plane, packet, false);
    note_start(endpoint, pair, number, transmission, now_ps, false);
    if (again) {
        pair->n_lost--;
        endpoint->counters.retransmitted_packets++;
        return;
    }
    pair->next_number++;
    pair->sent_number++;
    if (last) {
        pair->current = message->next;
    }
}

FOR_PLAIN_OR_FULL void next_in_order(struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane,
                                     struct packet *packet, uint64_t now_ps, bool plain) {
    const struct pair_message *message = &endpoint->nic.messages[pair->current];
    const bool last = fill(endpoint, pair, message, pair->next_number, pair->transmission, plane, packet, plain);
    note_start(endpoint, pair, pair->next_number, pair->transmission, now_ps, plain);
    if (pair->next_number < pair->sent_number) {
        endpoint->counters.retransmitted_packets++;
    } else {
        pair->sent_number++;
    }
    pair->next_number++;
    if (last) {
        pair->current = message->next;
    }
}

static __attribute__((noinline)) void next_fully(struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane,
                                                 struct packet *packet, uint64_t now_ps) {
    if (endpoint->nic.recoveries) {
        next_selectively(endpoint, pair, plane, packet, now_ps);
        return;
    }
    next_in_order(endpoint, pair, plane, packet, now_ps, false);
    if (endpoint->nic.ledgers) {
        plane_ledger_start(&endpoint->nic.ledgers[pair->number], pair->cumulative, pair->next_number - 1, plane);
        pair_skip_arrived(&endpoint->nic, pair);
    }
}

void pair_next_packet(struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane, struct packet *packet,
                      uint64_t now_ps) {
    if (__builtin_expect(!endpoint->nic.plain, 0)) {
        next_fully(endpoint, pair, plane, packet, now_ps);
        return;
    }
    next_in_order(endpoint, pair, 0, packet, now_ps, true);
}

void pair_probe(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint32_t plane,
                uint64_t now_ps) {
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    struct pair_plane *in = pair_context(&endpoint->nic, pair, plane);
    struct nic_port *port = &endpoint->ports[pair_plane_of_probe(&endpoint->nic, pair, plane)];
    in->probing = true;
    in->probe_ps = now_ps;
    in->unprobed_bytes = 0;
    const struct packet packet = {
        .source = endpoint->device,
        .destination = pair->destination,
        .number = in->probes++,
        .queue_pair = pair->number,
        .size_bytes = (uint16_t)parameters->control_bytes,
        .entropy = pair->entropy,
        .kind_class = (uint8_t)(PACKET_PROBE | endpoint->nic.data_class << 4),
        .flags_transmission = parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0,
    };
    endpoint->counters.probes++;
    queue_push(&port->probes, &worker->pool, &packet);
}

static void rewind_to(struct endpoint *endpoint, struct queue_pair *pair, uint32_t number, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const struct plane_ledger *ledger = endpoint->nic.ledgers ? &endpoint->nic.ledgers[pair->number] : NULL;
    const uint32_t plane = ledger && number < pair->sent_number ? plane_ledger_plane(ledger, number) : 0;
    pair->next_number = number;
    pair->transmission++;
    pair->current = pair_message_of(&endpoint->nic, pair, pair->next_number);
    if (ledger) {
        plane_ledger_give_up(&endpoint->nic.ledgers[pair->number], number, pair->sent_number);
        pair_skip_arrived(&endpoint->nic, pair);
    }
    context->controller->lost(&context->parameters->congestion, &pair_context(&endpoint->nic, pair, plane)->congestion,
                              now_ps);
    pair_ask_window(endpoint, pair, plane);
}

void pair_give_up_flight(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    if (endpoint->nic.recoveries) {
        pair_recovery_time_out(endpoint, pair, now_ps);
    } else {
        rewind_to(endpoint, pair, pair->cumulative, now_ps);
    }
}

/* All of a message is acknowledged, the last of it on this queue pair. */
static void complete(struct endpoint *endpoint, const struct queue_pair *pair, uint32_t row, uint64_t now_ps) {
    struct endpoint_sent *sent = &endpoint->sent[row];
    sent->acknowledged_ps = now_ps;
    endpoint->last_ps = now_ps;
    if (endpoint->context->trace) {
        trace_add_message(endpoint->context->trace, TRACE_COMPLETE, now_ps, endpoint->device, PACKET_DATA,
                          endpoint->device, pair->destination, sent->tag, pair->number);
    }
}

void pair_complete_oldest(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    while (pair->oldest != NO_MESSAGE && pair_completes(nic, pair)) {
        const uint32_t node = pair->oldest;
        struct pair_message *message = &nic->messages[node];
        if (table_count_down(&nic->parts_sent, message->row, nic->n_parts)) {
            complete(endpoint, pair, message->row, now_ps);
        }
        pair->oldest = message->next;
        message->next = nic->free_message;
        nic->free_message = node;
    }
    if (pair->oldest == NO_MESSAGE) {
        pair->newest = NO_MESSAGE;
    }
}

static inline void acknowledge(struct endpoint *endpoint, struct queue_pair *pair, uint32_t cumulative,
                               uint32_t received, uint64_t now_ps) {
    const uint32_t before = pair_acknowledged(endpoint, pair);
    if (received > pair->received) {
        pair->received = received;
    }
    if (cumulative > pair->cumulative) {
        if (endpoint->nic.ledgers) {
            pair_note_below(&endpoint->nic, pair, cumulative);
        }
        pair->cumulative = cumulative;
        pair_complete_messages(endpoint, pair, now_ps);
        if (pair->next_number < cumulative) { // a late ACK after a rewind
            pair->next_number = cumulative;
            pair->current = pair_message_of(&endpoint->nic, pair, pair->next_number);
        }
    }
    if (pair_acknowledged(endpoint, pair) > before) {
        pair->repeats = 0;
        pair->clock_ps = now_ps;
        pair_arm_timer(endpoint, pair);
    }
}

/* The controller is told of an ACK that has been booked. before, oldest: acknowledged packets and cumulative number until then. */
static void tell_acknowledged(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *ack,
                              uint32_t before, uint32_t oldest, uint8_t telemetry, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const uint32_t now = pair_acknowledged(endpoint, pair);
    const struct nic *nic = &endpoint->nic;
    struct congestion_acknowledgement told = {
        .round_trip_ps = echo_round_trip_ps(&nic->echoes[pair->number], oldest, pair->sent_number, ack, now_ps),
        .packets = now - before,
        .in_flight = pair->next_number > now ? pair->next_number - now - pair->n_lost : 0,
        .cumulative = pair->cumulative,
        .next_number = pair->next_number,
        .marked = ack->flags_transmission & PACKET_FLAG_MARKED,
        .telemetry = telemetry,
    };
    if (nic->separate) {
        pair_count_of_plane(nic, pair, &told);
    }
    context->controller->acknowledged(&context->parameters->congestion,
                                      &pair_context(nic, pair, nic->reply_plane)->congestion, &told, now_ps);
}

/* An ACK; the controller is told of it, if it wants to be. */
static void handle_ack_fully(struct endpoint *endpoint, struct queue_pair *pair, struct packet ack, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const uint8_t telemetry = context->controller->wants_telemetry ? packet_telemetry(ack.number) : 0;
    const uint32_t before = pair_acknowledged(endpoint, pair), oldest = pair->cumulative;
    bool lost = false;
    if (context->controller->wants_telemetry) {
        ack.number = packet_number_near(ack.number, pair->cumulative);
    }
    const struct nic *nic = &endpoint->nic;
    if (nic->recoveries) {
        lost = pair_recovery_acknowledge(endpoint, pair, &ack, now_ps);
    } else {
        acknowledge(endpoint, pair, ack.number, packet_ack_received(&ack), now_ps);
    }
    if (nic->ledgers) {
        pair_note_cause(nic, pair, &ack);
        pair_skip_arrived(nic, pair);
    }
    if (nic->recycled) {
        host_reps_acknowledged(&nic->recycled[pair->number * nic->n_planes + nic->reply_plane], ack.entropy,
                               ack.flags_transmission & PACKET_FLAG_MARKED, now_ps);
    }
    if (context->controller->wants_acknowledgements) {
        tell_acknowledged(endpoint, pair, &ack, before, oldest, telemetry, now_ps);
    }
    if (lost) {
        context->controller->lost(&context->parameters->congestion,
                                  &pair_context(nic, pair, nic->reply_plane)->congestion, now_ps);
    }
    if (context->controller->wants_acknowledgements) {
        pair_ask_window(endpoint, pair, nic->reply_plane);
    }
}

/* Go-back-N: back to the packet that the receiver misses. Selective repeat: a packet was trimmed. */
static void handle_nack(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *packet,
                        uint64_t now_ps) {
    if (endpoint->nic.recoveries) {
        pair_recovery_trimmed(endpoint, pair, packet, now_ps);
    } else if (packet->number >= pair->cumulative) {
        acknowledge(endpoint, pair, packet->number, 0, now_ps);
        rewind_to(endpoint, pair, packet->number, now_ps);
    }
}

static void handle_probe_reply(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair,
                               uint32_t number, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const uint32_t plane = endpoint->nic.reply_plane;
    struct pair_plane *in = pair_context(&endpoint->nic, pair, plane);
    if (!in->probing || number + 1 != in->probes) {
        return; // of a probe that was given up
    }
    in->probing = false;
    context->controller->probed(&context->parameters->congestion, &in->congestion, now_ps - in->probe_ps, now_ps);
    if (pair->cumulative < pair->posted_number && pair_probe_is_due(endpoint, in)) {
        pair_probe(endpoint, worker, pair, plane, now_ps);
        nic_kick(endpoint, worker, now_ps);
    }
}

static __attribute__((noinline)) void handle_reply_fully(struct endpoint *endpoint, struct engine_worker *worker,
                                                         struct queue_pair *pair, const struct packet *packet,
                                                         uint64_t now_ps) {
    const struct context *context = endpoint->context;
    switch (packet_kind(packet)) {
    case PACKET_ACK:
    case PACKET_SELECTIVE_ACK:
        handle_ack_fully(endpoint, pair, *packet, now_ps);
        break;
    case PACKET_NACK:
        handle_nack(endpoint, pair, packet, now_ps);
        break;
    case PACKET_CONGESTION:
        endpoint->counters.notifications_received++;
        context->controller->notified(&context->parameters->congestion,
                                      &pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion,
                                      now_ps);
        break;
    case PACKET_PULL:
        context->controller->pulled(&context->parameters->congestion, &pair->plane.congestion, packet->number);
        pair_ask_window(endpoint, pair, 0);
        break;
    default:
        handle_probe_reply(endpoint, worker, pair, packet->number, now_ps);
        break;
    }
}

void pair_handle_reply(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                       uint64_t now_ps) {
    struct queue_pair *pair = &endpoint->nic.pairs[packet->queue_pair];
    nic_drain(endpoint, worker, now_ps);
    if (__builtin_expect(endpoint->nic.plain && packet_kind(packet) == PACKET_ACK, 1)) {
        acknowledge(endpoint, pair, packet->number, packet_ack_received(packet), now_ps);
    } else {
        handle_reply_fully(endpoint, worker, pair, packet, now_ps);
    }
    nic_line_up(endpoint, worker, pair, now_ps);
}

uint64_t pair_next_timer_ps(struct endpoint *endpoint) {
    struct nic *nic = &endpoint->nic;
    while (nic->timers.count) {
        if (__builtin_expect(nic->timers.entries[0].tie >= URGENT_TIE, 0)) {
            if (urgent_waits(nic, nic->timers.entries[0].tie)) {
                break;
            }
            heap_pop(&nic->timers);
            continue;
        }
        struct queue_pair *pair = &nic->pairs[nic->timers.entries[0].tie];
        const bool counts = nic->timers.entries[0].time_ps == pair->timer_ps;
        if (counts && is_outstanding(pair)) {
            break;
        }
        if (counts) {
            pair->timer_ps = TIME_NEVER;
        }
        heap_pop(&nic->timers);
    }
    return heap_time_ps(&nic->timers);
}

void pair_handle_timer(struct endpoint *endpoint, struct engine_worker *worker) {
    const struct heap_entry entry = heap_pop(&endpoint->nic.timers);
    if (entry.tie >= URGENT_TIE) {
        urgent_handle_timer(endpoint, worker, &entry);
        return;
    }
    struct queue_pair *pair = &endpoint->nic.pairs[entry.tie];
    const uint64_t now_ps = entry.time_ps;
    if (entry.time_ps != pair->timer_ps) {
        return;
    }
    pair->timer_ps = TIME_NEVER;
    nic_drain(endpoint, worker, now_ps);
    if (!is_outstanding(pair)) {
        return;
    }
    if (deadline_of(endpoint, pair) > now_ps) { // there was progress since it was set
        pair_arm_timer(endpoint, pair);
        return;
    }
    endpoint->counters.timeouts++;
    pair->repeats += pair->repeats < NIC_LONGEST_BACK_OFF;
    pair->clock_ps = now_ps;
    if (endpoint->nic.recycled && network_parameters_trim(endpoint->context->parameters)) {
        for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
            host_reps_timed_out(&endpoint->nic.recycled[pair->number * endpoint->nic.n_planes + plane], now_ps);
        }
    }
    pair_give_up_flight(endpoint, pair, now_ps);
    pair_arm_timer(endpoint, pair);
    nic_line_up(endpoint, worker, pair, now_ps);
}
