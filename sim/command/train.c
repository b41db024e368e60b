// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "command/arguments.h"
#include "command/batch.h"
#include "command/command.h"
#include "command/failures.h"
#include "command/spare.h"
#include "command/study.h"
#include "command/train_column.h"
#include "command/train_goodput.h"
#include "command/train_json.h"
#include "command/train_levers.h"
#include "command/train_recommender.h"
#include "command/train_report.h"
#include "command/train_setup.h"
#include "command/train_stragglers.h"
#include "command/train_trace.h"
#include "fabric/builder.h"
#include "training/training_memory.h"

#include <math.h>
#include <stdlib.h>

const struct arguments_grammar command_train_grammar = {
    .command = "train",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_POLICY | ARGUMENTS_SEED | ARGUMENTS_SET | ARGUMENTS_THREADS |
               ARGUMENTS_CACHE | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .output = "where to write the timeline of a step (default: none is written)",
    .description =
        "Simulates dispatch and combine of one layer with every policy and seed, and puts them into a training step "
        "(section `training`):\n"
        "layers on a pipeline, computing by operations and peaks, what of the exchanges is hidden behind it, waiting, "
        "gradients. Then each\n"
        "cause is taken away in turn. A dense model has no such exchanges: nothing is simulated; a recommender's is of "
        "vectors of its tables.\n"
        "With --output the timeline of the first policy's step, up to its last gradients, is written in Chrome's trace "
        "format, which\n"
        "Perfetto opens; to a name that ends in .html, as a web page with its charts.\n"
        "With --cache, exchanges that an earlier call has left in the folder are not simulated again.",
    .examples =
        "  moefabric train configs/training-deepseek-v3.yaml\n"
        "  moefabric train configs/training-deepseek-v3.yaml --set training.schedule=1f1b_overlap -o step.json\n"
        "  moefabric train configs/training-deepseek-v3.yaml -o step.html\n",
};

static int fail(const struct error *error) {
    error_print(stderr, error);
    return (int)error->exit_code;
}

/* Before anything is simulated: can the model be cut so, and does it fit? */
static bool check_step(const struct training_setup *setup, struct error *error) {
    struct training_result result;
    if (!training_step(setup, NULL, NULL, &result, error)) {
        return false;
    }
    const bool fits = training_memory_check(setup, &result.memory, error);
    if (!fits && setup->recommender != NULL) {
        error_hint(error, "tables are spread over all GPUs: the more there are, the less each holds");
    }
    training_result_fini(&result);
    return fits;
}

/* Writes the timeline if it was asked for. */
static bool write_trace(const struct arguments *given, const struct training_setup *setup,
                        const struct train_column *columns, uint32_t n_columns, uint32_t seeds, struct error *error) {
    struct training_setup traced = *setup;
    traced.exchange = columns[0].exchange;
    if (given->output != NULL && train_json_is_page(given->output)) {
        return train_json_page(given->output, setup, columns, n_columns, seeds, error);
    }
    return given->output == NULL || train_trace_write(given->output, &traced, error);
}

/* What goes wrong: in a step, and between steps. */
static bool report_wrongs(const struct arguments *given, const struct batch *batch, const struct training_setup *setup,
                          const struct train_column *columns, uint32_t n_columns, struct error *error) {
    return train_stragglers_report(stdout, batch, setup, given->cache, columns, n_columns, error) &&
           train_goodput_report(stdout, batch->experiment, setup, columns, n_columns, error);
}

/* All that is known, as tables or as JSON, and the timeline. */
static bool print(const struct arguments *given, const struct batch *batch, const struct training_setup *setup,
                  const struct train_column *columns, uint32_t n_columns, uint32_t seeds, struct error *error) {
    if (given->json) {
        train_json_print(stdout, setup, columns, n_columns, seeds);
    } else {
        train_report_table(stdout, setup, columns, n_columns, seeds);
        if (!train_report_causes(stdout, setup, columns, n_columns, error) ||
            (setup->preset->experts > 0 && !train_levers_print(stdout, setup, &columns[0].exchange,
                                                               n_columns > 1 ? columns[0].policy : NULL, error)) ||
            !report_wrongs(given, batch, setup, columns, n_columns, error)) {
            return false;
        }
    }
    return write_trace(given, setup, columns, n_columns, seeds, error);
}

