// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs over the planes of a NIC: congestion contexts, and what is known of the packets that went by each plane. */
#include "base/memory.h"
#include "base/number.h"
#include "device/endpoint_internal.h"

/* What the transport and the controller allow. */
static uint32_t window_of(const struct endpoint *endpoint, const struct queue_pair *pair) {
    const struct context *context = endpoint->context;
    const struct pair_recovery *recovery = endpoint->nic.recoveries ? &endpoint->nic.recoveries[pair->number] : NULL;
    const uint32_t own = (uint32_t)number_smaller(endpoint->nic.window_packets,
                                                  recovery && recovery->cap > 0 ? recovery->cap : CONGESTION_UNLIMITED);
    if (!context->controller->wants_acknowledgements || !pair->started || endpoint->nic.separate) {
        return own;
    }
    const uint32_t settled = pair_acknowledged(endpoint, pair) + (recovery ? recovery->packets.n_trimmed : 0);
    return (uint32_t)number_smaller(
        context->controller->window(&context->parameters->congestion, &pair->plane.congestion, settled), own);
}

/* Asks the controller for its window: that of the queue pair, or of a plane. */
void pair_ask_window(const struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane) {
    const struct context *context = endpoint->context;
    pair->window = window_of(endpoint, pair);
    if (endpoint->nic.separate && context->controller->wants_acknowledgements && pair->started) {
        struct pair_plane *in = pair_plane(&endpoint->nic, pair, plane);
        in->window = context->controller->window(&context->parameters->congestion, &in->congestion,
                                                 endpoint->nic.ledgers[pair->number].planes[plane].acknowledged);
    }
}

/* What the next queue pair has in the planes beyond the first one. */
void pair_add_planes(struct nic *nic, bool grown) {
    const size_t more = nic->n_planes - 1;
    if (grown) {
        nic->more_planes = memory_resize(nic->more_planes, nic->pair_capacity * more, sizeof(*nic->more_planes));
    }
    for (size_t i = nic->n_pairs * more; i < (nic->n_pairs + 1) * more; i++) {
        nic->more_planes[i] = (struct pair_plane){.window = CONGESTION_UNLIMITED};
    }
    if (nic->by_pair || nic->recoveries) {
        return; // there is no choice, or what has arrived is known already
    }
    if (grown) {
        nic->ledgers = memory_resize(nic->ledgers, nic->pair_capacity, sizeof(*nic->ledgers));
    }
    nic->ledgers[nic->n_pairs] = (struct plane_ledger){0};
}

/* Which planes a queue pair may use: all that lead to its destination, or the one that it keeps to, or the next one that does. */
void pair_open_planes(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    const struct nic *nic = &endpoint->nic;
    const uint32_t dead = failover_mask(endpoint->context, endpoint->device, pair->destination, now_ps);
    const uint32_t own = failover_next(dead, pair->number % nic->n_planes, nic->n_planes);
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        pair_plane(nic, pair, plane)->closed = (dead >> plane & 1) || (nic->by_pair && plane != own);
    }
}

/* Congestion contexts of a queue pair. */
static uint32_t contexts_of(const struct nic *nic) {
    return nic->separate ? nic->n_planes : 1;
}

/* The plane whose port is the line of a congestion context; n_planes: all of them together. */
static uint32_t line_of(const struct nic *nic, const struct queue_pair *pair, uint32_t context) {
    if (nic->separate || nic->n_planes == 1) {
        return context;
    }
    return nic->by_pair ? pair->number % nic->n_planes : nic->n_planes;
}

/* A congestion context begins. */
static void start_context(struct endpoint *endpoint, struct queue_pair *pair, uint32_t number, uint32_t share,
                          uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const struct nic *nic = &endpoint->nic;
    const struct congestion_parameters *congestion = &context->parameters->congestion;
    struct pair_plane *in = pair_plane(nic, pair, number);
    const uint32_t line = line_of(nic, pair, number);
    const uint64_t line_bits_per_s =
        line < nic->n_planes ? endpoint->ports[line].line_bits_per_s : nic->line_bits_per_s;
    context->controller->start(congestion, &in->congestion, line_bits_per_s, share, now_ps);
    if (context->controller->wants_acknowledgements) {
        struct congestion_way way = echo_way(context->fabric, &context->parameters->nic, endpoint->device,
                                             pair->destination, line < nic->n_planes ? line : 0);
        way.line_bits_per_s = line_bits_per_s;
        context->controller->placed(congestion, &in->congestion, &way);
        pair_ask_window(endpoint, pair, number);
    }
}

