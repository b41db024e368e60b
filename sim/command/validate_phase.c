// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_phase.h"

#include "base/memory.h"
#include "command/validate_seeds.h"
#include "results/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Order of the names of key `quantity`. */
enum quantity { QUANTITY_RDMA, QUANTITY_NVL, QUANTITY_SLOWEST, QUANTITY_MEAN, QUANTITY_SLOPE };

static const char *const quantities[] = {"rdma", "nvl", "slowest", "mean", "slope", NULL};
static const char *const required[] = {"quantity", "configuration", NULL};

static const struct key keys[] = {
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc =
         "rdma, nvl: GB/s as DeepEP counts them, tokens × distinct nodes or ranks, the own included, × bytes ÷ time; "
         "slowest: us from the first start to the last finish; mean: us of a rank from its own start to its own "
         "finish; "
         "slope: nvl ÷ nvl with gpus_beside GPUs and as many experts on each of them, in %.",
     VALIDATE_KIND_FIELD(quantity)},
    {"nodes", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "NVLink domains; default: the configuration's.",
     VALIDATE_KIND_FIELD(nodes)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "GPUs used of each; default: the configuration's.",
     VALIDATE_KIND_FIELD(gpus)},
    {"gpus_beside", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "slope: of the run that is compared with.",
     VALIDATE_KIND_FIELD(gpus_beside)},
};

static const char *unit(const struct validate_row *row) {
    switch ((enum quantity)row->parameters.quantity) {
    case QUANTITY_RDMA:
    case QUANTITY_NVL:
        return "GB/s logical";
    case QUANTITY_SLOPE:
        return "%";
    default:
        return "us";
    }
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    char own[2][VALIDATE_SETUP_OVERRIDE_SIZE];
    const struct validate_row_parameters *parameters = &row->parameters;
    uint32_t n = 0;
    if (parameters->nodes > 0) {
        snprintf(own[n++], sizeof(own[0]), "cluster.racks=%u", parameters->nodes);
    }
    if (parameters->gpus > 0) {
        snprintf(own[n++], sizeof(own[0]), "cluster.gpus_used=%u", parameters->gpus);
    }
    if (!validate_setup_read(setup, row, own, n)) {
        return false;
    }
    const bool moe = row->experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE;
    const bool times = parameters->quantity == QUANTITY_SLOWEST || parameters->quantity == QUANTITY_MEAN;
    if (!times && !moe) {
        return validate_setup_refuse(setup,
                                     "only the traffic pattern moe has tokens whose destinations can be counted");
    }
    return (parameters->quantity == QUANTITY_SLOPE) == (parameters->gpus_beside > 0) ||
           validate_setup_refuse(setup, "gpus_beside goes with the quantity slope, and is needed there");
}

/* The phase that is simulated: the first of a layer, or that of a pattern. */
static const struct summary_phase *find_phase(const struct validate_row *row, const struct summary *summary) {
    const struct experiment_traffic *traffic = &row->experiment->traffic;
    const char *name = traffic->pattern != EXPERIMENT_PATTERN_MOE ? "transfer"
                       : traffic->dispatch                        ? "dispatch"
                                                                  : "combine";
    for (uint32_t i = 0; i < summary->n_phases; i++) {
        if (strcmp(summary->phases[i].name, name) == 0) {
            return &summary->phases[i];
        }
    }
    return NULL;
}

static double value_of(const struct validate_row *row, const struct summary_phase *phase) {
    switch ((enum quantity)row->parameters.quantity) {
    case QUANTITY_RDMA:
        return phase->rdma_logical / 1e9;
    case QUANTITY_NVL:
    case QUANTITY_SLOPE:
        return phase->nvl_received / 1e9;
    case QUANTITY_SLOWEST:
        return phase->time_ps / 1e6;
    default:
        return phase->rank_time_ps.mean / 1e6;
    }
}

static double measure(const struct validate_row *row, const struct fabric *fabric,
                      const struct measurement *measurement) {
    (void)fabric;
    struct summary *summary = summary_create(measurement);
    const struct summary_phase *phase = find_phase(row, summary);
    const double value = phase != NULL ? value_of(row, phase) : NAN;
    summary_free(summary);
    return value;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    if (!validate_seeds(row, run, measure, error)) {
        return false;
    }
    if (row->parameters.quantity != QUANTITY_SLOPE) {
        return true;
    }
    const double own = run->simulated;
    struct experiment *experiment = memory_allocate(1, sizeof(*experiment));
    *experiment = *row->experiment;
    experiment->topology.gpus_used = row->parameters.gpus_beside;
    experiment->model.experts =
        row->experiment->model.experts / row->experiment->topology.gpus_used * row->parameters.gpus_beside;
    struct validate_row other = *row;
    other.experiment = experiment;
    const bool good = validate_seeds(&other, run, measure, error);
    run->simulated = 100 * own / run->simulated;
    free(experiment);
    return good;
}

const struct validate_kind validate_phase = {
    .name = "phase",
    .doc = "time of a dispatch, a combine or a pattern, or its bandwidth (logical) as DeepEP counts it",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
