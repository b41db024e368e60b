// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/summary.h"

#include "base/memory.h"
#include "results/distribution.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double ps_per_s = 1e12;

struct summary_quantiles summary_quantiles(double *values, size_t count) {
    if (count == 0) {
        return (struct summary_quantiles){.mean = NAN, .p50 = NAN, .p90 = NAN, .p99 = NAN, .p999 = NAN, .max = NAN};
    }
    gsl_sort(values, 1, count);
    return (struct summary_quantiles){
        .count = count,
        .mean = gsl_stats_mean(values, 1, count),
        .p50 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.5),
        .p90 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.9),
        .p99 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.99),
        .p999 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.999),
        .max = values[count - 1],
    };
}

static double ratio(double part, double whole) {
    return whole > 0.0 ? part / whole : NAN;
}

/** Value, or NAN where 0 stands for unknown. */
static double known(uint64_t value) {
    return value != 0 ? (double)value : NAN;
}

/** The quantiles of a distribution, which is freed. */
static struct summary_quantiles take_quantiles(struct distribution *distribution) {
    const struct summary_quantiles quantiles = summary_quantiles(distribution->values, distribution->count);
    distribution_free(distribution);
    return quantiles;
}

static void summarise_messages(struct summary *summary, const struct measurement *measurement) {
    struct distribution times = {0};
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        summary->undelivered += measurement->messages[i].completed_ps == 0;
    }
    distribution_add_message_times(&times, measurement);
    summary->message_time_ps = take_quantiles(&times);
}

/** Payload over the fabric that each rank receives in each phase, [rank × n_phases + phase]; phases that carry none have none. */
static uint64_t *received_bytes(const struct measurement *measurement) {
    uint64_t *bytes = memory_allocate((size_t)measurement->n_ranks * measurement->n_phases, sizeof *bytes);
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (measurement_carries_payload(measurement, flow->phase)) {
            bytes[(size_t)flow->destination * measurement->n_phases + flow->phase] += flow->bytes;
        }
    }
    return bytes;
}

/** The rank, and the phase, in which the load of a rank is the largest multiple of the mean of those that take part; the first of equals. */
static void find_hot_rank(struct summary *summary, const struct measurement *measurement) {
    const uint32_t n_phases = measurement->n_phases;
    uint64_t *bytes = received_bytes(measurement);
    summary->hot_rank = MEASUREMENT_NONE;
    summary->hot_load = NAN;
    for (uint32_t phase = 0; phase < n_phases; phase++) {
        const uint32_t participants = measurement->phases[phase].participants;
        const double mean_of = participants != 0 ? participants : measurement->n_ranks;
        uint64_t total = 0;
        for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
            total += bytes[(size_t)rank * n_phases + phase];
        }
        for (uint32_t rank = 0; rank < measurement->n_ranks && total > 0; rank++) {
            const uint64_t own = bytes[(size_t)rank * n_phases + phase];
            const double load = (double)own * mean_of / (double)total;
            if (summary->hot_rank == MEASUREMENT_NONE || load > summary->hot_load) {
                summary->hot_rank = rank;
                summary->hot_phase = phase;
                summary->hot_load = load;
            }
        }
    }
    free(bytes);
}

static void summarise_hot_rank(struct summary *summary, const struct measurement *measurement) {
    find_hot_rank(summary, measurement);
    summary->hot_time_ps = summary->hot_ideal_ps = NAN;
    if (summary->hot_rank == MEASUREMENT_NONE) {
        return;
    }
    uint64_t first_ps = UINT64_MAX, last_ps = 0;
    bool complete = true;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (flow->destination == summary->hot_rank && flow->phase == summary->hot_phase) {
            first_ps = flow->first_posted_ps < first_ps ? flow->first_posted_ps : first_ps;
            last_ps = flow->last_completed_ps > last_ps ? flow->last_completed_ps : last_ps;
            complete = complete && flow->last_completed_ps != 0;
        }
    }
    if (complete) {
        summary->hot_time_ps = (double)(last_ps - first_ps);
    }
    const uint64_t row = (uint64_t)summary->hot_rank * measurement->n_phases + summary->hot_phase;
    summary->hot_ideal_ps = known(measurement->rank_phases[row].ideal_ps);
}

