// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/study.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "command/batch.h"
#include "command/command.h"
#include "command/failures.h"
#include "command/flow_level.h"
#include "command/headroom_report.h"
#include "command/preview.h"
#include "command/record.h"
#include "command/spare.h"
#include "command/version.h"
#include "config/configuration.h"
#include "engine/mpi_exchange.h"
#include "fabric/builder.h"
#include "results/comparison.h"
#include "results/comparison_table.h"
#include "results/provenance.h"
#include "results/series.h"
#include "results/series_csv.h"
#include "results/store.h"
#include "results/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says that a policy is not there, or must be chosen, and what there is. */
static bool refuse_policy(const struct experiment *experiment, const char *name) {
    struct error error;
    if (name) {
        error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "the configuration has no policy \"%s\"", name);
    } else {
        error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                  "the configuration has %u policies and one is needed: choose it with --policy NAME or its number",
                  experiment->n_policies);
    }
    size_t length = 0;
    for (uint32_t p = 0; p < experiment->n_policies && length < sizeof(error.hint); p++) {
        length += (size_t)snprintf(error.hint + length, sizeof(error.hint) - length, "%s%u = %s", p ? ", " : "it has ",
                                   p + 1, experiment->policies[p].name);
    }
    error_print(stderr, &error);
    return false;
}

bool study_find_policy(const struct experiment *experiment, const char *name, uint32_t *index) {
    if (!name && experiment->n_policies == 1) {
        *index = 0;
        return true;
    }
    for (uint32_t p = 0; name && p < experiment->n_policies; p++) {
        char number[16];
        snprintf(number, sizeof(number), "%u", p + 1);
        if (strcmp(experiment->policies[p].name, name) == 0 || strcmp(number, name) == 0) {
            *index = p;
            return true;
        }
    }
    return refuse_policy(experiment, name);
}

static int fail(const struct error *error) {
    error_print(stderr, error);
    return error->exit_code;
}

/* The other ranks wait for a run that will not come: they are ended too. */
static int fail_before_run(const struct arguments *arguments, const struct error *error) {
    error_print(stderr, error);
    if (arguments->exchange) {
        mpi_exchange_abort(arguments->exchange, (int)error->exit_code);
    }
    return error->exit_code;
}

static char *output_path(const struct arguments *arguments, const struct experiment *experiment) {
    const size_t size = strlen(arguments->output ? arguments->output : experiment->name) + 4;
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s%s", arguments->output ? arguments->output : experiment->name,
             arguments->output ? "" : ".h5");
    return path;
}

static struct comparison *compare(const struct experiment *experiment, const uint32_t *policies, uint32_t n_policies,
                                  const struct batch_result *result) {
    const char *names[2 * EXPERIMENT_COLUMNS];
    char texts[2 * EXPERIMENT_COLUMNS][MEASUREMENT_NAME_SIZE];
    for (uint32_t p = 0; p < n_policies; p++) {
        const struct simulation simulation = {.experiment = experiment,
                                              .policy = &experiment->policies[policies[p]],
                                              .fluid = batch_is_fluid(experiment, p)};
        simulation_name(&simulation, texts[p]);
        names[p] = texts[p];
    }
    struct comparison *comparison = comparison_create(n_policies, names, experiment->n_seeds);
    for (uint32_t i = 0; i < result->count; i++) {
        if (result->measurements[i]) {
            comparison_set(comparison, i / experiment->n_seeds, i % experiment->n_seeds,
                           summary_create(result->measurements[i]));
        }
    }
    return comparison;
}

/* Every policy must have been shown the same traffic. */
static void check_digests(const struct experiment *experiment, const struct batch_result *result) {
    for (uint32_t i = experiment->n_seeds; i < result->count; i++) {
        const struct measurement *first = result->measurements[i % experiment->n_seeds];
        const struct measurement *other = result->measurements[i];
        REQUIRE(!first || !other || first->totals.traffic_digest == other->totals.traffic_digest,
                "%s and %s were shown different traffic for seed %llu", first->policy, other->policy,
                (unsigned long long)first->seed);
    }
}

/* Every run that was begun goes into the file; how it ended is among its attributes. */
static bool store_all(struct store *store, const struct batch_result *result, struct error *error) {
    for (uint32_t i = 0; i < result->count; i++) {
        if (result->measurements[i] && !store_add_run(store, result->measurements[i], error)) {
            store_discard(store);
            return false;
        }
    }
    return store_commit(store, error);
}

