// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/telemetry_take.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/normal.h"
#include "results/series.h"

#include <math.h>
#include <stdlib.h>

#define MICRO_BATCHES 8
#define KERNEL_NOISE (0.01 / sqrt(MICRO_BATCHES))
#define RATE_NOISE 0.01
#define PAIR_NOISE 0.02
#define STRAY_ERROR 0.1
#define LEAST_BYTES 65536.0 /* below that no rate can be read */
#define PS_PER_S 1e12

enum { PEAK_INTERVALS = 4, LEAST_BUSY = 5 };

/* What noise is put on; part of the draws. */
enum noise { NOISE_KERNEL, NOISE_RATE, NOISE_PAIR, NOISE_ERROR };

static double unit(uint64_t seed, enum noise noise, uint32_t place, uint64_t count) {
    return hash_unit(hash_draw(hash_stream(seed, HASH_PURPOSE_NOISE, noise, place), count));
}

static double normal(uint64_t seed, enum noise noise, uint32_t place, uint64_t count) {
    return normal_draw(hash_stream(seed, HASH_PURPOSE_NOISE, noise, place), count);
}

static uint32_t leaf_of(const struct fabric *fabric, uint32_t rank) {
    const struct fabric_device *device = &fabric->devices[rank];
    const bool known = device->n_ports > 0 && fabric->links[device->first_port].kind == FABRIC_ETHERNET;
    return known ? fabric->links[device->first_port].head_device : TELEMETRY_NONE;
}

static void fill_ranks(struct telemetry *telemetry, const struct experiment *experiment, const struct fabric *fabric) {
    const struct topology *topology = &experiment->topology;
    const bool rails = topology->fabric.wiring == TOPOLOGY_WIRING_RAIL && topology->fabric.rails > 1;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        telemetry->ranks[i].rail =
            rails ? fabric->endpoints[i].index_in_domain % topology->fabric.rails : TELEMETRY_NONE;
        telemetry->ranks[i].leaf = leaf_of(fabric, i);
    }
}

struct telemetry *telemetry_take_create(const struct experiment *experiment, const struct fabric *fabric) {
    struct telemetry *telemetry = memory_allocate(1, sizeof *telemetry);
    *telemetry = (struct telemetry){.n_ranks = fabric->n_endpoints};
    telemetry->ranks = memory_allocate(fabric->n_endpoints, sizeof *telemetry->ranks);
    telemetry->links = memory_allocate(fabric->n_links, sizeof *telemetry->links);
    for (uint32_t i = 0; i < fabric->n_endpoints; i++) {
        telemetry->ranks[i] = (struct telemetry_rank){0};
    }
    fill_ranks(telemetry, experiment, fabric);
    for (uint32_t i = 0; i < fabric->n_links; i++) {
        const struct fabric_link *link = &fabric->links[i];
        if (link->kind == FABRIC_ETHERNET) {
            telemetry->links[telemetry->n_links++] = (struct telemetry_link){
                .cable = i < link->reverse ? i : link->reverse,
                .from_rank = link->tail_device < fabric->n_endpoints ? link->tail_device : TELEMETRY_NONE,
                .to_rank = link->head_device < fabric->n_endpoints ? link->head_device : TELEMETRY_NONE,
                .nominal_bytes_per_s = (double)link->rate_bits_per_s / 8,
            };
        }
    }
    return telemetry;
}

/* ---- rates ---- */

/* Bytes that a link sent in some intervals from one on, while its transmitter was not paused; negative if it was. */
static double sent_in(const struct series *series, uint32_t column, uint32_t interval, uint32_t intervals) {
    double sent = 0;
    for (uint32_t i = interval; i < interval + intervals; i++) {
        const size_t place = (size_t)i * series->n_links + column;
        if (series->values[SERIES_PAUSED_PS][place] > 0) {
            return -1;
        }
        sent += (double)series->values[SERIES_SENT_BYTES][place];
    }
    return sent;
}

/* A NIC that has more to send than can be seen sends at its rate at some time: the best few intervals in a row. */
static double nic_peak(const struct series *series, uint32_t column) {
    double most = 0;
    for (uint32_t i = 0; i + PEAK_INTERVALS <= series->n_intervals; i++) {
        most = fmax(most, sent_in(series, column, i, PEAK_INTERVALS));
    }
    return most * PS_PER_S / ((double)series->interval_ps * PEAK_INTERVALS);
}

/* A port of a switch is busy for a whole interval if no less stands in its queue before than it can send in it: the mean of those. */
static double port_rate(const struct series *series, uint32_t column, double nominal_bytes_per_s) {
    const double interval_s = (double)series->interval_ps / PS_PER_S;
    double sum = 0;
    uint32_t busy = 0;
    for (uint32_t i = 1; i < series->n_intervals; i++) {
        const double queue = (double)series->values[SERIES_QUEUE_BYTES][(size_t)(i - 1) * series->n_links + column];
        const double sent = sent_in(series, column, i, 1);
        if (queue >= nominal_bytes_per_s * interval_s && sent >= 0) {
            sum += sent;
            busy++;
        }
    }
    return busy >= LEAST_BUSY ? sum / (busy * interval_s) : 0;
}

