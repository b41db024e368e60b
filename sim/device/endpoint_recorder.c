// SPDX-License-Identifier: GPL-3.0-or-later
/* What the recorder asks of an endpoint. */
#include "device/endpoint_internal.h"

/* Since when a transmitter has been paused, or stalled for want of credit. */
static uint64_t held_since_ps(const struct nic_port *port) {
    if (port->credit) {
        return port->credit->stalled ? port->credit->stalled_since_ps : TIME_NEVER;
    }
    return port->paused ? port->paused_since_ps : TIME_NEVER;
}

struct recorder_port endpoint_recorder_port(const struct endpoint *endpoint, uint32_t port) {
    if (port >= endpoint->n_nics) {
        return (struct recorder_port){.free_ps = endpoint->lanes[port - endpoint->n_nics].free_ps,
                                      .paused_since_ps = TIME_NEVER};
    }
    const struct nic_port *nic = &endpoint->ports[port];
    return (struct recorder_port){.free_ps = nic->free_ps, .paused_since_ps = held_since_ps(nic)};
}

/* What all congestion contexts of a queue pair allow together. */
static uint64_t rate_of(const struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const struct nic *nic = &endpoint->nic;
    uint64_t sum = 0;
    for (uint32_t plane = 0; plane < (nic->separate ? nic->n_planes : 1); plane++) {
        struct congestion_state state = pair_plane(nic, pair, plane)->congestion; // asking moves its timers on
        const uint64_t rate = context->controller->rate(&context->parameters->congestion, &state, now_ps);
        const uint32_t port = nic->by_pair ? pair->number % nic->n_planes : plane;
        const uint64_t line =
            nic->separate || nic->by_pair ? endpoint->ports[port].line_bits_per_s : nic->line_bits_per_s;
        sum += rate < line ? rate : line;
    }
    return sum;
}

static uint32_t window_of(const struct nic *nic, struct queue_pair *pair) {
    uint64_t sum = 0;
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        sum += pair_plane(nic, pair, plane)->window;
    }
    return nic->separate && sum < pair->window ? (uint32_t)sum : pair->window;
}

struct recorder_pair_state endpoint_recorder_pair(const struct endpoint *endpoint, uint32_t destination, uint32_t index,
                                                  uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const struct nic *nic = &endpoint->nic;
    const uint32_t *peer = table_find(&nic->peers, destination);
    if (!peer) {
        return (struct recorder_pair_state){0};
    }
    struct queue_pair *pair = &nic->pairs[*peer * context->parameters->nic.queue_pairs + index];
    if (!pair->started) {
        return (struct recorder_pair_state){0};
    }
    return (struct recorder_pair_state){.rate_bits_per_s = rate_of(endpoint, pair, now_ps),
                                        .window_packets = window_of(nic, pair),
                                        .sent_packets = pair->sent_number};
}