static void print(const struct arguments *arguments, const struct comparison *comparison) {
    if (arguments->json) {
        struct json json = json_begin(stdout);
        comparison_json(comparison, &json);
        json_end(&json);
        return;
    }
    comparison_table_print(comparison, arguments->detail || comparison->n_policies == 1, stdout);
}

/* Says how a run ended that did not finish by itself. */
static void complain_about(const struct measurement *measurement) {
    struct error error;
    if (measurement->outcome == MEASUREMENT_LIMIT) {
        error_set(&error, EXIT_CODE_LIMIT, ERROR_ID_RUN_LIMIT,
                  "%s, seed %llu: not finished within limits.simulated_time", measurement->policy,
                  (unsigned long long)measurement->seed);
        snprintf(error.hint, sizeof(error.hint), "%s", measurement->diagnosis);
        error_print(stderr, &error);
    } else if (measurement->outcome == MEASUREMENT_STALLED) {
        error_set(&error, EXIT_CODE_LIMIT, ERROR_ID_RUN_STALLED,
                  "%s, seed %llu: stalled: nothing arrives any more and not everything was delivered",
                  measurement->policy, (unsigned long long)measurement->seed);
        snprintf(error.hint, sizeof(error.hint), "%s", measurement->diagnosis);
        error_print(stderr, &error);
    }
}

/* Says that the machine's limits ended it all, and how far it had come. */
static void complain_of_machine(const struct batch_result *result) {
    const bool memory = result->stopped == MEASUREMENT_MEMORY;
    uint32_t finished = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        finished += result->measurements[i] && result->measurements[i]->outcome == MEASUREMENT_FINISHED;
    }
    struct error error;
    error_set(&error, EXIT_CODE_LIMIT, memory ? ERROR_ID_RUN_MEMORY : ERROR_ID_RUN_WALL_TIME,
              "stopped by %s: %u of %u runs are finished", memory ? "limits.memory" : "limits.wall_time", finished,
              result->count);
    error_print(stderr, &error);
}

static void complain(const struct batch_result *result) {
    for (uint32_t i = 0; i < result->count; i++) {
        if (result->measurements[i]) {
            complain_about(result->measurements[i]);
        }
    }
    if (result->stopped != MEASUREMENT_FINISHED) {
        complain_of_machine(result);
    }
}

/* Says that the series end before the run does. */
static void note_series(const struct experiment *experiment, const struct batch_result *result) {
    for (uint32_t i = 0; i < result->count; i++) {
        const struct measurement *measurement = result->measurements[i];
        if (measurement && measurement->series && measurement->series->ended_early) {
            char end[QUANTITY_TEXT_SIZE];
            const struct series *series = measurement->series;
            const uint64_t end_ps = series->from_ps + series->n_intervals * series->interval_ps;
            fprintf(stderr, "note: %s: the series of %s ends at %s, before the run does: record.until\n",
                    experiment->name, measurement->policy, quantity_print_short(end, QUANTITY_TIME, (double)end_ps));
        }
    }
}

static int finish(const struct arguments *arguments, const struct experiment *experiment, const uint32_t *policies,
                  uint32_t n_policies, struct store *store, const struct batch_result *result,
                  struct provenance *provenance, const char *path) {
    struct error error = {0};
    if (!store_all(store, result, &error)) {
        return fail(&error);
    }
    struct comparison *comparison = compare(experiment, policies, n_policies, result);
    check_digests(experiment, result);
    print(arguments, comparison);
    complain(result);
    comparison_free(comparison);
    for (uint32_t i = 0; i < result->count; i++) {
        if (result->measurements[i]) {
            provenance->data_hops += result->measurements[i]->totals.data_hops;
            provenance->control_hops += result->measurements[i]->totals.control_hops;
            provenance->simulated_ps += result->measurements[i]->totals.simulated_ps;
        }
    }
    provenance->threads = arguments->threads;
    provenance->exit_code = (int)result->exit_code;
    provenance_stop(provenance);
    if (!provenance_write(provenance, path, &error)) {
        return fail(&error);
    }
    if (arguments->series && result->measurements[0] &&
        !series_csv_write(result->measurements[0], arguments->series, &error)) {
        return fail(&error);
    }
    if (!arguments->quiet) {
        note_series(experiment, result);
        fflush(stdout); // the table first, where both streams go to one place
        fprintf(stderr, "result: %s (layout: results/README.md)\n", path);
    }
    return (int)result->exit_code;
}

