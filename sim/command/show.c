// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "results/comparison.h"
#include "results/comparison_table.h"
#include "results/load.h"

#include <stdio.h>

const struct arguments_grammar command_show_grammar = {
    .command = "show",
    .operand = "RESULT",
    .operand_required = true,
    .options = ARGUMENTS_DETAIL | ARGUMENTS_JSON,
    .description = "Prints the table of a result file again, as `run` and `compare` printed it, without simulating.",
    .examples = "  moefabric show quickstart-collision.h5\n"
                "  moefabric show quickstart-collision.h5 --detail --json\n",
};

static void print(const struct arguments *given, const struct comparison *comparison) {
    if (given->json) {
        struct json json = json_begin(stdout);
        comparison_json(comparison, &json);
        json_end(&json);
    } else {
        comparison_table_print(comparison, given->detail || comparison->n_policies == 1, stdout);
    }
}

int command_show(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_show_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    struct load *load = load_read(given.operand, &error);
    if (load == NULL) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    struct comparison *comparison = comparison_of_runs(load->runs, load->n_runs);
    print(&given, comparison);
    comparison_free(comparison);
    load_free(load);
    return EXIT_CODE_OK;
}
