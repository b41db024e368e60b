// SPDX-License-Identifier: GPL-3.0-or-later
#include "laboratory.h"

#include "base/memory.h"
#include "config/experiment_file.h"
#include "fabric/builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a configuration. */
static struct laboratory prepare(const char *text) {
    struct laboratory laboratory = {.experiment = memory_allocate(1, sizeof(struct experiment))};
    struct error_list *errors = memory_allocate(1, sizeof(*errors));
    const bool good =
        experiment_read_text(GOLDEN_CASES "/text.yaml", text, strlen(text), NULL, 0, laboratory.experiment, errors);
    experiment_report(stderr, errors);
    free(errors);
    ck_assert(good);
    return laboratory;
}

static void run(struct laboratory *laboratory) {
    struct error error;
    laboratory->fabric = fabric_build(&laboratory->experiment->topology, &error);
    ck_assert_ptr_nonnull(laboratory->fabric);
    laboratory->simulation =
        (struct simulation){.experiment = laboratory->experiment,
                            .policy = &laboratory->experiment->policies[0],
                            .fabric = laboratory->fabric,
                            .fluid = laboratory->experiment->network_model == EXPERIMENT_NETWORK_FLUID,
                            .seed = laboratory->experiment->seeds[0],
                            .threads = 1};
    laboratory->measurement = simulation_run(&laboratory->simulation, &error);
    ck_assert_msg(laboratory->measurement != NULL, "%s", error.message);
    ck_assert_int_eq(laboratory->measurement->outcome, MEASUREMENT_FINISHED);
}

struct laboratory laboratory_run(const char *text) {
    struct laboratory laboratory = prepare(text);
    run(&laboratory);
    return laboratory;
}

struct laboratory laboratory_run_workload(const char *text, const char *workload) {
    struct laboratory laboratory = prepare(text);
    char *path = laboratory.experiment->workload_path;
    strcpy(path, "/tmp/moefabric-workload-XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, workload, strlen(workload)), (ssize_t)strlen(workload));
    close(file);
    run(&laboratory);
    ck_assert_int_eq(unlink(path), 0);
    return laboratory;
}

const struct measurement_flow *laboratory_only_flow(const struct laboratory *laboratory, uint32_t phase) {
    const struct measurement *measurement = laboratory->measurement;
    const struct measurement_flow *only = NULL;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        if (measurement->flows[i].phase == phase) {
            ck_assert_ptr_null(only);
            only = &measurement->flows[i];
        }
    }
    ck_assert_ptr_nonnull(only);
    return only;
}

void laboratory_fini(struct laboratory *laboratory) {
    measurement_free(laboratory->measurement);
    fabric_free(laboratory->fabric);
    free(laboratory->experiment);
    *laboratory = (struct laboratory){0};
}
