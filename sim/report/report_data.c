// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_data.h"

#include "base/memory.h"
#include "report/report_blocks.h"
#include "report/report_fabric.h"
#include "report/report_traffic.h"
#include "results/comparison.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK_ROWS = 1024 };

/** Values of a sample, growing. */
struct sample {
    double *values;
    size_t count, capacity;
};

static void add(struct sample *sample, double value) {
    if (sample->count == sample->capacity) {
        sample->capacity = sample->capacity ? 2 * sample->capacity : 1024;
        sample->values = memory_resize(sample->values, sample->capacity, sizeof *sample->values);
    }
    sample->values[sample->count++] = value;
}

static void add_message_times(const struct measurement *run, struct sample *sample) {
    for (uint64_t i = 0; i < run->n_messages; i++) {
        const struct measurement_message *message = &run->messages[i];
        if (message->completed_ps != 0 && run->phases[message->phase].kind == MEASUREMENT_PHASE_DATA) {
            add(sample, (double)(message->completed_ps - message->posted_ps));
        }
    }
}

static void add_slowdowns(const struct measurement *run, struct sample *sample) {
    for (uint64_t i = 0; i < run->n_flows; i++) {
        if (run->flows[i].slowdown > 0.0 && run->phases[run->flows[i].phase].kind == MEASUREMENT_PHASE_DATA) {
            add(sample, run->flows[i].slowdown);
        }
    }
}

static void add_rank_times(const struct measurement *run, struct sample *sample) {
    for (uint32_t rank = 0; rank < run->n_ranks; rank++) {
        uint64_t start_ps = UINT64_MAX, finish_ps = 0;
        for (uint32_t phase = 0; phase < run->n_phases; phase++) {
            const struct measurement_rank_phase *row = &run->rank_phases[(uint64_t)rank * run->n_phases + phase];
            if (run->phases[phase].kind == MEASUREMENT_PHASE_DATA && row->finish_ps != 0) {
                start_ps = row->start_ps < start_ps ? row->start_ps : start_ps;
                finish_ps = row->finish_ps > finish_ps ? row->finish_ps : finish_ps;
            }
        }
        if (finish_ps != 0) {
            add(sample, (double)(finish_ps - start_ps));
        }
    }
}

/** What a distribution is made of. */
static const struct distribution {
    const char *name, *unit;
    void (*add)(const struct measurement *run, struct sample *sample);
} distributions[] = {
    {"message time", "ps", add_message_times},
    {"slow-down", "1", add_slowdowns},
    {"rank time", "ps", add_rank_times},
};

static void put_points(struct json *json, struct sample *sample) {
    double shares[REPORT_BLOCKS_POINTS];
    const size_t n = sample->count > 0 ? report_blocks_shares(sample->count, shares) : 0;
    json_name(json, "count");
    json_whole(json, sample->count);
    json_name(json, "beyond"); /* what lies beyond, not up to: near 1 five digits would not tell tails apart */
    json_array(json);
    for (size_t i = 0; i < n; i++) {
        json_short(json, 1.0 - shares[i]);
    }
    json_array_end(json);
    if (n > 0) {
        gsl_sort(sample->values, 1, sample->count);
    }
    json_name(json, "values");
    json_array(json);
    for (size_t i = 0; i < n; i++) {
        json_short(json, gsl_stats_quantile_from_sorted_data(sample->values, 1, sample->count, shares[i]));
    }
    json_array_end(json);
}

/** Distributions over all finished runs of a policy. */
static void put_distributions(const struct load *load, const char *policy, struct json *json) {
    json_name(json, "distributions");
    json_array(json);
    for (size_t i = 0; i < sizeof distributions / sizeof distributions[0]; i++) {
        struct sample sample = {0};
        for (uint32_t run = 0; run < load->n_runs; run++) {
            if (strcmp(load->runs[run]->policy, policy) == 0 && load->runs[run]->outcome == MEASUREMENT_FINISHED) {
                distributions[i].add(load->runs[run], &sample);
            }
        }
        json_object(json);
        json_name(json, "name");
        json_text(json, distributions[i].name);
        json_name(json, "unit");
        json_text(json, distributions[i].unit);
        put_points(json, &sample);
        json_object_end(json);
        free(sample.values);
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
    json_name(json, "ranks_a_row");
    json_whole(json, size);
    json_name(json, "phases");
    json_array(json);
    for (uint32_t phase = 0; phase < run->n_phases; phase++) {
        json_object(json);
        json_name(json, "name");
        json_text(json, run->phases[phase].name);
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

static void put_policy(const struct load *load, const struct measurement *run, struct json *json) {
    json_object(json);
    json_name(json, "policy");
    json_text(json, run->policy);
    json_name(json, "seed");
    json_whole(json, run->seed);
    json_name(json, "simulated_ps");
    json_whole(json, run->totals.simulated_ps);
    put_distributions(load, run->policy, json);
    put_timeline(run, json);
    report_fabric_use(run, json);
    report_traffic(run, json);
    json_object_end(json);
}

static bool is_first_of_policy(const struct load *load, uint32_t run) {
    for (uint32_t i = 0; i < run; i++) {
        if (strcmp(load->runs[i]->policy, load->runs[run]->policy) == 0) {
            return false;
        }
    }
    return true;
}

static void put_comparison(const struct load *load, struct json *json) {
    struct comparison *comparison = comparison_of_runs(load->runs, load->n_runs);
    json_name(json, "comparison");
    comparison_json(comparison, json);
    comparison_free(comparison);
}

void report_data(const char *name, const struct load *load, struct json *json) {
    json_object(json);
    json_name(json, "name");
    json_text(json, name);
    json_name(json, "title");
    json_text(json, load->title);
    json_name(json, "program_version");
    json_text(json, load->program_version);
    json_name(json, "configuration");
    json_text(json, load->configuration);
    put_comparison(load, json);
    if (load->n_runs > 0) {
        report_fabric(load->runs[0], json);
    }
    json_name(json, "policies");
    json_array(json);
    for (uint32_t run = 0; run < load->n_runs; run++) {
        if (is_first_of_policy(load, run)) {
            put_policy(load, load->runs[run], json);
        }
    }
    json_array_end(json);
    json_object_end(json);
}
