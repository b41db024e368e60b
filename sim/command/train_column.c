// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_column.h"

#include "base/memory.h"
#include "command/train_exchanges.h"
#include "training/training_pair.h"

#include <math.h>
#include <stdlib.h>

static void add(struct training_exchange *sum, const struct training_exchange *one) {
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        sum->phase_ps[phase] += one->phase_ps[phase];
        sum->nvlink_bytes[phase] += one->nvlink_bytes[phase];
        sum->nic_bytes[phase] += one->nic_bytes[phase];
    }
    sum->expert_load += one->expert_load;
}

static struct training_exchange mean_of(const struct training_exchange *sum, uint32_t n) {
    struct training_exchange mean = {.expert_load = sum->expert_load / n};
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        mean.phase_ps[phase] = sum->phase_ps[phase] / n;
        mean.nvlink_bytes[phase] = sum->nvlink_bytes[phase] / n;
        mean.nic_bytes[phase] = sum->nic_bytes[phase] / n;
    }
    return mean;
}

/* Dispatch and combine of passes that run together. */
static bool fill_pairs(struct train_figures *figures, const struct training_setup *setup, struct error *error) {
    struct training_pair pair;
    if (setup->preset->experts == 0 || setup->training->schedule != EXPERIMENT_SCHEDULE_1F1B_OVERLAP) {
        return true;
    }
    if (!training_pair_all(setup, &pair, error)) {
        return false;
    }
    figures->pair_hidden_share = pair.exchange_ps > 0 ? (double)pair.hidden_ps / (double)pair.exchange_ps : 1;
    return true;
}

/* Of a policy that is named; exchanges: one a seed. */
static bool fill(struct train_column *column, const struct training_setup *setup,
                 const struct training_exchange *exchanges, uint32_t n, struct error *error) {
    struct training_exchange sum = {0};
    column->least_step_s = INFINITY;
    for (uint32_t seed = 0; seed < n; seed++) {
        struct training_setup of_seed = *setup;
        struct training_result result;
        of_seed.exchange = exchanges[seed];
        if (!training_step(&of_seed, NULL, NULL, &result, error)) {
            return false;
        }
        const struct train_figures figures = train_report_figures(&of_seed, &result);
        add(&sum, &exchanges[seed]);
        column->least_step_s = fmin(column->least_step_s, figures.step_s);
        column->most_step_s = fmax(column->most_step_s, figures.step_s);
        training_result_fini(&result);
    }
    column->exchange = mean_of(&sum, n);
    struct training_setup mean = *setup;
    struct training_result result;
    mean.exchange = column->exchange;
    if (!training_step(&mean, NULL, NULL, &result, error)) {
        return false;
    }
    column->mean = train_report_figures(&mean, &result);
    training_result_fini(&result);
    return fill_pairs(&column->mean, &mean, error);
}

bool train_column_fill_all(struct train_column *columns, const struct batch *batch, const struct training_setup *setup,
                           const char *cache, struct error *error) {
    const struct experiment *experiment = batch->experiment;
    const uint32_t n_seeds = experiment->n_seeds;
    struct training_exchange *exchanges = memory_allocate((size_t)batch->n_policies * n_seeds, sizeof *exchanges);
    bool done = train_exchanges_find(batch, cache, exchanges, error);
    for (uint32_t p = 0; p < batch->n_policies && done; p++) {
        columns[p].policy = experiment->policies[batch->policies[p]].name;
        done = fill(&columns[p], setup, &exchanges[(size_t)p * n_seeds], n_seeds, error);
    }
    free(exchanges);
    return done;
}
