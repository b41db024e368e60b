// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_stragglers.h"

#include "base/memory.h"
#include "base/rate.h"
#include "base/table.h"
#include "command/failures.h"
#include "command/plan.h"
#include "command/train_column.h"
#include "command/train_setup.h"
#include "fabric/builder.h"
#include "workload/moe_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_FACTOR 0.9995 /* mean ÷ busiest stage: nearer to 1 is not seen in four digits */
enum { CAUSE_SIZE = 3 * EXPERIMENT_NAME_SIZE };

/* The table, while it is filled. */
struct telling {
    const struct batch *batch;
    const struct training_setup *setup;
    const char *cache; /* NULL: none */
    const struct train_column *columns;
    uint32_t n_columns, n_rows;
    struct table *table;
    struct error *error;
};

/* ---- slow GPUs ---- */

/* Of the first expert-parallel group: all groups have the same load. NULL for a dense model. */
static double *loads_of(const struct experiment *experiment, const struct training_setup *setup, struct error *error) {
    struct plan plan;
    if (setup->preset->experts == 0 || !plan_init(&plan, experiment, false, experiment->seeds[0], error)) {
        return NULL;
    }
    const uint32_t ranks = experiment->topology.racks * experiment->topology.gpus_used;
    double *loads = memory_allocate(setup->groups.expert, sizeof *loads);
    for (uint32_t i = 0; i < setup->groups.expert; i++) {
        loads[i] = i < ranks ? (double)moe_summary_rank_tokens(plan.moe, i) : 1;
    }
    plan_fini(&plan);
    return loads;
}

static bool fill_copies(struct straggler_copies *copies, const struct experiment *experiment,
                        const struct experiment_stragglers *stragglers, const struct training_setup *setup,
                        struct error *error) {
    *copies = (struct straggler_copies){0};
    error->exit_code = EXIT_CODE_OK;
    double *loads = loads_of(experiment, setup, error);
    const bool done =
        error->exit_code == EXIT_CODE_OK &&
        straggler_copies_fill(copies, stragglers, &setup->groups, experiment->training.group_order, loads, error);
    free(loads);
    return done;
}

bool train_stragglers_init(struct straggler_copies *copies, const struct experiment *experiment,
                           struct training_setup *setup, struct error *error) {
    const struct experiment_stragglers *stragglers = &experiment->training.stragglers;
    *copies = (struct straggler_copies){0};
    if (!straggler_present(stragglers)) {
        return true;
    }
    setup->copies = copies;
    return fill_copies(copies, experiment, stragglers, setup, error);
}

/* ---- slow NICs ---- */

/* Rate of an endpoint's NIC in one direction, all planes. */
static double nic_rate(const struct fabric *fabric, const double *rates, uint32_t endpoint, bool out) {
    const struct fabric_device *device = &fabric->devices[endpoint];
    double rate = 0;
    for (uint32_t port = device->first_port; port < device->first_port + device->n_ports; port++) {
        const uint32_t link = out ? port : fabric->links[port].reverse;
        if (fabric->links[link].kind == FABRIC_ETHERNET) {
            rate += rates == NULL ? (double)fabric->links[link].rate_bits_per_s : rates[link];
        }
    }
    return rate;
}

bool train_stragglers_nic_share(double *share, const struct experiment *experiment, const struct fabric *fabric,
                                struct error *error) {
    struct failure_list list;
    *share = 1;
    if (experiment->n_failures == 0) {
        return true;
    }
    if (!failures_init(&list, experiment, fabric, error)) {
        return false;
    }
    double *rates = memory_allocate(fabric->n_links, sizeof *rates);
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        rates[link] = (double)fabric->links[link].rate_bits_per_s;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const struct failure *failure = &list.failures[i];
        if (failure->kind == FAILURE_SLOW && failure->from_ps == 0 && failure->until_ps == TIME_NEVER) {
            rates[failure->link] *= (double)fabric->links[failure->link].ps_per_byte / (double)failure->ps_per_byte;
        }
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const struct fabric_link *place = &fabric->links[list.failures[i].link];
        const bool out = place->tail_device < fabric->n_endpoints;
        const uint32_t endpoint = out ? place->tail_device : place->head_device;
        if (place->kind == FABRIC_ETHERNET && endpoint < fabric->n_endpoints) {
            *share = fmin(*share, nic_rate(fabric, rates, endpoint, out) / nic_rate(fabric, NULL, endpoint, out));
        }
    }
    free(rates);
    failures_fini(&list);
    return true;
}

