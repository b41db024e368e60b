// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_training.h"

#include "command/train_report.h"
#include "command/train_setup.h"
#include "command/validate_seeds.h"

#include <math.h>

static const char *const required[] = {"configuration", NULL};

static const char *unit(const struct validate_row *row) {
    (void)row;
    return "min";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    struct training_setup step;
    struct error error;
    if (!validate_setup_read(setup, row, NULL, 0)) {
        return false;
    }
    if (!train_setup_init(&step, row->experiment, &error)) {
        return validate_setup_refuse(setup, "%s", error.message);
    }
    return row->experiment->training.steps > 0 || validate_setup_refuse(setup, "a time to train needs training.steps");
}

/* Minutes, once the exchanges are known; NAN if there is no such step. */
static double minutes_of(const struct training_setup *step) {
    struct training_result result;
    struct error error;
    if (!training_step(step, NULL, NULL, &result, &error)) {
        return NAN;
    }
    const struct train_figures figures = train_report_figures(step, &result);
    training_result_fini(&result);
    return train_report_run_s(step->training, &figures) / 60;
}

/* Minutes; NAN if the exchanges were not finished. Its mistakes were found by prepare. */
static double minutes(const struct validate_row *row, const struct fabric *fabric,
                      const struct measurement *measurement) {
    struct training_setup step;
    struct error error;
    (void)fabric;
    if (!train_setup_init(&step, row->experiment, &error) || !train_setup_take(measurement, &step.exchange) ||
        !train_setup_load(row->experiment, measurement->seed, &step.exchange.expert_load, &error)) {
        return NAN;
    }
    return minutes_of(&step);
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    struct training_setup step;
    if (!train_setup_init(&step, row->experiment, error)) {
        return false;
    }
    if (train_setup_is_dense(&step)) {
        run->simulated = minutes_of(&step);
        return true;
    }
    return validate_seeds(row, run, minutes, error);
}

const struct validate_kind validate_time_to_train = {
    .name = "time_to_train",
    .doc = "time of all steps of a configuration's `training` and their evaluations, exchanges as simulated",
    .keys = NULL,
    .n_keys = 0,
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
