// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/ideal.h"

#include "base/number.h"
#include "base/rate.h"
#include "command/measure.h"
#include "command/simulation.h"
#include "fabric/describe.h"

uint32_t ideal_unit_bytes(const struct ideal *ideal, uint32_t phase) {
    if (!ideal->plan->moe || phase == MEASURE_PHASE_COUNTS || phase >= measure_phases(ideal->plan)) {
        return 0; // of the background too
    }
    return moe_summary_packet_unit_bytes(ideal->plan->moe, measure_phase_summary(phase));
}

/* Time on one of the NIC's links. */
static uint64_t link_time_ps(const struct ideal *ideal, uint32_t rank, uint64_t wire_bytes) {
    const struct fabric_link *link = &ideal->fabric->links[ideal->fabric->devices[rank].first_port];
    return (uint64_t)(((rate_wide)link->ps_per_byte * wire_bytes) >> RATE_FRACTION_BITS);
}

/* Time on the NIC's links of all planes together. */
static uint64_t nic_time_ps(const struct ideal *ideal, uint32_t rank, uint64_t wire_bytes) {
    return link_time_ps(ideal, rank, number_divide_up(wire_bytes, ideal->fabric->n_planes));
}

/* Time on all NVLink ports of a GPU together. */
static uint64_t nvlink_time_ps(const struct ideal *ideal, uint32_t rank, uint64_t bytes) {
    const struct fabric_endpoint *endpoint = &ideal->fabric->endpoints[rank];
    if (endpoint->n_nvlinks == 0) {
        return 0;
    }
    const uint32_t port = ideal->fabric->devices[rank].first_port + endpoint->n_nics;
    const rate_wide time = (rate_wide)ideal->fabric->links[port].ps_per_byte * bytes / endpoint->n_nvlinks;
    return (uint64_t)(time >> RATE_FRACTION_BITS);
}

/* From the first bit of a packet leaving the source to its last bit arriving. */
static uint64_t latency_ps(const struct fabric *fabric, uint32_t source, uint32_t destination,
                           enum fabric_link_kind kind, uint64_t bytes) {
    struct describe_path path;
    return describe_path(fabric, source, destination, kind, bytes, &path) ? path.latency_ps : 0;
}

/* The largest packet of a message, headers included. */
static uint64_t largest_packet_bytes(const struct ideal *ideal, uint32_t phase, uint64_t bytes) {
    const struct topology_nic *nic = &ideal->experiment->topology.nic;
    const uint64_t unit = ideal_unit_bytes(ideal, phase);
    const uint64_t whole = unit > 0 ? number_smaller(unit, bytes) : bytes;
    return number_smaller(whole, nic->payload_bytes) + nic->header_bytes;
}

uint64_t ideal_flow_ps(const void *context, uint32_t source, uint32_t destination, uint32_t phase, uint64_t bytes) {
    const struct ideal *ideal = context;
    const uint64_t wire =
        simulation_wire_bytes(&ideal->experiment->topology.nic, bytes, ideal_unit_bytes(ideal, phase));
    const uint64_t largest = largest_packet_bytes(ideal, phase, bytes);
    const uint64_t share =
        number_divide_up(wire, ideal->fabric->n_planes); /* of the busiest plane, the last packet included */
    return link_time_ps(ideal, source, share > largest ? share - largest : 0) +
           latency_ps(ideal->fabric, source, destination, FABRIC_ETHERNET, largest);
}

uint64_t ideal_wire_ps(const struct ideal *ideal, uint32_t rank, uint32_t phase, uint64_t bytes) {
    return nic_time_ps(ideal, rank,
                       simulation_wire_bytes(&ideal->experiment->topology.nic, bytes, ideal_unit_bytes(ideal, phase)));
}

uint64_t ideal_nvlink_ps(const struct ideal *ideal, uint32_t rank, uint64_t bytes) {
    const uint32_t size = ideal->plan->placement.ranks_per_domain, first = rank / size * size;
    const uint32_t other = rank == first ? first + 1 : first;
    return nvlink_time_ps(ideal, rank, bytes) + latency_ps(ideal->fabric, other, rank, FABRIC_NVLINK, 1);
}