/* A model without experts: nothing depends on policies and seeds. */
static bool report_dense(const struct arguments *given, const struct experiment *experiment,
                         const struct training_setup *setup, struct error *error) {
    const struct batch batch = {.experiment = experiment};
    struct train_column column = {.policy = "every policy", .exchange = setup->exchange};
    struct training_result result;
    if (!training_step(setup, NULL, NULL, &result, error)) {
        return false;
    }
    column.mean = train_report_figures(setup, &result);
    if (!given->json) {
        train_report_layout(stdout, setup, &result);
    }
    training_result_fini(&result);
    return print(given, &batch, setup, &column, 1, 1, error);
}

/* Stages are cut by what they compute, of which popular experts are a part. */
static bool print_layout(const struct training_setup *setup, const struct train_column *column, struct error *error) {
    struct training_setup of_column = *setup;
    struct training_result result;
    of_column.exchange = column->exchange;
    if (setup->recommender != NULL) {
        return train_recommender_print(stdout, &of_column, error);
    }
    if (!training_step(&of_column, NULL, NULL, &result, error)) {
        return false;
    }
    train_report_layout(stdout, &of_column, &result);
    training_result_fini(&result);
    return true;
}

/* The tables of all policies, once their exchanges are known. */
static bool report(const struct arguments *given, const struct batch *batch, const struct training_setup *setup,
                   struct error *error) {
    struct train_column columns[EXPERIMENT_COLUMNS] = {{0}};
    if (!train_column_fill_all(columns, batch, setup, given->cache, error) ||
        (!given->json && !print_layout(setup, &columns[0], error))) {
        return false;
    }
    return print(given, batch, setup, columns, batch->n_policies, batch->experiment->n_seeds, error);
}

static bool simulate(const struct arguments *given, const struct experiment *experiment, struct training_setup *setup,
                     const uint32_t *policies, uint32_t n_policies, struct error *error) {
    if (train_setup_is_dense(setup)) {
        return report_dense(given, experiment, setup, error);
    }
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    const struct batch batch = {.experiment = experiment,
                                .fabric = fabric,
                                .policies = policies,
                                .n_policies = n_policies,
                                .threads = given->threads,
                                .quiet = given->quiet};
    double nic_share = 1;
    bool done = fabric != NULL && failures_check(experiment, fabric, error) &&
                train_stragglers_nic_share(&nic_share, experiment, fabric, error);
    setup->groups.nic_bytes_per_s *= nic_share;
    done = done && report(given, &batch, setup, error);
    fabric_free(fabric);
    return done;
}

static int train(const struct arguments *given) {
    struct experiment experiment;
    struct training_setup setup;
    struct error error = {0};
    uint32_t policies[EXPERIMENT_COLUMNS], n_policies = 1;
    const enum exit_code code = arguments_experiment(given, &experiment);
    if (code != EXIT_CODE_OK) {
        return (int)code;
    }
    if (experiment.network_model == EXPERIMENT_NETWORK_BOTH) {
        error_set_file(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, given->operand,
                       "`train` takes exchanges of one model, not of both: choose network_model packet or fluid");
        error_hint(&error, "`moefabric compare` puts both models' exchanges side by side");
        return fail(&error);
    }
    if (given->policy != NULL) {
        if (!study_find_policy(&experiment, given->policy, &policies[0])) {
            return EXIT_CODE_USAGE;
        }
    } else {
        n_policies = experiment.n_policies;
        for (uint32_t p = 0; p < n_policies; p++) {
            policies[p] = p;
        }
    }
    const bool writable =
        given->output == NULL || (spare_inputs(given->operand, &experiment, given->output, "--output", &error) &&
                                  file_check_writable(given->output, &error));
    struct straggler_copies copies = {0};
    const bool done = writable && train_setup_init(&setup, &experiment, &error) &&
                      train_goodput_check(&experiment, &setup, &error) &&
                      train_stragglers_init(&copies, &experiment, &setup, &error) && check_step(&setup, &error) &&
                      simulate(given, &experiment, &setup, policies, n_policies, &error);
    straggler_copies_fini(&copies);
    if (!done) {
        train_setup_locate(&experiment, &error);
        if (error.exit_code == EXIT_CODE_CONFIGURATION && error.file[0] == '\0') { // there is no section to point at
            snprintf(error.file, sizeof error.file, "%s", given->operand);
        }
    }
    return done ? EXIT_CODE_OK : fail(&error);
}

int command_train(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    return arguments_read(&given, &command_train_grammar, n_arguments, arguments, &code) ? train(&given) : code;
}
