// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/load_check.h"

#include <inttypes.h>
#include <stdio.h>

/** Fills the reason; returns false. */
static bool wrong(char *reason, size_t size, const char *table, uint64_t row, const char *what) {
    snprintf(reason, size, "row %" PRIu64 " of %s: %s", row, table, what);
    return false;
}

static bool is_rank(const struct measurement *measurement, uint32_t rank) {
    return rank < measurement->n_ranks;
}

static bool check_messages(const struct measurement *measurement, char *reason, size_t size) {
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *row = &measurement->messages[i];
        if (!is_rank(measurement, row->source) || !is_rank(measurement, row->destination)) {
            return wrong(reason, size, "messages", i, "no such rank");
        }
        if (row->phase >= measurement->n_phases) {
            return wrong(reason, size, "messages", i, "no such phase");
        }
        if (row->completed_ps != 0 && row->completed_ps < row->posted_ps) {
            return wrong(reason, size, "messages", i, "completed before it was posted");
        }
    }
    return true;
}

static bool check_flows(const struct measurement *measurement, char *reason, size_t size) {
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *row = &measurement->flows[i];
        if (!is_rank(measurement, row->source) || !is_rank(measurement, row->destination)) {
            return wrong(reason, size, "flows", i, "no such rank");
        }
        if (row->phase >= measurement->n_phases) {
            return wrong(reason, size, "flows", i, "no such phase");
        }
    }
    return true;
}

static bool check_rank_phases(const struct measurement *measurement, char *reason, size_t size) {
    for (uint64_t i = 0; i < (uint64_t)measurement->n_ranks * measurement->n_phases; i++) {
        const struct measurement_rank_phase *row = &measurement->rank_phases[i];
        if (row->rank != i / measurement->n_phases || row->phase != i % measurement->n_phases) {
            return wrong(reason, size, "rank_phases", i, "rank or phase is not the one of this row");
        }
        if (row->finish_ps != 0 && row->finish_ps < row->start_ps) {
            return wrong(reason, size, "rank_phases", i, "finished before it started");
        }
    }
    return true;
}

static bool check_kinds(const struct measurement *measurement, char *reason, size_t size) {
    for (uint32_t i = 0; i < measurement->n_phases; i++) {
        if ((unsigned)measurement->phases[i].kind > MEASUREMENT_PHASE_BACKGROUND) {
            return wrong(reason, size, "phases", i, "unknown kind");
        }
    }
    for (uint32_t i = 0; i < measurement->n_links; i++) {
        if ((unsigned)measurement->links[i].kind > MEASUREMENT_LINK_NVLINK) {
            return wrong(reason, size, "links", i, "unknown kind");
        }
    }
    return true;
}

static bool check_places(const struct measurement *measurement, char *reason, size_t size) {
    for (uint32_t i = 0; i < measurement->n_ranks; i++) {
        const uint32_t rack = measurement->endpoints[i].rack;
        if (measurement->n_racks != 0 && rack != MEASUREMENT_NONE && rack >= measurement->n_racks) {
            return wrong(reason, size, "endpoints", i, "no such rack");
        }
    }
    for (uint32_t i = 0; i < measurement->n_experts; i++) {
        const uint32_t rank = measurement->experts[i].rank;
        if (rank != MEASUREMENT_NONE && !is_rank(measurement, rank)) {
            return wrong(reason, size, "experts", i, "no such rank");
        }
    }
    return true;
}

static bool check_crossings(const struct measurement *measurement, char *reason, size_t size) {
    for (uint64_t i = 0; i < measurement->n_crossings; i++) {
        const struct measurement_crossing *row = &measurement->crossings[i];
        if (row->link >= measurement->n_links || row->flow >= measurement->n_flows) {
            return wrong(reason, size, "crossings", i, "no such link or flow");
        }
    }
    for (uint32_t i = 0; i < measurement->n_slow_flows; i++) {
        const struct measurement_slow_flow *row = &measurement->slow_flows[i];
        if (row->flow >= measurement->n_flows || (row->link != MEASUREMENT_NONE && row->link >= measurement->n_links)) {
            return wrong(reason, size, "slow_flows", i, "no such flow or link");
        }
    }
    return true;
}

bool load_check(const struct measurement *measurement, char *reason, size_t reason_size) {
    return check_kinds(measurement, reason, reason_size) && check_places(measurement, reason, reason_size) &&
           check_rank_phases(measurement, reason, reason_size) && check_messages(measurement, reason, reason_size) &&
           check_flows(measurement, reason, reason_size) && check_crossings(measurement, reason, reason_size);
}
