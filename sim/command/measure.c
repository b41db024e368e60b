// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/measure.h"

#include "base/memory.h"
#include "command/arrivals.h"
#include "command/ideal.h"
#include "command/measure_background.h"
#include "command/slow_flow.h"
#include "command/stall.h"
#include "command/storm.h"
#include "fabric/names.h"
#include "workload/moe_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum measurement_outcome outcome_of(enum network_status status) {
    switch (status) {
    case NETWORK_FINISHED:
        return MEASUREMENT_FINISHED;
    case NETWORK_LIMIT:
        return MEASUREMENT_LIMIT;
    case NETWORK_INTERRUPTED:
        return MEASUREMENT_INTERRUPTED;
    default:
        return MEASUREMENT_STALLED;
    }
}

uint32_t measure_phases(const struct plan *plan) {
    if (!plan->moe) {
        return 1;
    }
    const bool backward = moe_summary_has_phase(plan->moe, MOE_SUMMARY_COMBINE_BACKWARD) ||
                          moe_summary_has_phase(plan->moe, MOE_SUMMARY_DISPATCH_BACKWARD);
    return backward ? MEASURE_PHASES : MEASURE_PHASE_COUNTS + 1;
}

enum moe_summary_phase measure_phase_summary(uint32_t phase) {
    static const enum moe_summary_phase summaries[MEASURE_PHASES] = {MOE_SUMMARY_DISPATCH, MOE_SUMMARY_COMBINE,
                                                                     MOE_SUMMARY_COUNTS, MOE_SUMMARY_COMBINE_BACKWARD,
                                                                     MOE_SUMMARY_DISPATCH_BACKWARD};
    return summaries[phase];
}

static struct measurement_shape shape_of(const struct simulation *simulation, const struct plan *plan) {
    const struct fabric *fabric = simulation->fabric;
    struct measurement_shape shape = {.n_ranks = plan->placement.n_ranks,
                                      .n_racks = simulation->experiment->topology.racks,
                                      .n_phases = measure_phases(plan) + simulation->experiment->n_backgrounds,
                                      .n_links = fabric->n_links};
    if (plan->moe) {
        const struct moe_counts *counts = moe_plan_counts(plan->moe);
        shape.n_experts = counts->shape.experts * counts->n_groups;
    }
    return shape;
}

static void fill_links(struct measurement *measurement, const struct fabric *fabric, const struct network *network) {
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        const struct link_counters *counted = network_link(network, l);
        struct measurement_link *row = &measurement->links[l];
        *row = (struct measurement_link){
            .kind = link->kind == FABRIC_NVLINK ? MEASUREMENT_LINK_NVLINK : MEASUREMENT_LINK_ETHERNET,
            .tail_device = link->tail_device,
            .head_device = link->head_device,
            .rate_bits_per_s = link->rate_bits_per_s,
            .bytes = counted->bytes,
            .packets = counted->packets,
            .control_packets = counted->control_packets,
            .marks = counted->marks,
            .drops_lossless = counted->lossless_drops,
            .drops_lossy = counted->lossy_drops,
            .trims = counted->trims,
            .lost_packets = counted->lost_packets,
            .unrouted = counted->unrouted_packets,
            .pauses = counted->pauses,
            .watchdog_drops = counted->watchdog_drops,
            .watchdog_storms = counted->watchdog_storms,
            .paused_ps = counted->paused_ps,
            .credit_stalls = counted->credit_stalls,
            .credit_stalled_ps = counted->credit_stalled_ps,
            .deepest_bytes = counted->deepest_bytes,
            .busy_ps = (uint64_t)(((rate_wide)link->ps_per_byte * counted->bytes) >> RATE_FRACTION_BITS),
        };
        fabric_link_name(fabric, l, row->name, sizeof(row->name));
        measurement->totals.data_hops += counted->packets;
        measurement->totals.control_hops += counted->control_packets;
        measurement->totals.dropped_bytes += counted->dropped_bytes + counted->lost_bytes + counted->unrouted_bytes;
    }
}

