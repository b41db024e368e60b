// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/sweep_point.h"

#include "base/file.h"
#include "base/hash.h"
#include "command/batch.h"
#include "command/estimate.h"
#include "command/failures.h"
#include "command/flow_level.h"
#include "command/record.h"
#include "command/version.h"
#include "config/configuration.h"
#include "fabric/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 2 * ERROR_MESSAGE_SIZE + ERROR_FILE_SIZE };

/** The text with its NUL, so that neighbours do not run together. */
static uint64_t add_text(uint64_t hash, const char *text) {
    return hash_bytes(hash, text, strlen(text) + 1);
}

/** A file's bytes, if there is one: only what it holds counts, not where it is. */
static uint64_t add_file(uint64_t hash, const char *path) {
    char buffer[4096];
    size_t size;
    FILE *stream = path[0] != '\0' ? fopen(path, "rbe") : NULL;
    if (stream == NULL) {
        return add_text(hash, "");
    }
    while ((size = fread(buffer, 1, sizeof buffer, stream)) > 0) {
        hash = hash_bytes(hash, buffer, size);
    }
    fclose(stream);
    return add_text(hash, "");
}

uint64_t sweep_point_hash(const struct experiment *experiment, char **resolved) {
    uint64_t hash = 0;
    *resolved = configuration_resolved_text(experiment, NULL);
    hash = add_text(hash, version_number());
    hash = add_text(hash, version_commit());
    hash = add_text(hash, *resolved);
    hash = add_file(hash, experiment->matrix_path);
    hash = add_file(hash, experiment->workload_path);
    hash = add_file(hash, experiment->traffic.routing.path);
    hash = add_file(hash, experiment->placement.path);
    return hash;
}

char *sweep_point_error(const struct error *error, char *buffer, size_t size) {
    const char *slash = strrchr(error->file, '/'), *file = slash != NULL ? slash + 1 : error->file;
    size_t length = 0;
    buffer[0] = '\0';
    if (file[0] != '\0' && error->line > 0) {
        length = (size_t)snprintf(buffer, size, "%s:%u:%u: ", file, error->line, error->column);
    } else if (file[0] != '\0') {
        length = (size_t)snprintf(buffer, size, "%s: ", file);
    }
    snprintf(buffer + length, size - length, "%s%s%s", error->message, error->hint[0] != '\0' ? "; " : "", error->hint);
    return buffer;
}

static void set_error(struct sweep_point *point, enum sweep_outcome outcome, const struct error *error) {
    char line[LINE_SIZE];
    point->outcome = outcome;
    sweep_table_set_text(&point->error, sweep_point_error(error, line, sizeof line));
}

/** Why runs of a point did not finish, from the first that did not. */
static void note_outcome(struct sweep_point *point, const struct batch_result *result) {
    for (uint32_t i = 0; i < result->count; i++) {
        const struct measurement *measurement = result->measurements[i];
        if (measurement->outcome != MEASUREMENT_FINISHED) {
            char line[LINE_SIZE];
            snprintf(line, sizeof line, "%s, seed %llu: %s%s%.400s", measurement->policy,
                     (unsigned long long)measurement->seed, comparison_outcome_name(measurement->outcome),
                     measurement->diagnosis[0] != '\0' ? ": " : "", measurement->diagnosis);
            sweep_table_set_text(&point->error, line);
            return;
        }
    }
}

/** Takes over what came of it, unless a signal cut it short. */
static void take(struct sweep_table *table, struct sweep_point *point, const struct batch_result *result) {
    if (result->exit_code == EXIT_CODE_INTERRUPTED) {
        return;
    }
    if (result->stopped != MEASUREMENT_FINISHED) {
        point->outcome = SWEEP_FAILED;
        sweep_table_set_text(&point->error, comparison_outcome_name(result->stopped));
        return;
    }
    for (uint32_t i = 0; i < result->count; i++) {
        struct summary *summary = summary_create(result->measurements[i]);
        sweep_table_add_run(table, point, summary);
        summary_free(summary);
    }
    point->outcome = SWEEP_DONE;
    note_outcome(point, result);
}

static void simulate(const struct experiment *experiment, const struct sweep_point_options *options,
                     const struct fabric *fabric, struct sweep_table *table, struct sweep_point *point) {
    uint32_t policies[2 * EXPERIMENT_COLUMNS];
    struct estimate estimate = {0};
    struct error error = {0};
    const bool both = experiment->network_model == EXPERIMENT_NETWORK_BOTH; /* then every policy has two columns */
    const bool packets = experiment->network_model != EXPERIMENT_NETWORK_FLUID;
    const uint32_t n_policies = experiment->n_policies * (both ? 2 : 1);
    for (uint32_t p = 0; p < n_policies; p++) {
        policies[p] = both ? p / 2 : p;
    }
    if (!failures_check(experiment, fabric, &error) || !flow_level_check(experiment, fabric, NULL, &error) ||
        !record_check(experiment, fabric, n_policies, &error) ||
        (packets && options->thousandths != NULL && !estimate_run(experiment, fabric, &estimate, &error))) {
        set_error(point, SWEEP_REFUSED, &error);
        return;
    }
    const struct batch batch = {.experiment = experiment,
                                .fabric = fabric,
                                .policies = policies,
                                .n_policies = n_policies,
                                .threads = options->threads,
                                .expected_hops = estimate.hops,
                                .thousandths = options->thousandths,
                                .quiet = true};
    struct batch_result result;
    if (!batch_run(&batch, &result, &error)) {
        set_error(point, SWEEP_REFUSED, &error);
        return;
    }
    take(table, point, &result);
    batch_result_fini(&result);
}

void sweep_point_simulate(const struct experiment *experiment, const struct sweep_point_options *options,
                          struct sweep_table *table, struct sweep_point *point) {
    struct error error = {0};
    struct fabric *fabric = fabric_build(&experiment->topology, &error);
    if (fabric == NULL) {
        set_error(point, SWEEP_REFUSED, &error);
        return;
    }
    simulate(experiment, options, fabric, table, point);
    fabric_free(fabric);
}