/* ---- the table ---- */

/* A row of steps that need no simulation. */
static bool row_of_step(struct telling *telling, const char *name, const struct straggler_copies *copies) {
    table_cell(telling->table, "%s", name);
    telling->n_rows++;
    for (uint32_t i = 0; i < telling->n_columns; i++) {
        struct training_setup changed = *telling->setup;
        struct training_result result;
        changed.copies = copies;
        changed.exchange = telling->columns[i].exchange;
        if (!training_step(&changed, NULL, NULL, &result, telling->error)) {
            return false;
        }
        train_report_changed_cell(telling->table, &telling->columns[i], (double)result.step_ps / 1e12);
        training_result_fini(&result);
    }
    return true;
}

static bool without_slow(struct telling *telling, const char *name, const struct experiment_stragglers *left) {
    struct straggler_copies copies;
    const bool done = fill_copies(&copies, telling->batch->experiment, left, telling->setup, telling->error) &&
                      row_of_step(telling, name, straggler_present(left) ? &copies : NULL);
    straggler_copies_fini(&copies);
    return done;
}

static bool slow_rows(struct telling *telling) {
    const struct experiment_stragglers *stragglers = &telling->batch->experiment->training.stragglers;
    struct experiment_stragglers left = *stragglers;
    left.slow_gpu_clock = 1;
    if (straggler_present(stragglers) && stragglers->slow_gpus[0] != '\0' && stragglers->slow_gpu_clock < 1 &&
        !without_slow(telling, "slow GPUs at full clock", &left)) {
        return false;
    }
    left = *stragglers;
    left.clock_deviation = 0;
    return stragglers->clock_deviation == 0 || without_slow(telling, "clocks of all GPUs alike", &left);
}

/* Picoseconds; 0 where a stage computes nothing, as one of the embedding alone: no clock takes it to the mean. */
static double mean_computing(const struct training_result *result) {
    double sum = 0;
    for (uint32_t stage = 0; stage < result->n_stages; stage++) {
        if (result->stages[stage].compute_ps == 0) {
            return 0;
        }
        sum += (double)result->stages[stage].compute_ps;
    }
    return sum / result->n_stages;
}

/* All stages compute as long as the mean of them: what the slowest copy has, taken to that. No row where they do, or cannot. */
static bool imbalance_row(struct telling *telling) {
    struct training_setup mean = *telling->setup;
    struct training_result result;
    mean.exchange = telling->columns[0].exchange;
    if (!training_step(&mean, NULL, NULL, &result, telling->error)) {
        return false;
    }
    struct straggler_copies even = {.n = 1, .stages = result.n_stages};
    even.slowness = memory_allocate(result.n_stages, sizeof *even.slowness);
    const double computing_ps = mean_computing(&result);
    double least = 1;
    for (uint32_t stage = 0; computing_ps > 0 && stage < result.n_stages; stage++) {
        const double factor = computing_ps / (double)result.stages[stage].compute_ps;
        least = fmin(least, factor);
        const struct straggler_copies *copies = telling->setup->copies;
        const struct straggler_slowness now = copies == NULL || copies->n == 0
                                                  ? (struct straggler_slowness){1, 1}
                                                  : copies->slowness[(size_t)result.copy * copies->stages + stage];
        even.slowness[stage] = (struct straggler_slowness){now.dense * factor, now.experts * factor};
    }
    const bool done = least > LEAST_FACTOR || row_of_step(telling, "all stages computing alike", &even);
    straggler_copies_fini(&even);
    training_result_fini(&result);
    return done;
}

/* ---- what has to be simulated again ---- */