/* What the transport lets be in flight on all planes that a queue pair may use. */
static void cap(struct endpoint *endpoint, const struct queue_pair *pair) {
    const struct nic *nic = &endpoint->nic;
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    const uint32_t plane = nic->by_pair ? pair->number % nic->n_planes : 0;
    struct congestion_way way =
        echo_way(endpoint->context->fabric, parameters, endpoint->device, pair->destination, plane);
    way.line_bits_per_s = nic->by_pair ? endpoint->ports[plane].line_bits_per_s : nic->line_bits_per_s;
    nic->recoveries[pair->number].cap = nic_parameters_cap(parameters, &way);
}

/* The first message of a queue pair: its controller starts. */
void pair_start(struct endpoint *endpoint, struct queue_pair *pair, uint32_t share, uint64_t now_ps) {
    pair->started = true;
    if (endpoint->nic.plain) {
        const struct context *context = endpoint->context;
        context->controller->start(&context->parameters->congestion, &pair->plane.congestion,
                                   endpoint->ports[0].line_bits_per_s, share, now_ps);
        return;
    }
    for (uint32_t number = 0; number < contexts_of(&endpoint->nic); number++) {
        start_context(endpoint, pair, number, share, now_ps);
    }
    if (endpoint->nic.recoveries && endpoint->context->parameters->nic.window_products > 0) {
        cap(endpoint, pair);
        pair_ask_window(endpoint, pair, 0);
    }
}

/* A later message with a share of its own. */
void pair_announce(struct endpoint *endpoint, struct queue_pair *pair, uint32_t share, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    for (uint32_t number = 0; number < contexts_of(&endpoint->nic); number++) {
        context->controller->announced(&context->parameters->congestion,
                                       &pair_plane(&endpoint->nic, pair, number)->congestion, share, now_ps);
    }
}

/* What is known to have arrived is not sent again: the next number moves over it. */
void pair_skip_arrived(const struct nic *nic, struct queue_pair *pair) {
    const uint32_t before = pair->next_number;
    while (pair->next_number < pair->sent_number &&
           plane_ledger_knows(&nic->ledgers[pair->number], pair->next_number)) {
        pair->next_number++;
    }
    if (pair->next_number != before) {
        pair->current = pair_message_of(nic, pair, pair->next_number);
    }
}

/* The plane that a probe goes by: of a context of all planes in turn. */
uint32_t pair_plane_of_probe(const struct nic *nic, struct queue_pair *pair, uint32_t plane) {
    if (nic->n_planes == 1 || nic->separate || nic->by_pair) {
        return plane;
    }
    uint32_t next = pair->plane.probes % nic->n_planes;
    while (pair_plane(nic, pair, next)->closed) {
        next = (next + 1) % nic->n_planes;
    }
    return next;
}

/* Books that the packet which caused an ACK has arrived. */
void pair_note_cause(const struct nic *nic, const struct queue_pair *pair, const struct packet *ack) {
    uint32_t cause;
    if (packet_ack_cause(ack, &cause) && cause >= pair->cumulative && cause < pair->sent_number) {
        plane_ledger_arrived(&nic->ledgers[pair->number], cause);
    }
}

/* Books that all packets below a number have. */
void pair_note_below(const struct nic *nic, const struct queue_pair *pair, uint32_t cumulative) {
    for (uint32_t number = pair->cumulative; number < cumulative; number++) {
        plane_ledger_arrived(&nic->ledgers[pair->number], number);
    }
}

/* Numbers of an ACK as those of the packets of its plane. */
void pair_count_of_plane(const struct nic *nic, struct queue_pair *pair, struct congestion_acknowledgement *told) {
    const struct plane_count *count = &nic->ledgers[pair->number].planes[nic->reply_plane];
    struct pair_plane *in = pair_plane(nic, pair, nic->reply_plane);
    told->packets = count->acknowledged - in->told;
    told->in_flight = count->in_flight;
    told->cumulative = count->acknowledged;
    told->next_number = count->acknowledged + count->in_flight;
    in->told = count->acknowledged;
}
