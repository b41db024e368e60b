// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_parts.h"

#include "base/memory.h"

#include <stdlib.h>

enum { GRAIN_BYTES = 128 };

void reference_parts_free(struct reference_parts *parts) {
    free(parts->messages);
}

bool reference_parts_done(struct reference_parts *parts, uint32_t peer, uint32_t tag,
                          const struct nic_parameters *parameters) {
    size_t i = 0;
    while (i < parts->count && (parts->messages[i].peer != peer || parts->messages[i].tag != tag)) {
        i++;
    }
    if (i == parts->count) {
        parts->messages = memory_resize(parts->messages, ++parts->count, sizeof *parts->messages);
        parts->messages[i] = (struct reference_parts_message){.peer = peer, .tag = tag};
    }
    parts->messages[i].done++;
    return !parameters->split_messages || parts->messages[i].done == parameters->queue_pairs;
}

/** Deals grains out, as many to each queue pair as the first one needs, until none is left. */
struct traffic_message reference_parts_of(const struct traffic_message *message, uint32_t index,
                                          const struct nic_parameters *parameters) {
    const uint64_t grain = message->unit_bytes > 0 ? message->unit_bytes : GRAIN_BYTES;
    uint64_t first = grain, left = message->bytes;
    while (first * parameters->queue_pairs < message->bytes) {
        first += grain;
    }
    for (uint32_t i = 0; i < index; i++) {
        left -= left < first ? left : first;
    }
    struct traffic_message part = *message;
    part.bytes = left < first ? left : first;
    part.share = message->share / parameters->queue_pairs;
    part.share += message->share > 0 && part.share == 0;
    return part;
}