static void fill_endpoint(struct measurement *measurement, const struct fabric *fabric, const struct network *network,
                          uint32_t rank) {
    const struct endpoint_counters *counted = endpoint_counters_of(network_endpoint(network, rank));
    struct measurement_endpoint *row = &measurement->endpoints[rank];
    row->rack = fabric->devices[rank].rack == FABRIC_NONE ? MEASUREMENT_NONE : fabric->devices[rank].rack;
    row->nvlink_sent_bytes = counted->nvlink_bytes_sent;
    row->nvlink_received_bytes = counted->nvlink_bytes_received;
    row->retransmitted_packets = counted->retransmitted_packets;
    row->duplicate_packets = counted->duplicates;
    row->spurious_packets = counted->spurious;
    row->nacks = counted->nacks;
    row->out_of_order_packets = counted->out_of_order;
    row->reordering_packets = counted->reordering_depth;
    row->notifications_sent = counted->notifications_sent;
    row->notifications_received = counted->notifications_received;
    row->receive_discards = counted->receive_discards;
    row->receive_pauses = counted->receive_pauses;
    row->receive_deepest_bytes = counted->receive_deepest_bytes;
    for (uint32_t port = 0; port < fabric->endpoints[rank].n_nics; port++) {
        const uint32_t out = fabric->devices[rank].first_port + port;
        measurement->totals.sent_bytes += network_link(network, out)->bytes;
        measurement->totals.delivered_bytes += network_link(network, out)->arrived_bytes;
    }
}

uint32_t measure_phase_of(const struct plan *plan, uint32_t tag) {
    if (plan->background && background_owns(tag)) {
        return measure_phases(plan) + background_item(tag);
    }
    if (!plan->moe) {
        return 0;
    }
    static const uint32_t phases[MOE_PHASES] = {MEASURE_PHASE_DISPATCH, MEASURE_PHASE_COMBINE,
                                                MEASURE_PHASE_COMBINE_BACKWARD, MEASURE_PHASE_DISPATCH_BACKWARD};
    const struct moe_tag what = moe_describe_tag(tag);
    const bool control = what.kind == MOE_TAG_COUNTS || what.kind == MOE_TAG_GRANT || what.kind == MOE_TAG_ACKNOWLEDGE;
    return control ? MEASURE_PHASE_COUNTS : phases[moe_tag_phase(&what)];
}

/* The row of a rank in the only phase of a pattern. */
static struct measurement_rank_phase *pattern_row(const struct measurement *measurement, uint32_t rank) {
    return &measurement->rank_phases[(size_t)rank * measurement->n_phases];
}

static void add_message(struct measurement *measurement, const struct plan *plan, uint32_t source,
                        const struct endpoint_sent *sent, const struct arrivals *arrivals) {
    const struct arrival *found = arrivals_find(arrivals, source, sent->destination, sent->tag);
    const struct measurement_message message = {
        .source = source,
        .destination = sent->destination,
        .tag = sent->tag,
        .phase = measure_phase_of(plan, sent->tag),
        .bytes = sent->bytes,
        .posted_ps = sent->posted_ps,
        .completed_ps = found ? found->delivered_ps : 0,
        .acknowledged_ps = sent->acknowledged_ps == TIME_NEVER ? 0 : sent->acknowledged_ps,
    };
    measurement_add_message(measurement, &message);
    measurement->endpoints[source].fabric_sent_bytes += sent->bytes;
    if (found) {
        measurement->endpoints[sent->destination].fabric_received_bytes += sent->bytes;
    }
}

static void fill_messages(struct measurement *measurement, const struct plan *plan, const struct network *network) {
    struct arrivals arrivals = arrivals_of(network, measurement->n_ranks);
    uint64_t n_messages = 0;
    uint32_t n;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        endpoint_sent_messages(network_endpoint(network, rank), &n);
        n_messages += n;
    }
    measurement_reserve_messages(measurement, n_messages);
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            add_message(measurement, plan, rank, &sent[i], &arrivals);
        }
    }
    arrivals_fini(&arrivals);
}

