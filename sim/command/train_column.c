// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_column.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "command/train_setup.h"

#include <math.h>
#include <stdlib.h>

bool train_column_fill(struct train_column *column, const struct experiment *experiment,
                       const struct training_setup *setup, struct measurement *const *measurements, const double *loads,
                       struct error *error) {
    const uint32_t n = experiment->n_seeds;
    struct training_exchange sum = {0};
    column->least_step_s = INFINITY;
    for (uint32_t seed = 0; seed < n; seed++) {
        struct training_setup of_seed = *setup;
        struct training_result result;
        if (measurements[seed] == NULL || !train_setup_take(measurements[seed], &of_seed.exchange)) {
            return error_set(error, EXIT_CODE_LIMIT, ERROR_ID_RUN_LIMIT,
                             "%s, seed %llu: the exchange was not finished, so no step can be made of it",
                             column->policy, (unsigned long long)experiment->seeds[seed]);
        }
        of_seed.exchange.expert_load = loads[seed];
        if (!training_step(&of_seed, NULL, NULL, &result, error)) {
            return false;
        }
        const struct train_figures figures = train_report_figures(&of_seed, &result);
        for (int phase = 0; phase < TRAINING_PHASES; phase++) {
            sum.phase_ps[phase] += of_seed.exchange.phase_ps[phase];
        }
        sum.expert_load += loads[seed];
        column->least_step_s = fmin(column->least_step_s, figures.step_s);
        column->most_step_s = fmax(column->most_step_s, figures.step_s);
        training_result_fini(&result);
    }
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        column->exchange.phase_ps[phase] = sum.phase_ps[phase] / n;
    }
    column->exchange.expert_load = sum.expert_load / n;
    struct training_setup mean = *setup;
    struct training_result result;
    mean.exchange = column->exchange;
    if (!training_step(&mean, NULL, NULL, &result, error)) {
        return false;
    }
    column->mean = train_report_figures(&mean, &result);
    training_result_fini(&result);
    return true;
}

bool train_column_fill_all(struct train_column *columns, const struct batch *batch, const struct training_setup *setup,
                           const struct batch_result *result, struct error *error) {
    const struct experiment *experiment = batch->experiment;
    double *loads = memory_allocate(experiment->n_seeds, sizeof *loads);
    bool done = true;
    for (uint32_t seed = 0; seed < experiment->n_seeds && done; seed++) {
        done = train_setup_load(experiment, experiment->seeds[seed], &loads[seed], error);
    }
    for (uint32_t p = 0; p < batch->n_policies && done; p++) {
        columns[p].policy = experiment->policies[batch->policies[p]].name;
        done = train_column_fill(&columns[p], experiment, setup, result->measurements + (size_t)p * experiment->n_seeds,
                                 loads, error);
    }
    free(loads);
    return done;
}
