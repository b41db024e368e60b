// SPDX-License-Identifier: GPL-3.0-or-later
/* What an endpoint counted and noted, on its way to rank 0. */
#include "base/memory.h"
#include "device/endpoint_internal.h"

#include <stdlib.h>
#include <string.h>

/* Before the rows of messages sent and received. */
struct pack_header {
    struct endpoint_counters counters;
    uint64_t last_ps;
    uint32_t device, n_sent, n_delivered, unused;
};

unsigned char *endpoint_pack(const struct endpoint *endpoint, size_t *size) {
    const struct pack_header header = {.counters = endpoint->counters,
                                       .last_ps = endpoint->last_ps,
                                       .device = endpoint->device,
                                       .n_sent = endpoint->n_sent,
                                       .n_delivered = endpoint->n_delivered};
    const size_t sent = endpoint->n_sent * sizeof(*endpoint->sent);
    const size_t delivered = endpoint->n_delivered * sizeof(*endpoint->delivered);
    unsigned char *bytes = memory_allocate(sizeof(header) + sent + delivered, 1);
    memcpy(bytes, &header, sizeof(header));
    if (sent > 0) {
        memcpy(bytes + sizeof(header), endpoint->sent, sent);
    }
    if (delivered > 0) {
        memcpy(bytes + sizeof(header) + sent, endpoint->delivered, delivered);
    }
    *size = sizeof(header) + sent + delivered;
    return bytes;
}

struct endpoint *endpoint_unpack(const unsigned char *bytes, size_t *size) {
    struct pack_header header;
    memcpy(&header, bytes, sizeof(header));
    struct endpoint *endpoint = memory_allocate(1, sizeof(*endpoint));
    endpoint->device = header.device;
    endpoint->counters = header.counters;
    endpoint->last_ps = header.last_ps;
    endpoint->n_sent = endpoint->sent_capacity = header.n_sent;
    endpoint->n_delivered = endpoint->delivered_capacity = header.n_delivered;
    endpoint->sent = memory_allocate(header.n_sent, sizeof(*endpoint->sent));
    endpoint->delivered = memory_allocate(header.n_delivered, sizeof(*endpoint->delivered));
    const size_t sent = header.n_sent * sizeof(*endpoint->sent);
    const size_t delivered = header.n_delivered * sizeof(*endpoint->delivered);
    memcpy(endpoint->sent, bytes + sizeof(header), sent);
    memcpy(endpoint->delivered, bytes + sizeof(header) + sent, delivered);
    *size = sizeof(header) + sent + delivered;
    return endpoint;
}
