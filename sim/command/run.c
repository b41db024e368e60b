// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/ranks.h"
#include "command/study.h"
#include "engine/mpi_exchange.h"

const struct arguments_grammar command_run_grammar = {
    .command = "run",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_POLICY | ARGUMENTS_MODEL | ARGUMENTS_SEED | ARGUMENTS_SET |
               ARGUMENTS_THREADS | ARGUMENTS_DETAIL | ARGUMENTS_SERIES | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Simulates one policy of a configuration with its first seed, prints a summary and writes one HDF5 file.\n"
        "A configuration with several policies needs --policy.",
    .examples = "  moefabric run configs/single-flow.yaml\n"
                "  moefabric run configs/quickstart-collision.yaml --policy 1 --seed 7 -o ecmp.h5\n",
};

static int simulate_one(const struct arguments *given, int n_arguments, char **arguments) {
    struct experiment experiment;
    const enum exit_code code = arguments_experiment(given, &experiment);
    if (code != EXIT_CODE_OK) {
        return (int)code;
    }
    uint32_t policy = 0;
    if (!study_find_policy(&experiment, given->policy, &policy)) {
        return EXIT_CODE_USAGE;
    }
    if (experiment.network_model == EXPERIMENT_NETWORK_BOTH) {
        struct error error;
        error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                  "`run` simulates one model, not both: choose --model packet or fluid");
        error_hint(&error, "`moefabric compare` puts them side by side");
        error_print(stderr, &error);
        return EXIT_CODE_USAGE;
    }
    experiment.n_seeds = 1;
    return study(given, &experiment, &policy, 1, n_arguments, arguments);
}

int command_run(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    if (!arguments_read(&given, &command_run_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    struct error error;
    if (!ranks_start(&given, &error)) {
        error_print(stderr, &error);
        mpi_exchange_finish(given.exchange);
        return (int)error.exit_code;
    }
    code = simulate_one(&given, n_arguments, arguments);
    mpi_exchange_finish(given.exchange);
    return code;
}
