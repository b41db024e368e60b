// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/echo.h"

#include "base/memory.h"
#include "fabric/describe.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16, TRANSMISSION_BITS = 4, TRANSMISSION_MASK = (1 << TRANSMISSION_BITS) - 1 };

void echo_fini(struct echo_store *store) {
    free(store->starts);
    *store = (struct echo_store){0};
}

/* Room for the numbers from oldest to number. */
static void reach(struct echo_store *store, uint32_t oldest, uint32_t number) {
    struct echo_store grown = {.capacity = store->capacity ? store->capacity : FIRST_CAPACITY};
    while (grown.capacity <= number - oldest) {
        grown.capacity *= 2;
    }
    grown.starts = memory_allocate(grown.capacity, sizeof(*grown.starts));
    for (uint32_t i = 0; i < store->capacity; i++) {
        grown.starts[(oldest + i) & (grown.capacity - 1)] = store->starts[(oldest + i) & (store->capacity - 1)];
    }
    echo_fini(store);
    *store = grown;
}

void echo_note(struct echo_store *store, uint32_t oldest, uint32_t number, uint8_t transmission, uint64_t now_ps) {
    if (number - oldest >= store->capacity) {
        reach(store, oldest, number);
    }
    store->starts[number & (store->capacity - 1)] = now_ps << TRANSMISSION_BITS | (transmission & TRANSMISSION_MASK);
}

uint64_t echo_round_trip_ps(const struct echo_store *store, uint32_t oldest, uint32_t sent_number,
                            const struct packet *ack, uint64_t now_ps) {
    uint32_t cause;
    if (!packet_ack_cause(ack, &cause) || cause < oldest || cause >= sent_number) {
        return 0;
    }
    const uint64_t start = store->starts[cause & (store->capacity - 1)];
    const bool same = (start & TRANSMISSION_MASK) == (uint64_t)(ack->flags_transmission >> TRANSMISSION_BITS);
    return same ? now_ps - (start >> TRANSMISSION_BITS) : 0;
}

struct congestion_way echo_way(const struct fabric *fabric, const struct nic_parameters *nic, uint32_t source,
                               uint32_t destination, uint32_t plane) {
    struct describe_path there, back;
    const uint32_t packet_bytes = nic->payload_bytes + nic->header_bytes;
    const bool joined = describe_path_of_plane(fabric, source, destination, plane, packet_bytes, &there) &&
                        describe_path_of_plane(fabric, destination, source, plane, nic->control_bytes, &back);
    return (struct congestion_way){
        .line_bits_per_s = fabric->links[fabric->devices[source].first_port + plane].rate_bits_per_s,
        .base_round_trip_ps = joined ? there.latency_ps + back.latency_ps : 0,
        .packet_bytes = packet_bytes,
        .switches = joined ? there.n_hops - 1 : 0,
    };
}