/* Opened when there is something to write: a run that is killed leaves nothing behind. */
static struct store *open_store(const struct experiment *experiment, const char *path, struct error *error) {
    char *resolved = configuration_resolved_text(experiment, NULL);
    const struct store_header header = {
        .title = experiment->name, .program_version = version_number(), .configuration = resolved};
    struct store *store = store_open(path, &header, error);
    free(resolved);
    return store;
}

/* That the result can be written is known before anything is simulated. */
static bool can_write(const struct experiment *experiment, const char *path, struct error *error) {
    struct store *store = open_store(experiment, path, error);
    store_discard(store);
    return store != NULL;
}

/* The CSV of the series, asked for on the command line. */
static bool can_write_series(const struct arguments *arguments, const struct experiment *experiment, const char *path,
                             struct error *error) {
    if (!arguments->series) {
        return true;
    }
    if (experiment->record.interval_ps == 0) {
        error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "--series, but the configuration records none");
        error_hint(error, "for example --set 'record.interval=10 us'");
        return false;
    }
    if (spare_is_same(arguments->series, path)) {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                         "the series would replace the result %s: choose another --series", path);
    }
    return spare_inputs(arguments->operand, experiment, arguments->series, "--series", error) &&
           file_check_writable(arguments->series, error);
}

static int simulate(const struct arguments *arguments, const struct experiment *experiment, const uint32_t *policies,
                    uint32_t n_policies, const struct fabric *fabric, struct provenance *provenance, const char *path) {
    struct error error = {0};
    struct estimate estimate = {0};
    const bool preview = !arguments->quiet && experiment->network_model != EXPERIMENT_NETWORK_FLUID;
    if (!failures_check(experiment, fabric, &error) ||
        !flow_level_check(experiment, fabric, arguments->exchange, &error) ||
        !record_check(experiment, fabric, n_policies, &error) ||
        !can_write_series(arguments, experiment, path, &error) ||
        !spare_inputs(arguments->operand, experiment, path, "--output", &error) ||
        !can_write(experiment, path, &error) || (preview && !estimate_run(experiment, fabric, &estimate, &error))) {
        return fail_before_run(arguments, &error);
    }
    if (preview) {
        headroom_report_doubt(stderr, &experiment->topology, fabric);
        preview_print(stderr, experiment, fabric, &estimate, n_policies, arguments->threads);
    }
    const struct batch batch = {.experiment = experiment,
                                .fabric = fabric,
                                .policies = policies,
                                .n_policies = n_policies,
                                .threads = arguments->threads,
                                .exchange = arguments->exchange,
                                .expected_hops = estimate.hops,
                                .quiet = arguments->quiet};
    struct batch_result result;
    if (!batch_run(&batch, &result, &error)) {
        return fail(&error);
    }
    struct store *store = open_store(experiment, path, &error);
    const int code =
        store ? finish(arguments, experiment, policies, n_policies, store, &result, provenance, path) : fail(&error);
    batch_result_fini(&result);
    return code;
}

/* A rank other than 0: takes part in every run, and leaves the words and the file to rank 0. */
static int follow(const struct arguments *arguments, const struct experiment *experiment, const uint32_t *policies,
                  uint32_t n_policies, const struct fabric *fabric) {
    const struct batch batch = {.experiment = experiment,
                                .fabric = fabric,
                                .policies = policies,
                                .n_policies = n_policies,
                                .threads = arguments->threads,
                                .exchange = arguments->exchange,
                                .quiet = true};
    struct batch_result result;
    struct error error;
    if (batch_run(&batch, &result, &error)) {
        batch_result_fini(&result);
    }
    return EXIT_CODE_OK;
}

int study(const struct arguments *arguments, const struct experiment *experiment, const uint32_t *policies,
          uint32_t n_policies, int n_texts, char **texts) {
    struct error error = {0};
    struct fabric *fabric = fabric_build(&experiment->topology, &error);
    if (!fabric) {
        return arguments_are_silent(arguments) ? (int)error.exit_code : fail(&error);
    }
    if (arguments_are_silent(arguments)) {
        const int code = follow(arguments, experiment, policies, n_policies, fabric);
        fabric_free(fabric);
        return code;
    }
    struct provenance provenance = provenance_start(version_number(), n_texts, texts);
    provenance.commit = version_commit();
    provenance.compiler = version_compiler();
    char *path = output_path(arguments, experiment);
    const int code = simulate(arguments, experiment, policies, n_policies, fabric, &provenance, path);
    free(path);
    provenance_free(&provenance);
    fabric_free(fabric);
    return code;
}
