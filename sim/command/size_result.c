// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "command/size_study.h"
#include "command/version.h"
#include "results/sweep_store.h"

#include <math.h>
#include <stdio.h>

#define PS_PER_S 1e12

static const char *const target_metrics[SIZE_TARGETS] = {"step_time", "time_to_train", "tokens_per_s", "all_to_all.p99",
                                                         "tokens_per_s_gpu"};

/* A metric of a design, in kept units. */
struct entry {
    const char *name;
    double value;
};

static void add_entries(struct sweep_table *table, struct sweep_run *run, const struct entry *entries, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t metric = sweep_table_metric(table, entries[i].name);
        sweep_table_set_values(table, run, &entries[i].value, &metric, 1);
    }
}

/* A design's figures as those of one run. */
static void add_run(const struct size_study *study, const struct design_figures *design, struct sweep_table *table,
                    struct sweep_point *point) {
    const bool tokens = study->demand.least;
    const bool valued = design->state == DESIGN_FLUID || design->state == DESIGN_PACKETS;
    const struct entry entries[] = {
        {target_metrics[study->target], valued ? design->value.mean * (tokens ? 1 : PS_PER_S) : NAN},
        {"power", study->size.rack_power_watts > 0 ? design->watts : NAN},
        {"network_power", design->network_watts},
        {"cost", design->cost},
        {"goodput", design->goodput},
        {"output_token_time", design->token_s * PS_PER_S},
        {"racks", design->racks},
        {"switches", (double)(design->leaves + design->spines + design->super_spines)},
        {"optical_modules", (double)design->modules},
        {"gpu_memory", design->memory_bytes},
    };
    point->runs = memory_allocate(1, sizeof *point->runs);
    point->n_runs = 1;
    snprintf(point->runs[0].policy, sizeof point->runs[0].policy, "%.50s%s", design->policy,
             design->state == DESIGN_PACKETS ? "" : " (fluid)");
    point->runs[0].outcome = MEASUREMENT_FINISHED;
    add_entries(table, &point->runs[0], entries, sizeof entries / sizeof entries[0]);
}

bool size_result_write(const struct size_study *study, const char *path, struct error *error) {
    const char *axes[EXPERIMENT_AXES];
    for (uint32_t a = 0; a < study->n_axes; a++) {
        axes[a] = study->axes[a];
    }
    struct sweep_table *table = sweep_table_create(study->name, version_number(), study->n_axes, axes);
    for (uint32_t i = 0; i < study->n_designs; i++) {
        const struct design_figures *design = &study->designs[i];
        struct sweep_point *point =
            sweep_table_add_point(table, design->number, (const char *const *)study->labels[i].values);
        point->outcome = design->state == DESIGN_REFUSED  ? SWEEP_REFUSED
                         : design->state == DESIGN_FAILED ? SWEEP_FAILED
                                                          : SWEEP_DONE;
        sweep_table_set_text(&point->error, design->why);
        if (point->outcome == SWEEP_DONE) {
            add_run(study, design, table, point);
        }
    }
    const bool done = sweep_store_write(table, path, error);
    sweep_table_free(table);
    return done;
}
