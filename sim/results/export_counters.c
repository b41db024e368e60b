// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/export_counters.h"

#include "results/csv.h"

#include <inttypes.h>
#include <stddef.h>

static const uint64_t ps_per_us = 1000000, ps_per_ns = 1000;

/** A counter of a NIC: its name, and where it is in the endpoint's row. */
static const struct {
    const char *name;
    size_t offset;
} nic_counters[] = {
    {"np_cnp_sent", offsetof(struct measurement_endpoint, notifications_sent)},
    {"rp_cnp_handled", offsetof(struct measurement_endpoint, notifications_received)},
    {"out_of_sequence", offsetof(struct measurement_endpoint, out_of_order_packets)},
    {"duplicate_request", offsetof(struct measurement_endpoint, duplicate_packets)},
    {"roce_adp_retrans", offsetof(struct measurement_endpoint, retransmitted_packets)},
    {"tx_prio3_pause", offsetof(struct measurement_endpoint, receive_pauses)},
    {"rx_discards_phy", offsetof(struct measurement_endpoint, receive_discards)},
};

static void put(const struct measurement *measurement, const char *place, const char *counter, uint64_t value,
                FILE *stream) {
    csv_text(stream, measurement->policy);
    fprintf(stream, ",%" PRIu64 ",", measurement->seed);
    csv_text(stream, place);
    fprintf(stream, ",%s,%" PRIu64 "\n", counter, value);
}

static void put_nic(const struct measurement *measurement, uint32_t rank, FILE *stream) {
    char place[32];
    snprintf(place, sizeof place, "gpu%" PRIu32, rank);
    for (size_t i = 0; i < sizeof nic_counters / sizeof nic_counters[0]; i++) {
        const char *row = (const char *)&measurement->endpoints[rank];
        put(measurement, place, nic_counters[i].name, *(const uint64_t *)(const void *)(row + nic_counters[i].offset),
            stream);
    }
}

static void put_port(const struct measurement *measurement, const struct measurement_link *link, FILE *stream) {
    put(measurement, link->name, "tx_bytes_phy", link->bytes, stream);
    put(measurement, link->name, "tx_packets_phy", link->packets + link->control_packets, stream);
    put(measurement, link->name, "rx_prio3_pause", link->pauses, stream);
    put(measurement, link->name, "rx_prio3_pause_duration", link->paused_ps / ps_per_us, stream);
    if (link->credit_stalls > 0) {
        put(measurement, link->name, "port_xmit_wait", link->credit_stalled_ps / ps_per_ns, stream);
    }
    put(measurement, link->name, "tx_discards_phy", link->drops_lossless + link->drops_lossy, stream);
}

void export_counters(const struct measurement *measurement, FILE *stream) {
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        put_nic(measurement, rank, stream);
    }
    for (uint32_t i = 0; i < measurement->n_links; i++) {
        if (measurement->links[i].kind != MEASUREMENT_LINK_NVLINK) {
            put_port(measurement, &measurement->links[i], stream);
        }
    }
}