static void add_rates(struct telemetry *telemetry, const struct fabric *fabric, const struct series *series) {
    uint32_t *places = memory_allocate(fabric->n_links, sizeof *places);
    for (uint32_t link = 0, n = 0; link < fabric->n_links; link++) {
        places[link] = fabric->links[link].kind == FABRIC_ETHERNET ? n++ : TELEMETRY_NONE;
    }
    for (uint32_t column = 0; column < series->n_links; column++) {
        const uint32_t place = places[series->links[column]];
        if (place != TELEMETRY_NONE) {
            struct telemetry_link *link = &telemetry->links[place];
            const double rate = link->from_rank != TELEMETRY_NONE
                                    ? nic_peak(series, column)
                                    : port_rate(series, column, link->nominal_bytes_per_s);
            link->rate_bytes_per_s = fmax(link->rate_bytes_per_s, rate);
        }
    }
    free(places);
}

/* ---- counters ---- */

static void add_links(struct telemetry *telemetry, const struct fabric *fabric, const struct measurement *measurement) {
    for (uint32_t i = 0, n = 0; i < fabric->n_links; i++) {
        const struct measurement_link *counted = &measurement->links[i];
        if (fabric->links[i].kind != FABRIC_ETHERNET) {
            continue;
        }
        struct telemetry_link *link = &telemetry->links[n++];
        link->bytes += (double)counted->bytes;
        link->packets += (double)counted->packets;
        link->errors += (double)counted->lost_packets;
        link->utilisation =
            fmax(link->utilisation, (double)counted->busy_ps / (double)(measurement->totals.simulated_ps + 1));
    }
}

static void add_ranks(struct telemetry *telemetry, const struct measurement *measurement) {
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        const struct measurement_endpoint *counted = &measurement->endpoints[i];
        struct telemetry_rank *rank = &telemetry->ranks[i];
        rank->tokens += (double)counted->expert_tokens;
        rank->retransmissions += (double)counted->retransmitted_packets;
        rank->receive_pauses += (double)(counted->receive_pauses + counted->receive_discards);
        for (uint32_t phase = 0; phase < measurement->n_phases; phase++) {
            const struct measurement_rank_phase *times =
                &measurement->rank_phases[(size_t)i * measurement->n_phases + phase];
            rank->wait_s +=
                times->finish_ps > times->start_ps ? (double)(times->finish_ps - times->start_ps) / PS_PER_S : 0;
        }
    }
}

/* Bytes a second of all planes, as set up. */
static double nic_rate(const struct fabric *fabric, uint32_t rank) {
    const struct fabric_device *device = &fabric->devices[rank];
    double rate = 0;
    for (uint32_t port = device->first_port; port < device->first_port + device->n_ports; port++) {
        rate += fabric->links[port].kind == FABRIC_ETHERNET ? (double)fabric->links[port].rate_bits_per_s / 8 : 0;
    }
    return rate;
}

/* A test between NICs: its best round counts, so that a busy path is not taken for a slow NIC. */
static void add_pairs(struct telemetry *telemetry, const struct fabric *fabric, const struct measurement *measurement) {
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        if (fabric->endpoints[message->source].domain == fabric->endpoints[message->destination].domain ||
            message->completed_ps <= message->posted_ps) {
            continue;
        }
        struct telemetry_rank *from = &telemetry->ranks[message->source], *to = &telemetry->ranks[message->destination];
        const double share = (double)message->bytes * PS_PER_S / (double)(message->completed_ps - message->posted_ps) /
                             nic_rate(fabric, message->source);
        from->send_share = fmax(from->send_share, share);
        to->receive_share = fmax(to->receive_share, share);
    }
}

void telemetry_take_run(struct telemetry *telemetry, const struct fabric *fabric, const struct measurement *measurement,
                        bool pairwise) {
    add_links(telemetry, fabric, measurement);
    add_ranks(telemetry, measurement);
    if (measurement->series != NULL) {
        add_rates(telemetry, fabric, measurement->series);
    }
    if (pairwise) {
        add_pairs(telemetry, fabric, measurement);
    }
}

void telemetry_take_finish(struct telemetry *telemetry, const double *clocks, uint64_t seed) {
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        struct telemetry_rank *rank = &telemetry->ranks[i];
        rank->compute = 1 / clocks[i] * (1 + KERNEL_NOISE * normal(seed, NOISE_KERNEL, i, 0));
        rank->send_share *= 1 + PAIR_NOISE * normal(seed, NOISE_PAIR, i, 0);
        rank->receive_share *= 1 + PAIR_NOISE * normal(seed, NOISE_PAIR, i, 1);
    }
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        struct telemetry_link *link = &telemetry->links[i];
        link->rate_bytes_per_s *= link->bytes >= LEAST_BYTES ? 1 + RATE_NOISE * normal(seed, NOISE_RATE, i, 0) : 0;
        link->errors += unit(seed, NOISE_ERROR, i, 0) < STRAY_ERROR ? 1 : 0;
    }
}

void telemetry_take_free(struct telemetry *telemetry) {
    if (telemetry != NULL) {
        free(telemetry->ranks);
        free(telemetry->links);
        free(telemetry);
    }
}