/* Counts and grants are one packet each. */
static uint64_t side_wire_bytes(const struct ideal *ideal, enum moe_summary_phase phase,
                                const struct moe_summary_side *fabric) {
    const struct topology_nic *nic = &ideal->experiment->topology.nic;
    if (phase == MOE_SUMMARY_COUNTS) {
        return fabric->bytes + fabric->messages * nic->header_bytes;
    }
    return simulation_wire_bytes(nic, fabric->bytes, moe_summary_packet_unit_bytes(ideal->plan->moe, phase));
}

static uint64_t side_ps(const struct ideal *ideal, uint32_t rank, enum moe_summary_phase phase,
                        const struct moe_summary_side *fabric, const struct moe_summary_side *nvlink) {
    return number_larger(nic_time_ps(ideal, rank, side_wire_bytes(ideal, phase, fabric)),
                         nvlink_time_ps(ideal, rank, nvlink->bytes));
}

uint64_t ideal_rank_ps(const struct ideal *ideal, uint32_t rank, enum moe_summary_phase phase) {
    const struct moe_summary_volume volume = moe_summary_volume(ideal->plan->moe, rank, phase);
    const uint32_t next_domain = ideal->plan->placement.ranks_per_domain;
    uint64_t fabric_ps = 0, nvlink_ps = 0;
    if (volume.fabric_received.bytes > 0) {
        fabric_ps = nic_time_ps(ideal, rank, side_wire_bytes(ideal, phase, &volume.fabric_received)) +
                    latency_ps(ideal->fabric, 0, next_domain, FABRIC_ETHERNET, 1);
    }
    if (volume.nvlink_received.bytes > 0) {
        nvlink_ps = ideal_nvlink_ps(ideal, rank, volume.nvlink_received.bytes);
    }
    return number_larger(fabric_ps, nvlink_ps);
}

uint64_t ideal_phase_ps(const struct ideal *ideal, enum moe_summary_phase phase) {
    const struct moe_summary_volume largest = moe_summary_extent(ideal->plan->moe, phase).largest;
    const uint64_t received_ps = side_ps(ideal, 0, phase, &largest.fabric_received, &largest.nvlink_received);
    const uint64_t sent_ps = side_ps(ideal, 0, phase, &largest.fabric_sent, &largest.nvlink_sent);
    const struct moe_placement *placement = &ideal->plan->placement;
    uint64_t way_ps = 0;
    if (largest.fabric_sent.bytes > 0 && placement->n_ranks > placement->ranks_per_domain) {
        way_ps = latency_ps(ideal->fabric, 0, placement->ranks_per_domain, FABRIC_ETHERNET, 64);
    } else if (placement->ranks_per_domain > 1) {
        way_ps = latency_ps(ideal->fabric, 0, 1, FABRIC_NVLINK, 64);
    }
    return number_larger(received_ps, sent_ps) + way_ps;
}

/* Of the rank that receives least. */
static struct step_plan_least collective_least(const void *context, uint32_t collective) {
    const struct ideal *ideal = context;
    struct step_plan_least least = {.fabric_ps = UINT64_MAX, .nvlink_ps = UINT64_MAX};
    for (uint32_t rank = 0; rank < ideal->plan->placement.n_ranks; rank++) {
        const struct step_plan_volume received = step_plan_received(ideal->plan->steps, rank, collective);
        const uint64_t fabric_ps = received.fabric_bytes > 0 ? ideal_wire_ps(ideal, rank, 0, received.fabric_bytes) : 0;
        least.fabric_ps = number_smaller(least.fabric_ps, fabric_ps);
        least.nvlink_ps = number_smaller(least.nvlink_ps, nvlink_time_ps(ideal, rank, received.nvlink_bytes));
    }
    return least;
}

uint64_t ideal_steps_ps(const struct ideal *ideal) {
    return step_plan_least_ps(ideal->plan->steps, collective_least, ideal);
}
