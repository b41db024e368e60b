// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/place_candidate.h"

#include "base/memory.h"
#include "base/rate.h"
#include "command/simulation.h"
#include "config/placement_keys.h"
#include "workload/moe.h"

#include <stdlib.h>
#include <string.h>

/* Of one byte on all ports from `first` on together. */
static double byte_ps(const struct fabric *fabric, uint32_t first, uint32_t ports) {
    return ports == 0 ? 0
                      : (double)fabric->links[first].ps_per_byte / (double)(UINT64_C(1) << RATE_FRACTION_BITS) / ports;
}

struct place_byte_times place_candidate_byte_times(const struct fabric *fabric) {
    const struct fabric_endpoint *endpoint = &fabric->endpoints[0];
    const uint32_t port = fabric->devices[0].first_port;
    return (struct place_byte_times){.nic_ps = byte_ps(fabric, port, endpoint->n_nics),
                                     .nvlink_ps = byte_ps(fabric, port + endpoint->n_nics, endpoint->n_nvlinks)};
}

struct placement_costs place_candidate_costs(const struct experiment *experiment, const struct placement_site *site,
                                             const struct fabric *fabric) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const struct topology_nic *nic = &experiment->topology.nic;
    const struct place_byte_times byte = place_candidate_byte_times(fabric);
    const double operations = 2.0 * 3 * site->model.hidden * site->model.intermediate; /* gate, up and down */
    const double flops = experiment->placement.expert_flops;
    struct placement_costs costs = {.expert_ps = flops > 0 ? operations / flops * 1e12 : 0};
    if (traffic->dispatch) {
        const uint32_t bytes = moe_unit_bytes(&site->model, traffic, MOE_PHASE_DISPATCH);
        costs.nic_dispatch_ps = byte.nic_ps * (double)simulation_wire_bytes(nic, bytes, bytes);
        costs.nvlink_dispatch_ps = byte.nvlink_ps * bytes;
    }
    if (traffic->combine) {
        const uint32_t bytes = moe_unit_bytes(&site->model, traffic, MOE_PHASE_COMBINE);
        costs.nic_combine_ps = byte.nic_ps * (double)simulation_wire_bytes(nic, bytes, bytes);
        costs.nvlink_combine_ps = byte.nvlink_ps * bytes;
    }
    return costs;
}

struct place_candidate *place_candidate_add(struct place_candidates *candidates, const char *name,
                                            struct placement *placement) {
    REQUIRE(candidates->count < PLACE_CANDIDATES, "more than %d placements", PLACE_CANDIDATES);
    struct place_candidate *candidate = &candidates->list[candidates->count++];
    *candidate = (struct place_candidate){.name = name, .placement = placement};
    return candidate;
}

void place_candidate_add_rules(struct place_candidates *candidates, const struct placement_site *site,
                               const struct placement_tokens *tokens) {
    for (int kind = 0; kind < EXPERIMENT_PLACEMENT_FILE; kind++) {
        struct placement *placement = placement_site_rule(site, (enum experiment_placement_kind)kind, tokens);
        if (placement) {
            place_candidate_add(candidates, placement_keys_kinds[kind], placement);
        }
    }
}

void place_candidate_learn(struct place_candidates *candidates, struct placement_traffic *traffic) {
    for (uint32_t i = 0; i < candidates->count; i++) {
        placement_traffic_place(traffic, candidates->list[i].placement);
        candidates->list[i].learnt = placement_traffic_means(traffic);
    }
}

void place_candidate_try(struct place_candidates *candidates, struct placement_traffic *traffic, uint32_t batches) {
    candidates->batches = batches;
    for (uint32_t i = 0; i < candidates->count; i++) {
        struct place_candidate *candidate = &candidates->list[i];
        placement_traffic_place(traffic, candidate->placement);
        candidate->unseen = placement_traffic_means(traffic);
        candidate->times_ps = memory_allocate(batches, sizeof(*candidate->times_ps));
        for (uint32_t batch = 0; batch < batches; batch++) {
            candidate->times_ps[batch] = placement_traffic_figures(traffic, batch).time_ps;
        }
    }
}

const struct place_candidate *place_candidate_find(const struct place_candidates *candidates, const char *name) {
    for (uint32_t i = 0; i < candidates->count; i++) {
        if (strcmp(candidates->list[i].name, name) == 0) {
            return &candidates->list[i];
        }
    }
    return NULL;
}

void place_candidates_free(struct place_candidates *candidates) {
    for (uint32_t i = 0; i < candidates->count; i++) {
        placement_free(candidates->list[i].placement);
        free(candidates->list[i].times_ps);
    }
    *candidates = (struct place_candidates){0};
}