static void summarise_flows(struct summary *summary, const struct measurement *measurement) {
    struct distribution times = {0}, slowdowns = {0}, victims = {0};
    distribution_add_flow_times(&times, measurement);
    distribution_add_slowdowns(&slowdowns, measurement, MEASUREMENT_NONE);
    distribution_add_slowdowns(&victims, measurement, summary->hot_rank);
    summary->flow_time_ps = take_quantiles(&times);
    summary->slowdown = take_quantiles(&slowdowns);
    summary->victim_slowdown = take_quantiles(&victims);
}

static void summarise_ranks(struct summary *summary, const struct measurement *measurement) {
    struct distribution times = {0};
    distribution_add_rank_times(&times, measurement);
    summary->rank_time_ps = take_quantiles(&times);
}

/** Times of one phase: of each rank, and from the first start to the last finish. */
static void summarise_phase_times(struct summary_phase *summary, const struct measurement *measurement,
                                  uint32_t phase) {
    double *times = memory_allocate(measurement->n_ranks, sizeof *times);
    uint64_t start_ps = UINT64_MAX, finish_ps = 0;
    size_t count = 0;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct measurement_rank_phase *row =
            &measurement->rank_phases[(uint64_t)rank * measurement->n_phases + phase];
        if (row->finish_ps != 0) {
            times[count++] = (double)(row->finish_ps - row->start_ps);
            start_ps = row->start_ps < start_ps ? row->start_ps : start_ps;
            finish_ps = row->finish_ps > finish_ps ? row->finish_ps : finish_ps;
        }
    }
    summary->time_ps = finish_ps != 0 ? (double)(finish_ps - start_ps) : NAN;
    summary->rank_time_ps = summary_quantiles(times, count);
    free(times);
}

static uint64_t phase_fabric_bytes(const struct measurement *measurement, uint32_t phase) {
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        bytes += measurement->flows[i].phase == phase ? measurement->flows[i].bytes : 0;
    }
    return bytes;
}

/* A phase that was cut short has moved less than its bytes: no bandwidth can be said of it. */
static bool is_cut_short(const struct measurement *measurement, uint32_t phase) {
    for (uint64_t i = 0; measurement->outcome != MEASUREMENT_FINISHED && i < measurement->n_messages; i++) {
        if (measurement->messages[i].phase == phase && measurement->messages[i].completed_ps == 0) {
            return true;
        }
    }
    return false;
}

/* Slow-downs of the background's flows: those of measured ones are shown for the run as a whole. */
static struct summary_quantiles phase_slowdowns(const struct measurement *measurement, uint32_t phase) {
    double *slowdowns = memory_allocate(measurement->n_flows, sizeof *slowdowns);
    size_t count = 0;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (flow->phase == phase && flow->slowdown > 0.0 &&
            measurement->phases[phase].kind == MEASUREMENT_PHASE_BACKGROUND) {
            slowdowns[count++] = flow->slowdown;
        }
    }
    const struct summary_quantiles quantiles = summary_quantiles(slowdowns, count);
    free(slowdowns);
    return quantiles;
}

static void summarise_phase(struct summary_phase *summary, const struct measurement *measurement, uint32_t phase) {
    const struct measurement_phase *from = &measurement->phases[phase];
    const double participants = from->participants != 0 ? from->participants : measurement->n_ranks;
    memcpy(summary->name, from->name, sizeof summary->name);
    summary->kind = from->kind;
    summarise_phase_times(summary, measurement, phase);
    summary->slowdown = phase_slowdowns(measurement, phase);
    const double time_ps = is_cut_short(measurement, phase) ? NAN : summary->time_ps;
    const double rank_seconds = participants * time_ps / ps_per_s;
    const double n = from->collective_ranks != 0 ? from->collective_ranks : participants;
    summary->ideal_ps = known(from->ideal_ps);
    summary->ideal_share = ratio(summary->ideal_ps, time_ps);
    summary->algbw = ratio(known(from->collective_bytes), rank_seconds);
    summary->busbw = summary->algbw * (n - 1.0) / n;
    summary->rdma_logical = ratio(known(from->rdma_logical_bytes), rank_seconds);
    summary->nvl_received = ratio(known(from->nvl_received_bytes), rank_seconds);
    summary->fabric_payload = ratio(known(phase_fabric_bytes(measurement, phase)), rank_seconds);
}

