// SPDX-License-Identifier: GPL-3.0-or-later
/* How far an endpoint has come, and what it still waits for: asked rarely, so it is counted when asked. */
#include "device/endpoint_internal.h"

uint64_t endpoint_progress(const struct endpoint *endpoint) {
    uint64_t progress = endpoint->counters.delivered_messages + endpoint->counters.nvlink_bytes_received;
    for (uint32_t r = 0; r < endpoint->n_receivers; r++) {
        progress += endpoint->receivers[r].received;
    }
    return progress;
}

bool endpoint_stuck_pair(const struct endpoint *endpoint, struct endpoint_stuck *stuck) {
    for (uint32_t p = 0; p < endpoint->nic.n_pairs; p++) {
        const struct queue_pair *pair = &endpoint->nic.pairs[p];
        if (pair->cumulative < pair->posted_number) {
            *stuck = (struct endpoint_stuck){.source = endpoint->device,
                                             .destination = pair->destination,
                                             .queue_pair = pair->number,
                                             .acknowledged_packets = pair->cumulative,
                                             .sent_packets = pair->sent_number,
                                             .posted_packets = pair->posted_number,
                                             .repeats = pair->repeats};
            return true;
        }
    }
    return false;
}

bool endpoint_is_pausing(const struct endpoint *endpoint) {
    return receive_buffer_is_pausing(endpoint->receive);
}