static uint64_t known(uint64_t time_ps) {
    return time_ps == TIME_NEVER ? 0 : time_ps;
}

/*
 * The bytes that published bandwidths divide by time. Those of DeepEP are of its two hops: a token goes once to a node over RDMA, and from
 * there to its ranks over NVLink. Without a second node there is no RDMA; where tokens go directly to ranks there is neither.
 */
static void fill_definitions(struct measurement_phase *phase, const struct ideal *ideal, enum moe_summary_phase summary,
                             uint32_t n_ranks) {
    const struct plan *plan = ideal->plan;
    const bool two_hop = experiment_algorithm_by_domain(ideal->experiment->traffic.algorithm);
    const bool nodes = moe_summary_extent(plan->moe, summary).total.fabric_sent.bytes > 0;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const struct moe_summary_logical logical = moe_summary_logical(plan->moe, rank, summary);
        phase->rdma_logical_bytes += two_hop && nodes ? logical.domains_bytes : 0;
        phase->nvl_received_bytes += two_hop ? logical.ranks_bytes : 0;
        phase->collective_bytes += logical.copies_bytes;
    }
}

static void fill_moe_phase(struct measurement *measurement, const struct ideal *ideal, uint32_t p) {
    const enum moe_summary_phase summary = measure_phase_summary(p);
    const struct moe *moe = ideal->plan->moe;
    struct measurement_phase *phase = &measurement->phases[p];
    snprintf(phase->name, sizeof(phase->name), "%s", moe_summary_phase_name(summary));
    phase->kind = p == MEASURE_PHASE_COUNTS ? MEASUREMENT_PHASE_CONTROL : MEASUREMENT_PHASE_DATA;
    phase->participants = moe_counts_participants(moe_plan_counts(moe));
    phase->collective_ranks = moe_plan_counts(moe)->shape.group_ranks;
    phase->ideal_ps = ideal_phase_ps(ideal, summary);
    const bool backward = summary == MOE_SUMMARY_COMBINE_BACKWARD || summary == MOE_SUMMARY_DISPATCH_BACKWARD;
    if (p != MEASURE_PHASE_COUNTS && (!backward || moe_summary_has_phase(moe, summary))) {
        fill_definitions(phase, ideal, summary, measurement->n_ranks);
    }
}

static void fill_moe(struct measurement *measurement, const struct ideal *ideal) {
    const struct plan *plan = ideal->plan;
    const uint32_t n_phases = measure_phases(plan);
    for (uint32_t p = 0; p < n_phases; p++) {
        fill_moe_phase(measurement, ideal, p);
    }
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct moe_phase_times times = moe_phase_times(plan->moe, rank);
        struct measurement_rank_phase *rows = &measurement->rank_phases[(size_t)rank * measurement->n_phases];
        for (uint32_t p = 0; p < n_phases; p++) {
            const enum moe_summary_phase summary = measure_phase_summary(p);
            const bool control = p == MEASURE_PHASE_COUNTS;
            const uint32_t phase = control ? 0 : summary - MOE_SUMMARY_DISPATCH;
            rows[p].start_ps = known(control ? times.start_ps : times.begin_ps[phase]);
            rows[p].finish_ps = known(control ? times.counts_done_ps : times.end_ps[phase]);
            rows[p].ideal_ps = ideal_rank_ps(ideal, rank, summary);
        }
        measurement->endpoints[rank].expert_tokens = moe_summary_rank_tokens(plan->moe, rank);
    }
}

static void fill_experts(struct measurement *measurement, const struct moe *moe) {
    const struct moe_counts *counts = moe_plan_counts(moe);
    const uint32_t experts = counts->shape.experts;
    for (uint32_t i = 0; i < measurement->n_experts; i++) {
        const uint32_t group = i / experts, expert = i % experts;
        measurement->experts[i].rank = moe_counts_rank(counts, group, counts->expert_rank[expert]);
        measurement->experts[i].tokens = moe_summary_expert_tokens(moe, group, expert);
    }
}