static void summarise_links(struct summary *summary, const struct measurement *measurement) {
    for (uint32_t i = 0; i < measurement->n_links; i++) {
        const struct measurement_link *link = &measurement->links[i];
        summary->marks += (double)link->marks;
        summary->pauses += (double)link->pauses;
        summary->paused_ps += (double)link->paused_ps;
        summary->credit_stalls += (double)link->credit_stalls;
        summary->credit_stalled_ps += (double)link->credit_stalled_ps;
        summary->drops_lossless += (double)link->drops_lossless;
        summary->drops_lossy += (double)link->drops_lossy;
        summary->trims += (double)link->trims;
        summary->watchdog_storms += (double)link->watchdog_storms;
        summary->watchdog_drops += (double)link->watchdog_drops;
        summary->lost += (double)link->lost_packets;
        summary->unrouted += (double)link->unrouted;
        if (link->kind == MEASUREMENT_LINK_ETHERNET && (double)link->deepest_bytes > summary->worst_queue_bytes) {
            summary->worst_queue_bytes = (double)link->deepest_bytes;
            memcpy(summary->worst_queue, link->name, sizeof summary->worst_queue);
        }
    }
}

static void summarise_endpoints(struct summary *summary, const struct measurement *measurement) {
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct measurement_endpoint *endpoint = &measurement->endpoints[rank];
        summary->retransmitted += (double)endpoint->retransmitted_packets;
        summary->duplicates += (double)endpoint->duplicate_packets;
        summary->out_of_order += (double)endpoint->out_of_order_packets;
        summary->notifications += (double)endpoint->notifications_sent;
        summary->receive_pauses += (double)endpoint->receive_pauses;
        summary->receive_discards += (double)endpoint->receive_discards;
        summary->spurious += (double)endpoint->spurious_packets;
        summary->nacks += (double)endpoint->nacks;
        summary->reordering = fmax(summary->reordering, (double)endpoint->reordering_packets);
    }
}

/** Where nothing crossed the fabric, and where no packets were simulated, what its switches and NICs counted says nothing. */
static void leave_out_fabric(struct summary *summary, const struct measurement *measurement) {
    if (measurement->totals.sent_bytes == 0 || measurement->model == MEASUREMENT_MODEL_FLUID) {
        double *const counts[] = {&summary->worst_queue_bytes, &summary->marks,         &summary->pauses,
                                  &summary->paused_ps,         &summary->drops_lossy,   &summary->drops_lossless,
                                  &summary->retransmitted,     &summary->duplicates,    &summary->out_of_order,
                                  &summary->reordering,        &summary->notifications, &summary->control_hops,
                                  &summary->spurious,          &summary->nacks,         &summary->trims};
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            *counts[i] = NAN;
        }
    }
    if (measurement->model == MEASUREMENT_MODEL_FLUID) {
        summary->data_hops = summary->lost = summary->unrouted = NAN;
        summary->credit_stalls = summary->credit_stalled_ps = NAN;
        summary->watchdog_storms = summary->watchdog_drops = NAN;
        summary->receive_pauses = summary->receive_discards = NAN;
    }
}

static void copy_explanations(struct summary *summary, const struct measurement *measurement) {
    summary->n_explanations = measurement->n_explanations;
    summary->explanations = memory_allocate(measurement->n_explanations, sizeof *summary->explanations);
    for (uint32_t i = 0; i < measurement->n_explanations; i++) {
        summary->explanations[i] = measurement->explanations[i];
    }
}

struct summary *summary_create(const struct measurement *measurement) {
    struct summary *summary = memory_allocate(1, sizeof *summary);
    memcpy(summary->policy, measurement->policy, sizeof summary->policy);
    summary->seed = measurement->seed;
    summary->model = measurement->model;
    summary->outcome = measurement->outcome;
    summary->simulated_ps = (double)measurement->totals.simulated_ps;
    summary->data_hops = (double)measurement->totals.data_hops;
    summary->control_hops = (double)measurement->totals.control_hops;
    summary->traffic_digest = measurement->totals.traffic_digest;
    summarise_messages(summary, measurement);
    summarise_hot_rank(summary, measurement);
    summarise_flows(summary, measurement);
    summarise_ranks(summary, measurement);
    summarise_links(summary, measurement);
    summarise_endpoints(summary, measurement);
    leave_out_fabric(summary, measurement);
    summary->n_phases = measurement->n_phases;
    summary->phases = memory_allocate(measurement->n_phases, sizeof *summary->phases);
    for (uint32_t phase = 0; phase < measurement->n_phases; phase++) {
        summarise_phase(&summary->phases[phase], measurement, phase);
    }
    copy_explanations(summary, measurement);
    return summary;
}

void summary_free(struct summary *summary) {
    if (summary != NULL) {
        free(summary->phases);
        free(summary->explanations);
        free(summary);
    }
}
