// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_step.h"

#include "command/train_report.h"
#include "command/train_setup.h"
#include "command/validate_seeds.h"
#include "training/training_pair.h"

#include <math.h>

#define PS_PER_MS 1e9

/* Order of the names of key `quantity`. */
enum quantity { QUANTITY_TOKENS, QUANTITY_SPAN, QUANTITY_EXCHANGES, QUANTITY_HIDDEN };

static const char *const quantities[] = {"tokens", "span", "exchanges", "hidden", NULL};
static const char *const required[] = {"configuration", "quantity", NULL};

static const struct key keys[] = {
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "tokens: of a step, per second and GPU. Of a forward and a backward pass through a part of the model that "
            "run together: span, all of it, and exchanges, its dispatches and combines, in ms; hidden: % of the "
            "latter while something is computed.",
     VALIDATE_KIND_FIELD(quantity)},
    {"part", KEY_QUANTITY, QUANTITY_COUNT, "0", "65535", "0", .doc = "Of the pipeline, for a pair.",
     VALIDATE_KIND_FIELD(index)},
};

static const char *unit(const struct validate_row *row) {
    static const char *const units[] = {"tokens/s", "ms", "ms", "%"};
    return units[row->parameters.quantity];
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    struct training_setup step;
    struct training_pair pair;
    struct error error;
    if (!validate_setup_read(setup, row, NULL, 0)) {
        return false;
    }
    if (!train_setup_init(&step, row->experiment, &error) ||
        (row->parameters.quantity != QUANTITY_TOKENS && !training_pair(&step, row->parameters.index, &pair, &error))) {
        return validate_setup_refuse(setup, "%s", error.message);
    }
    return true;
}

/* What a pair of passes gives. */
static double pair_value(const struct validate_row *row, const struct training_setup *step, struct error *error) {
    struct training_pair pair;
    if (!training_pair(step, row->parameters.index, &pair, error)) {
        return NAN;
    }
    return row->parameters.quantity == QUANTITY_SPAN        ? (double)pair.span_ps / PS_PER_MS
           : row->parameters.quantity == QUANTITY_EXCHANGES ? (double)pair.exchange_ps / PS_PER_MS
                                                            : 100 * (double)pair.hidden_ps / (double)pair.exchange_ps;
}

/* NAN if the exchanges were not finished. Mistakes were found by prepare. */
static double measure(const struct validate_row *row, const struct fabric *fabric,
                      const struct measurement *measurement) {
    struct training_setup step;
    struct training_result result;
    struct error error;
    (void)fabric;
    if (!train_setup_init(&step, row->experiment, &error) || !train_setup_take(measurement, &step.exchange) ||
        !train_setup_load(row->experiment, measurement->seed, &step.exchange, &error)) {
        return NAN;
    }
    if (row->parameters.quantity != QUANTITY_TOKENS) {
        return pair_value(row, &step, &error);
    }
    if (!training_step(&step, NULL, NULL, &result, &error)) {
        return NAN;
    }
    const double tokens = train_report_figures(&step, &result).tokens_per_s_gpu;
    training_result_fini(&result);
    return tokens;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    return validate_seeds(row, run, measure, error);
}

const struct validate_kind validate_step = {
    .name = "training_step",
    .doc = "throughput of a training step, or of two passes together what exchanges take and what of them is hidden",
    .keys = keys,
    .n_keys = sizeof keys / sizeof keys[0],
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
