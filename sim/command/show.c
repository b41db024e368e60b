// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "results/comparison.h"
#include "results/comparison_table.h"
#include "results/load.h"
#include "results/sweep_csv.h"
#include "results/sweep_load.h"
#include "results/sweep_print.h"

#include <stdio.h>

const struct arguments_grammar command_show_grammar = {
    .command = "show",
    .operand = "RESULT",
    .operand_required = true,
    .options = ARGUMENTS_DETAIL | ARGUMENTS_JSON,
    .description =
        "Prints the table of a result file again, as `run`, `compare` and `sweep` printed it, without simulating.",
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

static int show_sweep(const struct arguments *given) {
    struct error error = {0};
    struct sweep_table *table = sweep_load_read(given->operand, &error);
    if (table == NULL) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    if (given->json) {
        struct json json = json_begin(stdout);
        sweep_csv_json(table, &json);
        json_end(&json);
    } else {
        sweep_print(table, given->detail, stdout);
    }
    sweep_table_free(table);
    return EXIT_CODE_OK;
}

int command_show(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_show_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (sweep_load_is_sweep(given.operand)) {
        return show_sweep(&given);
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
