// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report.h"

#include "base/memory.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/spare.h"
#include "report/report_sweep.h"
#include "results/sweep_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct arguments_grammar command_report_grammar = {
    .command = "report",
    .operand = "RESULT",
    .operand_required = true,
    .more_operands = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_QUIET,
    .output = "where to write the page (default: the name of the first result, with .html, here)",
    .description =
        "Writes one web page with tables, charts and a picture of the fabric for result files. The page is "
        "a single file, needs no\n"
        "network and opens from disk. The result of a sweep has a page of its own: its metrics along the swept keys.",
    .examples = "  moefabric report quickstart-collision.h5\n"
                "  moefabric report collision.h5 incast.h5 -o both.html\n",
};

/** FOLDER/NAME.h5 becomes NAME.html, here. */
static void name_page(const char *result, char *page, size_t size) {
    const char *slash = strrchr(result, '/');
    const char *name = slash != NULL ? slash + 1 : result;
    const char *dot = strrchr(name, '.');
    const size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(page, size, "%.*s.html", (int)length, name);
}

/** Reads all results; on a mistake prints it and returns its exit code, with the ones that were read to be freed all the same. */
static int load_all(const struct arguments *given, struct report_result *results, struct load **loads) {
    struct error error = {0};
    for (uint32_t i = 0; i < given->n_operands; i++) {
        loads[i] = load_read(given->operands[i], &error);
        if (loads[i] == NULL) {
            error_print(stderr, &error);
            return (int)error.exit_code;
        }
        results[i] = (struct report_result){.name = given->operands[i], .load = loads[i]};
    }
    return EXIT_CODE_OK;
}

static int write_page(const struct arguments *given, const struct report_result *results) {
    struct error error = {0};
    char page[ERROR_FILE_SIZE];
    name_page(given->operands[0], page, sizeof page);
    const char *path = given->output != NULL ? given->output : page;
    for (uint32_t i = 0; i < given->n_operands; i++) {
        if (!spare_file(given->operands[i], path, "--output", &error)) {
            error_print(stderr, &error);
            return (int)error.exit_code;
        }
    }
    if (!report_write(results, given->n_operands, path, &error)) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    if (!given->quiet) {
        fprintf(stderr, "report: %s (open it in a browser)\n", path);
    }
    return EXIT_CODE_OK;
}

/** The page of one sweep. */
static int write_sweep(const struct arguments *given) {
    struct error error = {0};
    char page[ERROR_FILE_SIZE];
    name_page(given->operand, page, sizeof page);
    const char *path = given->output != NULL ? given->output : page;
    struct sweep_table *table = sweep_load_read(given->operand, &error);
    const bool done = table != NULL && spare_file(given->operand, path, "--output", &error) &&
                      report_sweep_write(table, path, &error);
    sweep_table_free(table);
    if (!done) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    if (!given->quiet) {
        fprintf(stderr, "report: %s (open it in a browser)\n", path);
    }
    return EXIT_CODE_OK;
}

int command_report(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    if (!arguments_read(&given, &command_report_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (given.n_operands == 1 && sweep_load_is_sweep(given.operand)) {
        return write_sweep(&given);
    }
    struct report_result *results = memory_allocate(given.n_operands, sizeof *results);
    struct load **loads = memory_allocate(given.n_operands, sizeof *loads);
    code = load_all(&given, results, loads);
    if (code == EXIT_CODE_OK) {
        code = write_page(&given, results);
    }
    for (uint32_t i = 0; i < given.n_operands; i++) {
        load_free(loads[i]);
    }
    free(loads);
    free(results);
    return code;
}
