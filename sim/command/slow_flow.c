// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/slow_flow.h"

#include "base/hash.h"
#include "base/memory.h"
#include "command/setup.h"
#include "fabric/names.h"
#include "path/ecmp.h"
#include "results/explanation.h"
#include "results/summary.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_WAY = 8 };

/* The links that all packets of a queue pair are known to take: the whole way under ECMP; else until the first choice, and the last link. */
struct way {
    uint32_t links[LONGEST_WAY];
    uint32_t n_links;
};

static struct way way_of(const struct simulation *simulation, uint32_t source, uint32_t destination,
                         uint32_t queue_pair) {
    const struct fabric *fabric = simulation->fabric;
    const bool hashed = strcmp(simulation->policy->path, "ecmp") == 0;
    const struct path_parameters parameters = setup_path(simulation->experiment, simulation->policy, PATH_ECMP);
    struct way way = {.links = {fabric->devices[source].first_port}, .n_links = 1};
    uint32_t link = way.links[0];
    bool certain = true;
    while (fabric->links[link].head_device != destination && way.n_links < LONGEST_WAY) {
        const uint32_t device = fabric->links[link].head_device;
        const struct fabric_route route = fabric_route_to(fabric, device, destination);
        const struct path_request request = {
            .source = source,
            .destination = destination,
            .entropy = (uint16_t)hash_mix(hash_mix(destination) + queue_pair), // as sim/device/README.md says
            .first_port = route.first_port,
            .count = route.count,
        };
        const struct ecmp_rule rule = ecmp_rule_of(&parameters, simulation->seed, device);
        link = fabric->devices[device].first_port + ecmp_rule_port(&rule, &request);
        certain = hashed || (certain && route.count == 1);
        if (certain || fabric->links[link].head_device == destination) {
            way.links[way.n_links++] = link;
        }
    }
    return way;
}

static uint32_t queue_pairs_of(const struct simulation *simulation, const struct measurement_flow *flow) {
    const uint32_t most = simulation->policy->queue_pairs ? simulation->policy->queue_pairs : 1;
    return flow->messages < most ? flow->messages : most;
}

/* The links of one flow, each with the flows of the run that use it. */
struct shared_links {
    uint32_t *numbers;
    uint64_t **flows;
    uint64_t *n_flows, *capacities;
    uint32_t count;
    uint32_t *index; /* [n_links of the fabric] place in numbers + 1; 0: not one of them */
};

static void add_links(struct shared_links *shared, const struct simulation *simulation,
                      const struct measurement_flow *flow) {
    for (uint32_t pair = 0; pair < queue_pairs_of(simulation, flow); pair++) {
        const struct way way = way_of(simulation, flow->source, flow->destination, pair);
        for (uint32_t i = 0; i < way.n_links; i++) {
            if (shared->index[way.links[i]] == 0) {
                shared->numbers[shared->count++] = way.links[i];
                shared->index[way.links[i]] = shared->count;
            }
        }
    }
}

static void note_user(struct shared_links *shared, uint32_t place, uint64_t flow) {
    if (shared->n_flows[place] > 0 && shared->flows[place][shared->n_flows[place] - 1] == flow) {
        return; // several queue pairs of a flow on one link
    }
    if (shared->n_flows[place] == shared->capacities[place]) {
        shared->capacities[place] = shared->capacities[place] ? 2 * shared->capacities[place] : 16;
        shared->flows[place] = memory_resize(shared->flows[place], shared->capacities[place], sizeof(uint64_t));
    }
    shared->flows[place][shared->n_flows[place]++] = flow;
}

static void find_users(struct shared_links *shared, const struct simulation *simulation,
                       const struct measurement *measurement) {
    for (uint64_t f = 0; f < measurement->n_flows; f++) {
        const struct measurement_flow *flow = &measurement->flows[f];
        for (uint32_t pair = 0; pair < queue_pairs_of(simulation, flow); pair++) {
            const struct way way = way_of(simulation, flow->source, flow->destination, pair);
            for (uint32_t i = 0; i < way.n_links; i++) {
                if (shared->index[way.links[i]]) {
                    note_user(shared, shared->index[way.links[i]] - 1, f);
                }
            }
        }
    }
}

static void explain(struct measurement *measurement, const struct simulation *simulation, const char *subject,
                    uint64_t flow) {
    const uint32_t most = LONGEST_WAY * (simulation->policy->queue_pairs ? simulation->policy->queue_pairs : 1);
    struct shared_links shared = {
        .numbers = memory_allocate(most, sizeof(uint32_t)),
        .flows = memory_allocate(most, sizeof(uint64_t *)),
        .n_flows = memory_allocate(most, sizeof(uint64_t)),
        .capacities = memory_allocate(most, sizeof(uint64_t)),
        .index = memory_allocate(simulation->fabric->n_links, sizeof(uint32_t)),
    };
    add_links(&shared, simulation, &measurement->flows[flow]);
    find_users(&shared, simulation, measurement);
    struct explanation_link *links = memory_allocate(shared.count, sizeof(*links));
    for (uint32_t i = 0; i < shared.count; i++) {
        links[i] = (struct explanation_link){
            .name = measurement->links[shared.numbers[i]].name, .flows = shared.flows[i], .n_flows = shared.n_flows[i]};
    }
    explanation_add_flow(measurement, subject, flow, links, shared.count);
    for (uint32_t i = 0; i < shared.count; i++) {
        free(shared.flows[i]);
    }
    free(links);
    free(shared.numbers);
    free(shared.flows);
    free(shared.n_flows);
    free(shared.capacities);
    free(shared.index);
}

/* The hot rank, if one stands out: with a balanced load there is none. */
static uint32_t hot_rank(const struct measurement *measurement) {
    struct summary *summary = summary_create(measurement);
    const uint32_t rank = summary->hot_load >= 1.5 ? summary->hot_rank : MEASUREMENT_NONE;
    summary_free(summary);
    return rank;
}

void slow_flow_explain(struct measurement *measurement, const struct simulation *simulation) {
    const uint64_t slowest = explanation_slowest_flow(measurement, MEASUREMENT_NONE);
    if (slowest == EXPLANATION_NO_FLOW) {
        return;
    }
    explain(measurement, simulation, "slowest flow", slowest);
    const uint32_t hot = hot_rank(measurement);
    const uint64_t victim = hot == MEASUREMENT_NONE ? EXPLANATION_NO_FLOW : explanation_slowest_flow(measurement, hot);
    if (victim != EXPLANATION_NO_FLOW && victim != slowest) {
        explain(measurement, simulation, "slowest flow that does not go to the hot rank", victim);
    }
}
