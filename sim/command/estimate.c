// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/estimate.h"

#include "base/memory.h"
#include "command/ideal.h"
#include "command/simulation.h"
#include "device/pieces.h"

#include <stdlib.h>
#include <string.h>

/* Packet-hops per CPU-second to expect: the lower end of what tests/benchmark measures (5 … 12 million). */
static const double hops_per_cpu_second = 5e6;

/* Links on the way over Ethernet between two ranks: below one leaf, within a pod, or between pods. */
static uint32_t links_between(const struct fabric *fabric, uint32_t from, uint32_t to) {
    const uint32_t near = fabric->endpoints[from].leaf, far = fabric->endpoints[to].leaf;
    if (near == far) {
        return 2;
    }
    return fabric->devices[fabric->switch_devices[near]].pod == fabric->devices[fabric->switch_devices[far]].pod ? 4
                                                                                                                 : 6;
}

/* Links that a packet of the fabric's traffic crosses, on average weighted by bytes where the plan says who sends to whom. */
static double mean_links(const struct plan *plan, const struct fabric *fabric) {
    const uint32_t n = plan->placement.n_ranks;
    const uint32_t step = n > 512 ? n / 512 : 1;
    uint64_t *row = memory_allocate(n, sizeof(*row));
    double links = 0, all = 0;
    for (uint32_t rank = 0; rank < n; rank += step) {
        for (uint32_t to = 0; to < n; to++) {
            row[to] = plan->moe ? 0 : 1;
        }
        if (plan->moe) {
            for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
                moe_summary_matrix_row(plan->moe, phase, rank, row);
            }
        }
        for (uint32_t to = 0; to < n; to++) {
            if (to != rank && moe_placement_route(&plan->placement, rank, to) == TRAFFIC_FABRIC) {
                all += (double)row[to];
                links += (double)row[to] * links_between(fabric, rank, to);
            }
        }
    }
    free(row);
    return all > 0 ? links / all : 4;
}

static uint64_t ideal_of(const struct plan *plan, const struct experiment *experiment, const struct fabric *fabric) {
    const struct ideal ideal = {.fabric = fabric, .experiment = experiment, .plan = plan};
    uint64_t sum_ps = 0;
    if (plan->steps) {
        return ideal_steps_ps(&ideal);
    }
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; plan->moe && phase < MOE_SUMMARY_PHASES; phase++) {
        sum_ps += moe_summary_has_phase(plan->moe, phase) ? ideal_phase_ps(&ideal, phase) : 0;
    }
    return sum_ps;
}

/* Share of the policies under a controller. */
static double share_named(const struct experiment *experiment, const char *controller) {
    uint32_t named = 0;
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        named += strcmp(experiment->policies[p].congestion, controller) == 0;
    }
    return (double)named / experiment->n_policies;
}

static uint64_t packets_of(uint64_t bytes, uint32_t unit_bytes, const struct topology_nic *nic) {
    const struct pieces pieces = {
        .bytes = bytes, .unit_bytes = unit_bytes, .largest_bytes = (uint32_t)nic->payload_bytes};
    return pieces_count(&pieces);
}

/* Flows of many sizes end in the middle of a packet: half of one more on average. */
static uint64_t packets_of_mixed(uint64_t bytes, uint64_t messages, const struct topology_nic *nic) {
    return bytes / nic->payload_bytes + messages / 2;
}

/* Token copies are cut one by one; counts and grants are one packet each. */
static uint64_t data_packets(const struct plan *plan, const struct experiment *experiment,
                             const struct plan_volume *volume) {
    const struct topology_nic *nic = &experiment->topology.nic;
    if (plan->pattern) {
        return volume->fabric_messages * packets_of(experiment->traffic.bytes, 0, nic);
    }
    if (!plan->moe) {
        return packets_of_mixed(volume->fabric_bytes, volume->fabric_messages, nic);
    }
    uint64_t packets = moe_summary_extent(plan->moe, MOE_SUMMARY_COUNTS).total.fabric_sent.messages;
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
        const struct moe_summary_extent extent = moe_summary_extent(plan->moe, phase);
        packets += packets_of(extent.total.fabric_sent.bytes, moe_summary_packet_unit_bytes(plan->moe, phase), nic);
    }
    return packets;
}