/* Least time of what each rank receives over NVLink: all of it through its ports, after the way of the first bytes. */
static void fill_pattern_nvlink_ideals(struct measurement *measurement, const struct ideal *ideal) {
    const struct plan *plan = ideal->plan;
    uint64_t *bytes = memory_allocate(measurement->n_ranks, sizeof(*bytes));
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const uint32_t n = pattern_messages(plan->pattern, rank);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t destination = pattern_destination(plan->pattern, rank, i);
            const bool nvlink = moe_placement_route(&plan->placement, rank, destination) == TRAFFIC_NVLINK;
            bytes[destination] += nvlink ? ideal->experiment->traffic.bytes : 0;
        }
    }
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const uint64_t nvlink_ps = bytes[rank] > 0 ? ideal_nvlink_ps(ideal, rank, bytes[rank]) : 0;
        uint64_t *ideal_ps = &pattern_row(measurement, rank)->ideal_ps;
        *ideal_ps = nvlink_ps > *ideal_ps ? nvlink_ps : *ideal_ps;
    }
    free(bytes);
}

/* Least time of what each rank receives: all of it through its port, which cannot begin before the shortest way of a message. */
static void fill_pattern_ideals(struct measurement *measurement, const struct ideal *ideal) {
    uint64_t *ways_ps = memory_allocate(measurement->n_ranks, sizeof(*ways_ps));
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        if (message->phase != 0) {
            continue; // of the background
        }
        const uint64_t flow_ps = ideal_flow_ps(ideal, message->source, message->destination, 0, message->bytes);
        const uint64_t way_ps = flow_ps - ideal_wire_ps(ideal, message->source, 0, message->bytes);
        uint64_t *shortest_ps = &ways_ps[message->destination];
        *shortest_ps = *shortest_ps == 0 || way_ps < *shortest_ps ? way_ps : *shortest_ps;
        pattern_row(measurement, message->destination)->ideal_ps +=
            ideal_wire_ps(ideal, message->destination, 0, message->bytes);
    }
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        pattern_row(measurement, rank)->ideal_ps += ways_ps[rank];
    }
    if (ideal->plan->pattern) {
        fill_pattern_nvlink_ideals(measurement, ideal);
    }
    struct measurement_phase *phase = &measurement->phases[0];
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const uint64_t ideal_ps = pattern_row(measurement, rank)->ideal_ps;
        phase->ideal_ps = ideal_ps > phase->ideal_ps ? ideal_ps : phase->ideal_ps;
    }
    free(ways_ps);
}

/* Messages over NVLink have no rows: the pattern knows when they began and ended. */
static void fill_pattern_times(struct measurement *measurement, const struct pattern *pattern) {
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct pattern_times times = pattern_times(pattern, rank);
        pattern_row(measurement, rank)->start_ps = known(times.start_ps);
        pattern_row(measurement, rank)->finish_ps = known(times.end_ps);
    }
}

/* The same of a pass, which runs until a rank has computed all and all that it began has ended: computing goes on when nothing is sent any more. */
static void fill_step_times(struct measurement *measurement, const struct step_plan *steps) {
    uint64_t *simulated_ps = &measurement->totals.simulated_ps;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        const struct step_plan_times times = step_plan_times(steps, rank);
        pattern_row(measurement, rank)->start_ps = times.start_ps;
        pattern_row(measurement, rank)->finish_ps = known(times.end_ps);
        if (measurement->outcome == MEASUREMENT_FINISHED && times.end_ps > *simulated_ps) {
            *simulated_ps = times.end_ps;
        }
    }
}

