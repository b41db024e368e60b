// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/distribution.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

void distribution_add(struct distribution *distribution, double value) {
    enum { FIRST_CAPACITY = 1024 };
    if (distribution->count == distribution->capacity) {
        distribution->capacity = distribution->capacity ? 2 * distribution->capacity : FIRST_CAPACITY;
        distribution->values =
            memory_resize(distribution->values, distribution->capacity, sizeof *distribution->values);
    }
    distribution->values[distribution->count++] = value;
}

void distribution_add_message_times(struct distribution *distribution, const struct measurement *measurement) {
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        if (message->completed_ps != 0 && measurement_carries_payload(measurement, message->phase)) {
            distribution_add(distribution, (double)(message->completed_ps - message->posted_ps));
        }
    }
}

static bool is_finished_payload(const struct measurement *measurement, const struct measurement_flow *flow) {
    return flow->last_completed_ps != 0 && measurement_carries_payload(measurement, flow->phase);
}

void distribution_add_flow_times(struct distribution *distribution, const struct measurement *measurement) {
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        if (is_finished_payload(measurement, &measurement->flows[i])) {
            distribution_add(distribution, (double)measurement->flows[i].active_ps);
        }
    }
}

void distribution_add_slowdowns(struct distribution *distribution, const struct measurement *measurement,
                                uint32_t except) {
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (is_finished_payload(measurement, flow) && flow->slowdown > 0.0 && flow->destination != except) {
            distribution_add(distribution, flow->slowdown);
        }
    }
}

static void add_rank_time(struct distribution *distribution, const struct measurement *measurement, uint32_t rank) {
    const struct measurement_rank_phase *rows = &measurement->rank_phases[(uint64_t)rank * measurement->n_phases];
    uint64_t start_ps = UINT64_MAX, finish_ps = 0;
    for (uint32_t phase = 0; phase < measurement->n_phases; phase++) {
        if (rows[phase].finish_ps != 0 && measurement->phases[phase].kind != MEASUREMENT_PHASE_BACKGROUND) {
            start_ps = rows[phase].start_ps < start_ps ? rows[phase].start_ps : start_ps;
            finish_ps = rows[phase].finish_ps > finish_ps ? rows[phase].finish_ps : finish_ps;
        }
    }
    if (finish_ps != 0) {
        distribution_add(distribution, (double)(finish_ps - start_ps));
    }
}

void distribution_add_rank_times(struct distribution *distribution, const struct measurement *measurement) {
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        add_rank_time(distribution, measurement, rank);
    }
}

void distribution_free(struct distribution *distribution) {
    free(distribution->values);
    *distribution = (struct distribution){0};
}