bool estimate_prepare(struct plan *plan, const struct experiment *experiment, struct error *error) {
    bool early_pacing = false;
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        early_pacing |= experiment->policies[p].early_pacing;
    }
    return plan_init(plan, experiment, early_pacing, experiment->seeds[0], error);
}

/*
 * What tests/benchmark/README.md measures: tables and rings by link, rows by message over the fabric, and for each message over NVLink its
 * place in a queue; parts of a combine in two hops and steps of rings are generated when they are due, but counted, and thousands have arrived in part.
 */
static double memory_of(const struct plan_volume *volume, const struct experiment *experiment,
                        const struct fabric *fabric) {
    const bool generated = experiment_algorithm_by_domain(experiment->traffic.algorithm) ||
                           experiment->traffic.pattern == EXPERIMENT_PATTERN_WORKLOAD_TEXT;
    return 1700.0 * fabric->n_links + 6000.0 * fabric->n_endpoints + 70.0 * (double)volume->fabric_messages +
           (generated ? 3.2 : 100.0) * (double)volume->nvlink_messages;
}

void estimate_plan(const struct plan *plan, const struct experiment *experiment, const struct fabric *fabric,
                   struct estimate *estimate) {
    const struct topology *topology = &experiment->topology;
    const struct plan_volume volume = plan_volume(plan, experiment);
    *estimate = (struct estimate){
        .volume = volume, .digest = plan_digest(plan), .ideal_ps = ideal_of(plan, experiment, fabric)};
    if (plan->steps) {
        estimate->collectives = step_plan_program(plan->steps)->n_collectives;
        estimate->compute_ps = step_plan_program(plan->steps)->compute_ps;
    }
    const struct plan_volume background = plan_background_volume(plan, experiment);
    estimate->background = background;
    for (uint32_t item = 0; plan->background && item < experiment->n_backgrounds; item++) {
        estimate->backgrounds[item] = background_volume(plan->background, item);
    }
    estimate->data_packets =
        (double)(data_packets(plan, experiment, &volume) +
                 packets_of_mixed(background.fabric_bytes, background.fabric_messages, &topology->nic));
    // a message ends in the middle of a record: half of one more on average
    const double nvlink_messages = (double)(volume.nvlink_messages + background.nvlink_messages);
    const double nvlink_bytes = (double)(volume.nvlink_bytes + background.nvlink_bytes);
    estimate->records =
        nvlink_messages > 0 ? nvlink_bytes / (double)topology->nvlink.record_bytes + 0.5 * nvlink_messages : 0;
    const double links = mean_links(plan, fabric);
    const double acknowledged =
        experiment->transport.acknowledge_bytes > topology->nic.payload_bytes
            ? (double)topology->nic.payload_bytes / (double)experiment->transport.acknowledge_bytes
            : 1;
    estimate->hops = estimate->data_packets * links * (1 + acknowledged) + 2 * estimate->records;
    // a probe and its reply each round trip of a queue pair: about as many hops again (30 … 34 against 14 million, quickstart-incast)
    estimate->hops *= 1 + share_named(experiment, "spectrum_x");
    estimate->hops *= 1 + 0.45 * share_named(experiment, "receiver_credit"); // a pull for nearly every packet
    estimate->memory_bytes = memory_of(&volume, experiment, fabric) + 70.0 * (double)background.fabric_messages;
    estimate->cpu_seconds = estimate->hops / hops_per_cpu_second;
}

bool estimate_run(const struct experiment *experiment, const struct fabric *fabric, struct estimate *estimate,
                  struct error *error) {
    struct plan plan;
    if (!estimate_prepare(&plan, experiment, error)) {
        return false;
    }
    estimate_plan(&plan, experiment, fabric, estimate);
    plan_fini(&plan);
    return true;
}
