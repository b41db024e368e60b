// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/export.h"

#include "base/error_id.h"
#include "command/arguments.h"
#include "command/command.h"
#include "results/sweep_csv.h"
#include "results/sweep_load.h"

#include <stdio.h>

const struct arguments_grammar command_export_grammar = {
    .command = "export",
    .operand = "RESULT",
    .operand_required = true,
    .options = ARGUMENTS_FOLDER | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Writes the tables of a result file as CSV files into a new folder, all runs under each other, and with "
        "them\ncounters.csv: what NICs and ports counted under the names of ethtool and of RDMA's hw_counters.\n"
        "Of a sweep: points.csv, runs.csv (every metric of every run beside what its point sets) and metrics.csv.\n"
        "With --json prints all tables as one JSON document instead.",
    .examples = "  moefabric export quickstart-collision.h5 --folder collision\n"
                "  moefabric export quickstart-collision.h5 --json > collision.json\n",
};

static int refuse_nowhere(void) {
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "where to?");
    error_hint(&error, "give a new folder for CSV files with --folder, or --json");
    error_print(stderr, &error);
    return EXIT_CODE_USAGE;
}

static bool write_out(const struct arguments *given, const struct load *load, struct error *error) {
    if (given->json) {
        struct json json = json_begin(stdout);
        export_json(load, &json);
        json_end(&json);
        return true;
    }
    if (!export_csv(load, given->folder, error)) {
        return false;
    }
    if (!given->quiet) {
        fprintf(stderr, "tables: %s (columns: results/README.md)\n", given->folder);
    }
    return true;
}

/* points.csv, runs.csv and metrics.csv of a sweep. */
static bool export_sweep(const struct arguments *given, struct error *error) {
    struct sweep_table *table = sweep_load_read(given->operand, error);
    bool done = table != NULL;
    if (done && given->json) {
        struct json json = json_begin(stdout);
        sweep_csv_json(table, &json);
        json_end(&json);
    } else if (done) {
        done = sweep_csv_export(table, given->folder, error);
        if (done && !given->quiet) {
            fprintf(stderr, "tables: %s (columns: results/README.md)\n", given->folder);
        }
    }
    sweep_table_free(table);
    return done;
}

static bool export_runs(const struct arguments *given, struct error *error) {
    struct load *load = load_read(given->operand, error);
    const bool done = load != NULL && write_out(given, load, error);
    load_free(load);
    return done;
}

int command_export(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_export_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (!given.json && given.folder == NULL) {
        return refuse_nowhere();
    }
    if (!(sweep_load_is_sweep(given.operand) ? export_sweep : export_runs)(&given, &error)) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    return EXIT_CODE_OK;
}
