// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "command/validate_gate.h"
#include "workload/expert_load_file.h"
#include "workload/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 1 << 20 };

/* Order of the names of key `quantity`. */
enum quantity { QUANTITY_MEDIAN, QUANTITY_WORST, QUANTITY_FURTHEST };

static const char *const quantities[] = {"median", "worst", "furthest", NULL};
static const char *const required[] = {"data", "top_k", "gpus", "quantity", NULL};

static const struct key keys[] = {
    {"data", KEY_TEXT, .doc = "The file, in the folder of --data: frequencies or counts as gate.file takes them.",
     VALIDATE_KIND_FIELD(data)},
    {"top_k", KEY_QUANTITY, QUANTITY_COUNT, "1", "64", .doc = "Experts that a token picks.",
     VALIDATE_KIND_FIELD(top_k)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536",
     .doc = "That hold consecutive experts; 0: loads of the experts themselves.", VALIDATE_KIND_FIELD(gpus)},
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "Of largest ÷ mean load, over the layers: median, worst; furthest: of the layer in which drawn tokens are "
            "furthest from the file, "
            "which is the reference.",
     VALIDATE_KIND_FIELD(quantity)},
};

static const char *unit(const struct validate_row *row) {
    (void)row;
    return "× mean";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    (void)row;
    (void)setup;
    return true;
}

/* Draws tokens of a layer into counts [experts] of `drawn`. False with *error. */
static bool draw_layer(const struct gate_parameters *parameters, struct expert_load *drawn, uint32_t layer,
                       struct error *error) {
    struct gate *gate = gate_create(parameters, error);
    double *row = expert_load_row(drawn, 0, 0, layer);
    uint32_t picks[GATE_LARGEST_TOP_K];
    for (uint32_t token = 0; gate && token < TOKENS; token++) {
        gate_draw(gate, gate_token_stream(1, layer, token), picks);
        for (uint32_t i = 0; i < parameters->top_k; i++) {
            row[picks[i]]++;
        }
    }
    const bool good = gate != NULL;
    gate_free(gate);
    return good;
}

/* Tokens of every layer of a file, as the gate draws them; NULL with *error. */
static struct expert_load *draw_all(const struct expert_load *load, const char *path, uint32_t top_k,
                                    struct error *error) {
    struct expert_load *drawn = expert_load_create(1, 1, load->n_layers, load->n_experts);
    struct gate_parameters parameters = {.kind = EXPERIMENT_GATE_MEASURED, .experts = load->n_experts, .top_k = top_k};
    snprintf(parameters.routing.path, sizeof(parameters.routing.path), "%s", path);
    for (uint32_t layer = 0; layer < load->n_layers; layer++) {
        parameters.routing.layer = load->first_layer + layer;
        if (!draw_layer(&parameters, drawn, layer, error)) {
            expert_load_free(drawn);
            return NULL;
        }
    }
    return drawn;
}

static int ascending(const void *left_pointer, const void *right_pointer) {
    const double left = *(const double *)left_pointer, right = *(const double *)right_pointer;
    return (left > right) - (left < right);
}

/* The median (of an even number the mean of two) or the largest. */
static double statistic(double *values, uint32_t n, enum quantity quantity) {
    qsort(values, n, sizeof(*values), ascending);
    return quantity == QUANTITY_MEDIAN ? (values[(n - 1) / 2] + values[n / 2]) / 2 : values[n - 1];
}

static void compare(const struct validate_row *row, const struct expert_load *load, const struct expert_load *drawn,
                    struct validate_kind_run *run) {
    const uint32_t parts = row->parameters.gpus ? row->parameters.gpus : load->n_experts;
    double *values = memory_allocate(load->n_layers, sizeof(*values)), furthest = -1;
    for (uint32_t layer = 0; layer < load->n_layers; layer++) {
        const double there = expert_load_imbalance(load, 0, 0, layer, parts);
        values[layer] = expert_load_imbalance(drawn, 0, 0, layer, parts);
        if (row->parameters.quantity == QUANTITY_FURTHEST && fabs(values[layer] / there - 1) > furthest) {
            furthest = fabs(values[layer] / there - 1);
            run->reference = there;
            run->simulated = values[layer];
        }
    }
    if (row->parameters.quantity != QUANTITY_FURTHEST) {
        run->simulated = statistic(values, load->n_layers, (enum quantity)row->parameters.quantity);
    }
    free(values);
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", run->data, row->parameters.data);
    struct expert_load *load = expert_load_file_read(path, "", error);
    struct expert_load *drawn = load ? draw_all(load, path, row->parameters.top_k, error) : NULL;
    bool good = drawn != NULL;
    if (good && row->parameters.gpus && load->n_experts % row->parameters.gpus != 0) {
        good = error_set(error, EXIT_CODE_CONFIGURATION, 0, "%u experts cannot be spread over %u GPUs", load->n_experts,
                         row->parameters.gpus);
    }
    if (good) {
        compare(row, load, drawn, run);
    }
    expert_load_free(load);
    expert_load_free(drawn);
    return good;
}

const struct validate_kind validate_measured_load = {
    .name = "measured_load",
    .doc = "imbalance of the layers of a file of measured frequencies, from tokens drawn by the gate measured",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .computes_reference = true,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
