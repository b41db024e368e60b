// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_traffic.h"

#include "base/memory.h"
#include "report/report_blocks.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CELLS = 64, MOST_EXPERTS = 1024, MOST_FLOWS = 20 };

/** A square of bytes. */
struct matrix {
    uint32_t size, block; /**< cells an edge; ranks or racks a cell */
    double *bytes;        /**< [size × size] */
};

static struct matrix make_matrix(uint32_t n) {
    const uint32_t block = report_blocks_size(n, MOST_CELLS);
    const uint32_t size = (n + block - 1) / block;
    return (struct matrix){size, block, memory_allocate((size_t)size * size, sizeof(double))};
}

static void put_matrix(const char *name, const struct matrix *matrix, struct json *json) {
    json_name(json, name);
    json_object(json);
    json_member_whole(json, "size", matrix->size);
    json_member_whole(json, "block", matrix->block);
    json_name(json, "bytes");
    json_array(json);
    for (size_t i = 0; i < (size_t)matrix->size * matrix->size; i++) {
        json_short(json, matrix->bytes[i]);
    }
    json_array_end(json);
    json_object_end(json);
    free(matrix->bytes);
}

static void put_gpu_matrix(const struct measurement *run, struct json *json) {
    struct matrix matrix = make_matrix(run->n_ranks);
    for (uint64_t i = 0; i < run->n_flows; i++) {
        const struct measurement_flow *flow = &run->flows[i];
        matrix.bytes[(size_t)(flow->source / matrix.block) * matrix.size + flow->destination / matrix.block] +=
            (double)flow->bytes;
    }
    put_matrix("gpu_matrix", &matrix, json);
}

static void put_rack_matrix(const struct measurement *run, struct json *json) {
    struct matrix matrix = make_matrix(run->n_racks);
    for (uint32_t from = 0; from < run->n_racks; from++) {
        for (uint32_t to = 0; to < run->n_racks; to++) {
            matrix.bytes[(size_t)(from / matrix.block) * matrix.size + to / matrix.block] +=
                (double)run->rack_bytes[(size_t)from * run->n_racks + to];
        }
    }
    put_matrix("rack_matrix", &matrix, json);
}

/** Tokens of experts; of many, the mean of neighbours would hide what is looked for, so only the first are shown. */
static void put_experts(const struct measurement *run, struct json *json) {
    json_member_whole(json, "experts", run->n_experts);
    json_name(json, "expert_tokens");
    json_array(json);
    for (uint32_t i = 0; i < run->n_experts && i < MOST_EXPERTS; i++) {
        json_whole(json, run->experts[i].tokens);
    }
    json_array_end(json);
}

/** The slowest first; what is no number in a damaged file counts as 0. */
/* Of a damaged file: what is no number counts as nothing. */
static double slowness(const struct measurement_flow *flow) {
    return isfinite(flow->slowdown) ? fmax(flow->slowdown, 0.0) : 0.0;
}

static int compare_slowness(const void *left, const void *right) {
    const struct measurement_flow *one = *(const struct measurement_flow *const *)left;
    const struct measurement_flow *two = *(const struct measurement_flow *const *)right;
    const double first = slowness(one), second = slowness(two);
    if (first != second) {
        return first < second ? 1 : -1;
    }
    return (one > two) - (one < two);
}

static void put_flow(const struct measurement *run, const struct measurement_flow *flow, struct json *json) {
    json_object(json);
    json_member_whole(json, "source", flow->source);
    json_member_whole(json, "destination", flow->destination);
    json_member_text(json, "phase", run->phases[flow->phase].name);
    json_member_whole(json, "bytes", flow->bytes);
    json_member_whole(json, "active_ps", flow->active_ps);
    json_member_short(json, "slowdown", flow->slowdown);
    for (uint32_t i = 0; i < run->n_slow_flows; i++) {
        if (run->slow_flows[i].flow == (uint64_t)(flow - run->flows)) {
            json_member_text(json, "reason", run->slow_flows[i].text);
        }
    }
    json_object_end(json);
}

static void put_slowest_flows(const struct measurement *run, struct json *json) {
    const struct measurement_flow **flows = memory_allocate(run->n_flows, sizeof *flows);
    for (uint64_t i = 0; i < run->n_flows; i++) {
        flows[i] = &run->flows[i];
    }
    qsort(flows, run->n_flows, sizeof *flows, compare_slowness);
    json_name(json, "slowest_flows");
    json_array(json);
    for (uint64_t i = 0; i < run->n_flows && i < MOST_FLOWS && slowness(flows[i]) > 0.0; i++) {
        put_flow(run, flows[i], json);
    }
    json_array_end(json);
    free(flows);
}

void report_traffic(const struct measurement *run, struct json *json) {
    put_gpu_matrix(run, json);
    put_rack_matrix(run, json);
    put_experts(run, json);
    put_slowest_flows(run, json);
    json_name(json, "explanations");
    json_array(json);
    for (uint32_t i = 0; i < run->n_explanations; i++) {
        json_text(json, run->explanations[i].text);
    }
    json_array_end(json);
}
