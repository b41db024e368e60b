// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_training.h"

#include "command/train_report.h"
#include "command/train_setup.h"
#include "command/validate_seeds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDES = 8 };

/* Order of the names of key `quantity`. */
enum quantity { QUANTITY_RUN, QUANTITY_STEP, QUANTITY_EVALUATION, QUANTITY_SPEEDUP };

static const char *const quantities[] = {"run", "step", "evaluation", "speedup", NULL};
static const char *const required[] = {"configuration", NULL};

static const struct key keys[] = {
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "run: minutes of all steps and their evaluations (the default); step: seconds of one step; evaluation: "
            "seconds of one evaluation; speedup: that run (without training.steps: that step) under the overrides "
            "`against` ÷ this one.",
     VALIDATE_KIND_FIELD(quantity)},
    {"against", KEY_TEXT,
     .doc = "speedup: overrides KEY=VALUE, with `; ` between them, that make it the run that is compared with.",
     VALIDATE_KIND_FIELD(against)},
};

static const char *unit(const struct validate_row *row) {
    static const char *const units[] = {"min", "s", "s", "×"};
    return units[row->parameters.quantity];
}

static bool check(const struct validate_row *row, const struct experiment *experiment,
                  const struct validate_setup *setup) {
    struct training_setup step;
    struct error error;
    if (!train_setup_init(&step, experiment, &error)) {
        return validate_setup_refuse(setup, "%s", error.message);
    }
    if (row->parameters.quantity == QUANTITY_EVALUATION && experiment->training.evaluation_batch == 0) {
        return validate_setup_refuse(setup, "an evaluation needs training.evaluation_batch");
    }
    return experiment->training.steps > 0 || row->parameters.quantity != QUANTITY_RUN ||
           validate_setup_refuse(setup, "a time to train needs training.steps");
}

/* Cuts `against` into overrides; false if there are none or too many. */
static bool split(const char *text, char own[OVERRIDES][VALIDATE_SETUP_OVERRIDE_SIZE], uint32_t *n) {
    for (*n = 0; *text != '\0' && *n < OVERRIDES; ++*n) {
        const size_t length = strcspn(text, ";");
        snprintf(own[*n], VALIDATE_SETUP_OVERRIDE_SIZE, "%.*s", (int)length, text);
        text += length + strspn(text + length, "; ");
    }
    return *n > 0 && *text == '\0';
}

/* The run that a row is compared with. */
static bool prepare_other(struct validate_row *row, const struct validate_setup *setup) {
    char own[OVERRIDES][VALIDATE_SETUP_OVERRIDE_SIZE];
    struct validate_row other = *row;
    uint32_t n;
    if (!split(row->parameters.against, own, &n)) {
        return validate_setup_refuse(setup, "a speedup is against one to %d overrides: `against`", OVERRIDES);
    }
    if (!validate_setup_read(setup, &other, own, n)) {
        return false;
    }
    row->other = other.experiment;
    return check(row, row->other, setup);
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    if (!validate_setup_read(setup, row, NULL, 0) || !check(row, row->experiment, setup)) {
        return false;
    }
    return row->parameters.quantity != QUANTITY_SPEEDUP || prepare_other(row, setup);
}

/* What a row asks for, once the exchanges are known; NAN if there is no such step. */
static double value_of(const struct training_setup *step, enum quantity quantity) {
    struct training_result result;
    struct error error;
    if (!training_step(step, NULL, NULL, &result, &error)) {
        return NAN;
    }
    const struct train_figures figures = train_report_figures(step, &result);
    training_result_fini(&result);
    switch (quantity) {
    case QUANTITY_STEP:
        return figures.step_s;
    case QUANTITY_EVALUATION:
        return figures.evaluation_s;
    case QUANTITY_SPEEDUP:
        if (step->training->steps == 0) {
            return figures.step_s;
        }
        break;
    case QUANTITY_RUN:
        break;
    }
    return train_report_run_s(step->training, &figures) / 60;
}

/* NAN if the exchanges were not finished. Its mistakes were found by prepare. */
static double measure(const struct validate_row *row, const struct fabric *fabric,
                      const struct measurement *measurement) {
    struct training_setup step;
    struct error error;
    (void)fabric;
    if (!train_setup_init(&step, row->experiment, &error) || !train_setup_take(measurement, &step.exchange) ||
        !train_setup_load(row->experiment, measurement->seed, &step.exchange, &error)) {
        return NAN;
    }
    return value_of(&step, (enum quantity)row->parameters.quantity);
}

static bool run_one(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    struct training_setup step;
    if (!train_setup_init(&step, row->experiment, error)) {
        return false;
    }
    if (train_setup_is_dense(&step)) {
        run->simulated = value_of(&step, (enum quantity)row->parameters.quantity);
        return true;
    }
    return validate_seeds(row, run, measure, error);
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    if (row->parameters.quantity != QUANTITY_SPEEDUP) {
        return run_one(row, run, error);
    }
    struct validate_row other = *row;
    other.experiment = row->other;
    if (!run_one(&other, run, error)) {
        return false;
    }
    const double against = run->simulated;
    const bool done = run_one(row, run, error);
    run->simulated = against / run->simulated;
    return done;
}

const struct validate_kind validate_time_to_train = {
    .name = "time_to_train",
    .doc = "steps of a configuration's `training` and their evaluations, exchanges as simulated",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
