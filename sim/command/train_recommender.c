// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_recommender.h"

#include "base/error_id.h"
#include "base/table.h"
#include "config/experiment_place.h"
#include "training/recommender.h"
#include "training/training_memory.h"

#include <inttypes.h>
#include <math.h>

static bool check_gpus(const struct training_setup *setup, const struct experiment *experiment, struct error *error) {
    const uint32_t simulated = experiment->topology.racks * experiment->topology.gpus_used;
    if (setup->groups.gpus == simulated) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "training.gpus is %" PRIu32 ", the cluster has %" PRIu32
              " GPUs: a recommender's tables are spread over all that train, so all have to be simulated",
              setup->groups.gpus, simulated);
    return experiment_place_blame(&setup->training->key_places[EXPERIMENT_TRAINING_GPUS], error);
}

bool train_recommender_check(const struct training_setup *setup, const struct experiment *experiment,
                             struct error *error) {
    if (!check_gpus(setup, experiment, error)) {
        return false;
    }
    struct table_plan plan = recommender_plan(setup);
    const uint64_t bytes = recommender_message_bytes(setup, &plan), samples = recommender_samples(setup);
    const uint32_t pieces = table_plan_most_pieces(&plan);
    table_plan_fini(&plan);
    if (pieces == 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "training.copied_tables: every GPU would have all tables, so nothing is exchanged");
    }
    if (experiment->traffic.bytes == bytes) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "a GPU has for every other vectors of %" PRIu32 " piece%s of tables × %" PRIu32 " elements of %" PRIu64
              " B × %" PRIu64 " samples = %" PRIu64 " B, traffic.bytes says %" PRIu64 " B",
              pieces, pieces > 1 ? "s" : "", setup->recommender->width,
              bytes / pieces / setup->recommender->width / samples, samples, bytes, experiment->traffic.bytes);
    error_hint(error, "traffic: {pattern: all_to_all, bytes: %" PRIu64 " B}", bytes);
    return experiment_place_blame(&experiment->traffic.bytes_place, error);
}

/* The busiest GPU, and all of them. */
static void print_tables(FILE *stream, const struct training_setup *setup) {
    const struct recommender_shape *shape = setup->recommender;
    struct table_plan plan = recommender_plan(setup);
    const struct table_plan_copies copies = table_plan_copied(&plan);
    double busiest = 0;
    for (uint32_t gpu = 0; gpu < plan.gpus; gpu++) {
        busiest = fmax(busiest, table_plan_looked_up(&plan, gpu));
    }
    fprintf(stream,
            "training  %s on %" PRIu32 " %s: %" PRIu32 " tables in %" PRIu32 " pieces, at most %" PRIu32
            " on a GPU; on each %" PRIu32 " tables and matrices of %.4g million elements\n",
            shape->name, plan.gpus, setup->gpu->name, shape->n_tables - copies.tables, plan.first[plan.gpus],
            table_plan_most_pieces(&plan), copies.tables, recommender_shape_dense(shape) / 1e6);
    fprintf(stream,
            "step      %" PRIu32 " samples, %" PRIu64 " a GPU; a sample looks up %" PRIu32
            " rows, of spread tables at most %.4g on one GPU (mean %.4g)\n",
            setup->training->global_batch, recommender_samples(setup), recommender_shape_looked_up(shape), busiest,
            ((double)recommender_shape_looked_up(shape) - copies.looked_up) / plan.gpus);
    table_plan_fini(&plan);
}

static void add_part(void *context, const struct pipeline_span *span) {
    static const char *const resources[PIPELINE_RESOURCES] = {"computing", "exchange", "gradients"};
    struct table *table = context;
    table_cell(table, "%s", span->name);
    table_cell(table, "%s", resources[span->resource]);
    table_cell(table, "%.1f", (double)span->begin_ps / 1e6);
    table_cell(table, "%.1f", (double)(span->end_ps - span->begin_ps) / 1e6);
}

bool train_recommender_print(FILE *stream, const struct training_setup *setup, struct error *error) {
    struct training_result result;
    struct table *table = table_create();
    table_column(table, "part of a step", TABLE_LEFT);
    table_column(table, "", TABLE_LEFT);
    table_column(table, "from, us", TABLE_RIGHT);
    table_column(table, "takes, us", TABLE_RIGHT);
    const bool done = training_step(setup, add_part, table, &result, error);
    if (done) {
        const struct training_memory *memory = &result.memory;
        print_tables(stream, setup);
        fprintf(
            stream,
            "memory    %.1f of %.0f GB a GPU: rows and matrices %.1f, gradients %.1f, optimiser %.1f, vectors %.1f\n\n",
            training_memory_sum(memory) / 1e9, setup->gpu->memory_gb, memory->weights / 1e9, memory->gradients / 1e9,
            memory->optimiser / 1e9, memory->activations / 1e9);
        table_print(table, stream, 0);
        fputc('\n', stream);
        training_result_fini(&result);
    }
    table_free(table);
    return done;
}
