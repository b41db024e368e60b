// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/connection_plan.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "workload/traffic_list.h"

#include <stdlib.h>

struct connection_plan {
    struct traffic_list *list;
    uint32_t n_ranks, count;
    uint64_t digest;
    uint64_t bytes;
};

static uint64_t mix(uint64_t digest, uint64_t value) {
    return hash_mix(digest ^ hash_mix(value));
}

static void add_flow(struct connection_plan *plan, const struct connection *flow, uint32_t tag) {
    const struct traffic_message message = {.destination = flow->destination,
                                            .tag = tag,
                                            .bytes = flow->bytes,
                                            .start_ps = flow->start_ps,
                                            .route = TRAFFIC_FABRIC};
    traffic_list_add(plan->list, flow->source, &message);
    plan->bytes += flow->bytes;
    plan->digest = mix(mix(plan->digest, (uint64_t)flow->source << 32 | flow->destination), flow->bytes);
    plan->digest = mix(mix(plan->digest, flow->start_ps), (uint64_t)flow->trigger << 32 | flow->sets_free);
}

static int compare_triggers(const void *left_pointer, const void *right_pointer) {
    const struct connection *const *left = left_pointer, *const *right = right_pointer;
    if ((*left)->sets_free != (*right)->sets_free) {
        return (*left)->sets_free < (*right)->sets_free ? -1 : 1;
    }
    return (*left > *right) - (*left < *right); // both are in one array
}

/* Every waiting flow after every flow that pulls its trigger. Flows are numbered in the list, and tagged, as in the matrix. */
static void add_waits(struct connection_plan *plan, const struct connection_matrix *matrix) {
    const struct connection **pulls = memory_allocate(matrix->n_connections + 1u, sizeof(*pulls));
    for (uint32_t i = 0; i < matrix->n_connections; i++) {
        pulls[i] = &matrix->connections[i];
    }
    qsort(pulls, matrix->n_connections, sizeof(*pulls), compare_triggers);
    for (uint32_t i = 0; i < matrix->n_connections; i++) {
        const uint32_t trigger = matrix->connections[i].trigger;
        uint32_t low = 0, high = trigger == 0 ? 0 : matrix->n_connections;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (pulls[middle]->sets_free < trigger) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; trigger != 0 && low < matrix->n_connections && pulls[low]->sets_free == trigger; low++) {
            traffic_list_after(plan->list, i, pulls[low]->source, (uint32_t)(pulls[low] - matrix->connections));
        }
    }
    free(pulls);
}

struct connection_plan *connection_plan_create(const struct connection_matrix *matrix, uint32_t n_ranks) {
    REQUIRE(matrix->n_nodes <= n_ranks, "%u nodes on %u ranks", matrix->n_nodes, n_ranks);
    struct connection_plan *plan = memory_allocate(1, sizeof *plan);
    plan->list = traffic_list_create(n_ranks);
    plan->n_ranks = n_ranks;
    plan->count = matrix->n_connections;
    for (uint32_t i = 0; i < matrix->n_connections; i++) {
        add_flow(plan, &matrix->connections[i], i);
    }
    if (matrix->n_connections > 0) {
        add_waits(plan, matrix);
    }
    return plan;
}

void connection_plan_free(struct connection_plan *plan) {
    if (plan) {
        traffic_list_free(plan->list);
        free(plan);
    }
}

struct traffic connection_plan_traffic(struct connection_plan *plan) {
    return traffic_list_traffic(plan->list);
}

uint64_t connection_plan_digest(const struct connection_plan *plan) {
    return plan->digest;
}

uint64_t connection_plan_bytes(const struct connection_plan *plan) {
    return plan->bytes;
}

uint32_t connection_plan_count(const struct connection_plan *plan) {
    return plan->count;
}

uint32_t connection_plan_delivered(const struct connection_plan *plan) {
    uint32_t delivered = 0;
    for (uint32_t rank = 0; rank < plan->n_ranks; rank++) {
        delivered += traffic_list_delivered(plan->list, rank);
    }
    return delivered;
}
