// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "command/ranks.h"
#include "command/study.h"
#include "engine/mpi_exchange.h"

const struct arguments_grammar command_compare_grammar = {
    .command = "compare",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_POLICY | ARGUMENTS_MODEL | ARGUMENTS_SEED | ARGUMENTS_SET |
               ARGUMENTS_THREADS | ARGUMENTS_DETAIL | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description = "Simulates every policy of a configuration with every seed, on the same traffic, prints one table "
                   "with a column a\n"
                   "policy, and writes all runs into one HDF5 file.",
    .examples = "  moefabric compare configs/quickstart-collision.yaml -o collision.h5\n"
                "  moefabric compare configs/quickstart-incast.yaml --set seeds=5 --json\n",
};

static int simulate_all(const struct arguments *given, int n_arguments, char **arguments) {
    struct experiment experiment;
    const enum exit_code code = arguments_experiment(given, &experiment);
    if (code != EXIT_CODE_OK) {
        return (int)code;
    }
    uint32_t policies[2 * EXPERIMENT_COLUMNS];
    uint32_t n_policies = experiment.n_policies;
    for (uint32_t p = 0; p < n_policies; p++) {
        policies[p] = p;
    }
    if (given->policy) {
        n_policies = 1;
        if (!study_find_policy(&experiment, given->policy, &policies[0])) {
            return EXIT_CODE_USAGE;
        }
    }
    if (experiment.network_model == EXPERIMENT_NETWORK_BOTH) {
        for (uint32_t column = 2 * n_policies; column-- > 0;) {
            policies[column] = policies[column / 2];
        }
        n_policies *= 2;
    }
    return study(given, &experiment, policies, n_policies, n_arguments, arguments);
}

int command_compare(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    if (!arguments_read(&given, &command_compare_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    struct error error;
    if (!ranks_start(&given, &error)) {
        error_print(stderr, &error);
        mpi_exchange_finish(given.exchange);
        return (int)error.exit_code;
    }
    code = simulate_all(&given, n_arguments, arguments);
    mpi_exchange_finish(given.exchange);
    return code;
}
