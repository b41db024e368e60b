// SPDX-License-Identifier: GPL-3.0-or-later
/* What the recorder asks of an endpoint. */
#include "device/endpoint_internal.h"

struct recorder_port endpoint_recorder_port(const struct endpoint *endpoint, uint32_t port) {
    if (port >= endpoint->n_nics) {
        return (struct recorder_port){.free_ps = endpoint->lanes[port - endpoint->n_nics].free_ps,
                                      .paused_since_ps = TIME_NEVER};
    }
    const struct nic *nic = &endpoint->nic;
    return (struct recorder_port){.free_ps = nic->free_ps,
                                  .paused_since_ps = nic->paused ? nic->paused_since_ps : TIME_NEVER};
}

struct recorder_pair_state endpoint_recorder_pair(const struct endpoint *endpoint, uint32_t destination, uint32_t index,
                                                  uint64_t now_ps) {
    const struct context *context = endpoint->context;
    const struct nic *nic = &endpoint->nic;
    const uint32_t *peer = table_find(&nic->peers, destination);
    if (!peer) {
        return (struct recorder_pair_state){0};
    }
    const struct queue_pair *pair = &nic->pairs[*peer * context->parameters->nic.queue_pairs + index];
    if (!pair->started) {
        return (struct recorder_pair_state){0};
    }
    struct congestion_state state = pair->congestion; // asking the controller moves its timers on
    const uint64_t rate = context->controller->rate(&context->parameters->congestion, &state, now_ps);
    return (struct recorder_pair_state){.rate_bits_per_s = rate < nic->line_bits_per_s ? rate : nic->line_bits_per_s,
                                        .window_packets = pair->window,
                                        .sent_packets = pair->sent_number};
}
