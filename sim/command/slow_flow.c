// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/slow_flow.h"

#include "base/error.h"
#include "base/memory.h"
#include "command/setup.h"
#include "device/entropy.h"
#include "fabric/names.h"
#include "path/ecmp.h"
#include "results/explanation.h"
#include "results/summary.h"

#include <stdlib.h>

enum { LONGEST_WAY = 8 };

/* The links that all packets of a queue pair are known to take: the whole way under ECMP where nothing fails; else until the first choice, and the last link. */
struct way {
    uint32_t links[LONGEST_WAY];
    uint32_t n_links;
};

/* Is every choice on the way a hash among the same ports all the time? Where links fail, routing leaves ports out for a while. */
static bool is_hashed(const struct simulation *simulation) {
    const struct experiment_policy *policy = simulation->policy;
    enum path_kind kind = PATH_ECMP;
    struct error error;
    REQUIRE(setup_find_path(policy->path, &kind, &error), "a run under an unknown path policy %s", policy->path);
    return path_policy_of(kind)->hashes && simulation->experiment->n_failures == 0;
}

static struct way way_of(const struct simulation *simulation, uint32_t source, uint32_t destination,
                         uint32_t queue_pair) {
    const struct fabric *fabric = simulation->fabric;
    const struct path_parameters parameters = setup_path(simulation->experiment, simulation->policy, PATH_ECMP);
    const bool hashed = is_hashed(simulation);
    if (fabric->n_planes > 1) {
        return (struct way){.n_links =
                                0}; /* a flow goes by all planes, and a queue pair by one that depends on its number */
    }
    struct way way = {.links = {fabric->devices[source].first_port}, .n_links = 1};
    uint32_t link = way.links[0];
    bool certain = true;
    while (fabric->links[link].head_device != destination && way.n_links < LONGEST_WAY) {
        const uint32_t device = fabric->links[link].head_device;
        const struct fabric_route route = fabric_route_to(fabric, device, destination);
        const struct path_request request = {
            .source = source,
            .destination = destination,
            .entropy = entropy_of_pair(destination, queue_pair),
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

/* The links of one flow, each with the flows of the run that use it. */
struct shared_links {
    uint32_t *numbers;
    uint64_t **flows;
    uint64_t *n_flows, *capacities;
    uint32_t count;
    uint32_t *index; /* [n_links of the fabric] place in numbers + 1; 0: not one of them */
};

/* A search for the users of the links of one flow. */
struct search {
    const struct flow_pairs *pairs;
    uint64_t flow;
    struct shared_links *shared;
};

/* A visitor: notes the links of the flow that is to be explained. */
static void add_links(void *context, uint64_t flow, uint32_t queue_pair) {
    const struct search *search = context;
    struct shared_links *shared = search->shared;
    if (flow != search->flow) {
        return;
    }
    const struct measurement_flow *row = &search->pairs->measurement->flows[flow];
    const struct way way = way_of(search->pairs->simulation, row->source, row->destination, queue_pair);
    for (uint32_t i = 0; i < way.n_links; i++) {
        if (shared->index[way.links[i]] == 0) {
            shared->numbers[shared->count++] = way.links[i];
            shared->index[way.links[i]] = shared->count;
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

/* A visitor: notes a flow at each of those links that it uses. */
static void find_users(void *context, uint64_t flow, uint32_t queue_pair) {
    const struct search *search = context;
    const struct measurement_flow *row = &search->pairs->measurement->flows[flow];
    const struct way way = way_of(search->pairs->simulation, row->source, row->destination, queue_pair);
    for (uint32_t i = 0; i < way.n_links; i++) {
        if (search->shared->index[way.links[i]]) {
            note_user(search->shared, search->shared->index[way.links[i]] - 1, flow);
        }
    }
}

static void explain(struct measurement *measurement, const struct flow_pairs *pairs, const char *subject,
                    uint64_t flow) {
    const uint32_t most = LONGEST_WAY * flow_pairs_of_peer(pairs->simulation);
    struct shared_links shared = {
        .numbers = memory_allocate(most, sizeof(uint32_t)),
        .flows = memory_allocate(most, sizeof(uint64_t *)),
        .n_flows = memory_allocate(most, sizeof(uint64_t)),
        .capacities = memory_allocate(most, sizeof(uint64_t)),
        .index = memory_allocate(pairs->simulation->fabric->n_links, sizeof(uint32_t)),
    };
    struct search search = {.pairs = pairs, .flow = flow, .shared = &shared};
    flow_pairs_visit(pairs, measurement->flows[flow].source, add_links, &search);
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        flow_pairs_visit(pairs, rank, find_users, &search);
    }
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

void slow_flow_explain(struct measurement *measurement, const struct flow_pairs *pairs) {
    const uint64_t slowest = explanation_slowest_flow(measurement, MEASUREMENT_NONE);
    if (slowest == EXPLANATION_NO_FLOW) {
        return;
    }
    explain(measurement, pairs, "slowest flow", slowest);
    const uint32_t hot = hot_rank(measurement);
    const uint64_t victim = hot == MEASUREMENT_NONE ? EXPLANATION_NO_FLOW : explanation_slowest_flow(measurement, hot);
    if (victim != EXPLANATION_NO_FLOW && victim != slowest) {
        explain(measurement, pairs, "slowest flow that does not go to the hot rank", victim);
    }
}
