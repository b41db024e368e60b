// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench_flight.h"

static uint64_t packets_of(const struct link_counters *counters) {
    return counters->packets + counters->control_packets;
}

/* Packets on a link that have not arrived, rounded down. */
static uint64_t on_link(const struct bench_flight *flight, uint32_t link) {
    const struct link_counters *counters = network_link(flight->network, link);
    const uint64_t arrived = network_link(flight->network, flight->fabric->links[link].reverse)->arrived_bytes;
    if (counters->bytes == 0) {
        return 0;
    }
    return (counters->bytes - arrived) * packets_of(counters) / counters->bytes;
}

bool bench_flight_look(void *context, uint64_t now_ps, uint64_t hops) {
    (void)now_ps;
    (void)hops;
    struct bench_flight *flight = context;
    uint64_t entered = 0, left = 0;
    for (uint32_t l = 0; l < flight->fabric->n_links; l++) {
        const struct fabric_link *link = &flight->fabric->links[l];
        const struct link_counters *counters = network_link(flight->network, l);
        if (link->tail_device < flight->fabric->n_endpoints) {
            entered += packets_of(counters);
        }
        if (link->head_device < flight->fabric->n_endpoints) {
            left += packets_of(counters) - on_link(flight, l);
        }
        left += counters->lossless_drops + counters->lossy_drops;
    }
    const uint64_t packets = entered - left;
    flight->most_packets = packets > flight->most_packets ? packets : flight->most_packets;
    flight->looks++;
    return true;
}