static bool simulate_again(struct telling *telling, const struct experiment *changed, struct train_column *columns) {
    struct fabric *fabric = fabric_build(&changed->topology, telling->error);
    struct training_setup setup = *telling->setup;
    struct straggler_copies copies = {0};
    struct batch batch = *telling->batch;
    double now = 1, then = 1;
    batch.experiment = changed;
    batch.fabric = fabric;
    bool done = fabric != NULL &&
                train_stragglers_nic_share(&now, telling->batch->experiment, telling->batch->fabric, telling->error) &&
                train_stragglers_nic_share(&then, changed, fabric, telling->error);
    if (done) {
        setup.groups.nic_bytes_per_s *= then / now;
        setup.copies = NULL;
        done = train_stragglers_init(&copies, changed, &setup, telling->error) &&
               train_column_fill_all(columns, &batch, &setup, telling->cache, telling->error);
    }
    straggler_copies_fini(&copies);
    fabric_free(fabric);
    return done;
}

static bool row_again(struct telling *telling, const char *name, const struct experiment *changed) {
    struct train_column columns[EXPERIMENT_COLUMNS] = {{0}};
    if (!simulate_again(telling, changed, columns)) {
        return false;
    }
    table_cell(telling->table, "%s", name);
    telling->n_rows++;
    for (uint32_t i = 0; i < telling->n_columns; i++) {
        train_report_changed_cell(telling->table, &telling->columns[i], columns[i].mean.step_s);
    }
    return true;
}

static bool failure_rows(struct telling *telling) {
    static const char *const actions[] = {"down", "slow", "lossy", "slow to receive", "deaf", "mute"};
    const struct experiment *experiment = telling->batch->experiment;
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        struct experiment *changed = memory_allocate(1, sizeof *changed);
        char name[CAUSE_SIZE];
        *changed = *experiment;
        changed->n_failures--;
        memmove(&changed->failures[i], &changed->failures[i + 1],
                (changed->n_failures - i) * sizeof changed->failures[0]);
        snprintf(name, sizeof name, "`%s` not %s", experiment->failures[i].what,
                 actions[experiment->failures[i].action]);
        const bool done = row_again(telling, name, changed);
        free(changed);
        if (!done) {
            return false;
        }
    }
    return true;
}

static bool other_rows(struct telling *telling) {
    const struct experiment *experiment = telling->batch->experiment;
    const enum experiment_gate gate = experiment->traffic.gate;
    struct experiment *changed = memory_allocate(1, sizeof *changed);
    bool done = true;
    *changed = *experiment;
    changed->topology.fabric.crossed_gpus[0] = '\0';
    if (experiment->topology.fabric.crossed_gpus[0] != '\0') {
        done = row_again(telling, "no NIC on another's rail", changed);
    }
    *changed = *experiment;
    changed->traffic.gate = EXPERIMENT_GATE_BALANCED;
    if (done && (gate == EXPERIMENT_GATE_HOT_EXPERT || gate == EXPERIMENT_GATE_ZIPF ||
                 gate == EXPERIMENT_GATE_DIRICHLET || gate == EXPERIMENT_GATE_MEASURED)) {
        done = row_again(telling, gate == EXPERIMENT_GATE_HOT_EXPERT ? "no hot expert" : "all experts as popular",
                         changed);
    }
    free(changed);
    return done;
}

bool train_stragglers_report(FILE *stream, const struct batch *batch, const struct training_setup *setup,
                             const char *cache, const struct train_column *columns, uint32_t n_columns,
                             struct error *error) {
    struct telling telling = {.batch = batch,
                              .setup = setup,
                              .cache = cache,
                              .columns = columns,
                              .n_columns = n_columns,
                              .table = table_create(),
                              .error = error};
    table_column(telling.table, "step time with", TABLE_LEFT);
    for (uint32_t i = 0; i < n_columns; i++) {
        table_column(telling.table, columns[i].policy, TABLE_RIGHT);
    }
    const bool done = slow_rows(&telling) && imbalance_row(&telling) &&
                      (batch->fabric == NULL || (failure_rows(&telling) && other_rows(&telling)));
    if (done && telling.n_rows > 0) {
        fputc('\n', stream);
        table_print(telling.table, stream, 0);
    }
    table_free(telling.table);
    return done;
}
