// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_pulls.h"

#include "base/memory.h"

#include <stdlib.h>

void reference_pulls_begin(struct reference_pulls *pulls) {
    receiver_credit_begin(&pulls->pace);
}

void reference_pulls_free(struct reference_pulls *pulls) {
    free(pulls->owed);
    free(pulls->turns.numbers);
}

static size_t find(struct reference_pulls *pulls, const struct packet *packet) {
    size_t index = 0;
    while (index < pulls->n_owed &&
           (pulls->owed[index].source != packet->source || pulls->owed[index].queue_pair != packet->queue_pair)) {
        index++;
    }
    if (index == pulls->n_owed) {
        pulls->owed = memory_resize(pulls->owed, ++pulls->n_owed, sizeof *pulls->owed);
        pulls->owed[index] = (struct reference_owed){.source = packet->source, .queue_pair = packet->queue_pair};
    }
    return index;
}

void reference_pulls_owe(struct reference_pulls *pulls, const struct packet *packet, uint64_t bytes) {
    const size_t index = find(pulls, packet);
    pulls->owed[index].bytes += bytes;
    pulls->owed[index].entropy = packet->entropy;
    if (pulls->owed[index].packets++ == 0) {
        reference_list_append(&pulls->turns, (uint32_t)index);
    }
}

struct packet reference_pulls_take(struct reference_pulls *pulls, const struct network_parameters *parameters,
                                   uint32_t endpoint, uint64_t line_bits_per_s, uint64_t now_ps) {
    const uint32_t most = parameters->congestion.receiver_credit.pull_packets;
    const uint32_t index = reference_list_take(&pulls->turns, 0);
    struct reference_owed *owed = &pulls->owed[index];
    const uint32_t packets = owed->packets < most ? owed->packets : most;
    const uint64_t bytes = owed->bytes * packets / owed->packets;
    owed->bytes -= bytes;
    owed->packets -= packets;
    owed->pulled += packets;
    if (owed->packets > 0) {
        reference_list_append(&pulls->turns, (uint32_t)index);
    }
    pulls->next_ps = now_ps + receiver_credit_gap_ps(&pulls->pace, bytes, line_bits_per_s);
    return (struct packet){.source = endpoint,
                           .destination = owed->source,
                           .number = owed->pulled,
                           .queue_pair = owed->queue_pair,
                           .size_bytes = (uint16_t)parameters->nic.control_bytes,
                           .entropy = owed->entropy,
                           .kind_class = PACKET_PULL | PACKET_CLASS_CONTROL << 4};
}