/* The flows of a connection matrix are rows, all of them: a rank runs from the first post of a flow that it has a part in. */
static void fill_connection_times(struct measurement *measurement) {
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        if (message->phase != 0) {
            continue; // of the background
        }
        const uint32_t ranks[] = {message->source, message->destination};
        for (int r = 0; r < 2; r++) {
            struct measurement_rank_phase *phase = pattern_row(measurement, ranks[r]);
            const uint64_t end_ps = r == 0 ? message->posted_ps : message->completed_ps;
            if (phase->finish_ps == 0 || message->posted_ps < phase->start_ps) {
                phase->start_ps = message->posted_ps;
            }
            phase->finish_ps = end_ps > phase->finish_ps ? end_ps : phase->finish_ps;
        }
    }
}

/* A pattern: one phase, whose ranks run from their first post (or the first to them) to their last delivery, over the fabric or NVLink. */
static void fill_pattern(struct measurement *measurement, const struct ideal *ideal) {
    struct measurement_phase *phase = &measurement->phases[0];
    snprintf(phase->name, sizeof(phase->name), "%s", ideal->plan->steps ? "pass" : "transfer");
    phase->participants = ideal->plan->pattern ? pattern_participants(ideal->plan->pattern) : measurement->n_ranks;
    if (ideal->experiment->traffic.pattern == EXPERIMENT_PATTERN_ALL_TO_ALL) {
        phase->collective_bytes =
            (uint64_t)phase->participants * phase->participants * ideal->experiment->traffic.bytes;
    }
    if (ideal->plan->pattern) {
        fill_pattern_times(measurement, ideal->plan->pattern);
    } else if (ideal->plan->steps) {
        fill_step_times(measurement, ideal->plan->steps);
    } else {
        fill_connection_times(measurement);
    }
    fill_pattern_ideals(measurement, ideal);
    if (ideal->plan->steps) {
        phase->ideal_ps = ideal_steps_ps(ideal); // with what is computed
    }
}

struct measurement *measure_begin(const struct simulation *simulation, const struct plan *plan) {
    const struct measurement_shape shape = shape_of(simulation, plan);
    struct measurement *measurement = measurement_create(&shape);
    simulation_name(simulation, measurement->policy);
    measurement->seed = simulation->seed;
    measurement->totals.traffic_digest = plan_digest(plan);
    return measurement;
}

void measure_finish(struct measurement *measurement, const struct simulation *simulation, const struct plan *plan) {
    const struct ideal ideal = {.fabric = simulation->fabric, .experiment = simulation->experiment, .plan = plan};
    if (plan->moe) {
        fill_moe(measurement, &ideal);
        fill_experts(measurement, plan->moe);
    } else {
        fill_pattern(measurement, &ideal);
    }
    if (plan->background) {
        measure_background_fill(measurement, plan, simulation->experiment, measure_phases(plan));
    }
    measurement_finish(measurement, ideal_flow_ps, &ideal);
}

struct measurement *measure_network(const struct simulation *simulation, const struct plan *plan,
                                    struct network *network, enum network_status status) {
    struct measurement *measurement = measure_begin(simulation, plan);
    measurement->outcome = outcome_of(status);
    if (status == NETWORK_STALLED) {
        stall_describe(network, simulation->fabric, measurement->diagnosis, sizeof(measurement->diagnosis));
    } else if (status == NETWORK_LIMIT) {
        stall_find_deadlock(network, simulation->fabric, measurement->diagnosis, sizeof(measurement->diagnosis));
    }
    measurement->totals.simulated_ps = status == NETWORK_FINISHED ? network_end_ps(network) : network_now_ps(network);
    network_release(network);
    fill_links(measurement, simulation->fabric, network);
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        fill_endpoint(measurement, simulation->fabric, network, rank);
    }
    fill_messages(measurement, plan, network);
    measure_finish(measurement, simulation, plan);
    const struct flow_pairs pairs = {
        .simulation = simulation, .plan = plan, .network = network, .measurement = measurement};
    slow_flow_explain(measurement, &pairs);
    storm_explain(simulation->fabric, measurement);
    return measurement;
}
