// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_data.h"

#include "base/memory.h"
#include "report/report_blocks.h"
#include "report/report_fabric.h"
#include "report/report_traffic.h"
#include "results/comparison.h"
#include "results/distribution.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK_ROWS = 1024 };

static void add_all_slowdowns(struct distribution *distribution, const struct measurement *run) {
    distribution_add_slowdowns(distribution, run, MEASUREMENT_NONE);
}

/** The distributions that are drawn. */
static const struct {
    const char *name, *unit;
    void (*add)(struct distribution *distribution, const struct measurement *run);
} distributions[] = {
    {"message time", "ps", distribution_add_message_times},
    {"slow-down", "1", add_all_slowdowns},
    {"rank time", "ps", distribution_add_rank_times},
};

static void put_points(struct json *json, struct distribution *distribution) {
    double shares[REPORT_BLOCKS_POINTS];
    const size_t n = distribution->count > 0 ? report_blocks_shares(distribution->count, shares) : 0;
    json_member_whole(json, "count", distribution->count);
    json_name(json, "beyond"); /* what lies beyond, not up to: near 1 five digits would not tell tails apart */
    json_array(json);
    for (size_t i = 0; i < n; i++) {
        json_short(json, 1.0 - shares[i]);
    }
    json_array_end(json);
    if (n > 0) {
        gsl_sort(distribution->values, 1, distribution->count);
    }
    json_name(json, "values");
    json_array(json);
    for (size_t i = 0; i < n; i++) {
        json_short(json, gsl_stats_quantile_from_sorted_data(distribution->values, 1, distribution->count, shares[i]));
    }
    json_array_end(json);
}

/** Distributions over all finished runs of a policy. */
static void put_distributions(const struct load *load, const char *policy, struct json *json) {
    json_name(json, "distributions");
    json_array(json);
    for (size_t i = 0; i < sizeof distributions / sizeof distributions[0]; i++) {
        struct distribution distribution = {0};
        for (uint32_t run = 0; run < load->n_runs; run++) {
            if (strcmp(load->runs[run]->policy, policy) == 0 && load->runs[run]->outcome == MEASUREMENT_FINISHED) {
                distributions[i].add(&distribution, load->runs[run]);
            }
        }
        json_object(json);
        json_member_text(json, "name", distributions[i].name);
        json_member_text(json, "unit", distributions[i].unit);
        put_points(json, &distribution);
        json_object_end(json);
        distribution_free(&distribution);
    }
    json_array_end(json);
}

/** Start and finish of a phase for ranks first to last - 1: the earliest and the latest. */
static void put_span(const struct measurement *run, uint32_t phase, uint32_t first, uint32_t last, bool start,
                     struct json *json) {
    uint64_t bound = start ? UINT64_MAX : 0;
    bool any = false;
    for (uint32_t rank = first; rank < last; rank++) {
        const struct measurement_rank_phase *row = &run->rank_phases[(uint64_t)rank * run->n_phases + phase];
        if (row->finish_ps != 0) {
            const uint64_t time_ps = start ? row->start_ps : row->finish_ps;
            bound = start ? (time_ps < bound ? time_ps : bound) : (time_ps > bound ? time_ps : bound);
            any = true;
        }
    }
    json_short(json, any ? (double)bound : -1.0);
}

/** The phases of each rank, or of blocks of neighbours where they are many. */
static void put_timeline(const struct measurement *run, struct json *json) {
    const uint32_t size = report_blocks_size(run->n_ranks, MOST_RANK_ROWS);
    json_member_whole(json, "ranks_a_row", size);
    json_name(json, "phases");
    json_array(json);
    for (uint32_t phase = 0; phase < run->n_phases; phase++) {
        json_object(json);
        json_member_text(json, "name", run->phases[phase].name);
        for (int start = 1; start >= 0; start--) {
            json_name(json, start ? "start_ps" : "finish_ps");
            json_array(json);
            for (uint32_t first = 0; first < run->n_ranks; first += size) {
                const uint32_t last = first + size < run->n_ranks ? first + size : run->n_ranks;
                put_span(run, phase, first, last, start != 0, json);
            }
            json_array_end(json);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_policy(const struct load *load, const struct measurement *run, uint32_t n_policies, struct json *json) {
    json_object(json);
    json_member_text(json, "policy", run->policy);
    char seed[24]; /* as a text: the browser's numbers are exact up to 53 bits only */
    snprintf(seed, sizeof seed, "%" PRIu64, run->seed);
    json_member_text(json, "seed", seed);
    json_member_whole(json, "simulated_ps", run->totals.simulated_ps);
    put_distributions(load, run->policy, json);
    put_timeline(run, json);
    report_fabric_use(run, n_policies, json);
    report_traffic(run, json);
    json_object_end(json);
}

static void put_comparison(const struct load *load, struct json *json) {
    struct comparison *comparison = comparison_of_runs(load->runs, load->n_runs);
    json_name(json, "comparison");
    comparison_json(comparison, json);
    comparison_free(comparison);
}

/** Each policy, from its first run. */
static void put_policies(const struct load *load, struct json *json) {
    uint32_t n_policies = 0;
    for (uint32_t run = 0; run < load->n_runs; run++) {
        n_policies += !load_has_policy(load, load->runs[run]->policy, run);
    }
    json_name(json, "policies");
    json_array(json);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        if (!load_has_policy(load, load->runs[run]->policy, run)) {
            put_policy(load, load->runs[run], n_policies, json);
        }
    }
    json_array_end(json);
}

void report_data(const char *name, const struct load *load, struct json *json) {
    json_object(json);
    json_member_text(json, "name", name);
    json_member_text(json, "title", load->title);
    json_member_text(json, "program_version", load->program_version);
    json_member_text(json, "configuration", load->configuration);
    put_comparison(load, json);
    if (load->n_runs > 0) {
        report_fabric(load->runs[0], json);
    }
    put_policies(load, json);
    json_object_end(json);
}
