// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/progress.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/validate_folder.h"
#include "command/validate_kind.h"
#include "command/validate_report.h"
#include "command/validate_table.h"
#include "config/experiment_file.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

const struct arguments_grammar command_validate_grammar = {
    .command = "validate",
    .operand = "PATH",
    .options = ARGUMENTS_ONLY | ARGUMENTS_DATA | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description = "Simulates set-ups whose results are known (computed by a law, of a peer simulator, measured, or "
                   "published), and prints\n"
                   "both side by side, one line a value, with a verdict. PATH is a table of reference values or a "
                   "folder of them; without\n"
                   "it those that come with the source, configs/validation\n"
                   "(README.md there tells how to add one). Ends with 0 if all that could be run are met, with 1 if "
                   "one is missed.",
    .examples = "  moefabric validate\n"
                "  moefabric validate --only 'V3.*'\n",
};

/* All lines of a validation, and what it shows of itself while it goes. */
struct work {
    const char *data; /* folder, or NULL */
    struct validate_report_line *lines;
    uint32_t n_lines, done;
    struct progress progress;
    uint64_t hops; /* of rows that are done */
};

/* Reads every table; all mistakes of all of them at once. */
static enum exit_code read_tables(const char *path, struct validate_tables *tables) {
    struct validate_folder folder;
    struct error_list errors = {0};
    struct error error;
    if (!validate_folder_list(path, &folder, &error)) {
        error_print(stderr, &error);
        return error.exit_code;
    }
    for (uint32_t i = 0; i < folder.n_paths; i++) {
        validate_table_read(tables, folder.paths[i], &errors);
    }
    validate_folder_free(&folder);
    return experiment_report(stderr, &errors);
}

/* Rows of files that were not given cannot be run. */
static void note_missing_data(struct validate_tables *tables, const char *data) {
    for (uint32_t t = 0; t < tables->n_tables; t++) {
        for (uint32_t r = 0; r < tables->tables[t].n_rows; r++) {
            struct validate_row *row = &tables->tables[t].rows[r];
            if (!data && row->parameters.data[0] != '\0' && row->needs[0] == '\0') {
                snprintf(row->needs, sizeof(row->needs), "--data with %s", row->parameters.data);
            }
        }
    }
}

static uint32_t count_rows(const struct validate_tables *tables) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < tables->n_tables; t++) {
        n += tables->tables[t].n_rows;
    }
    return n;
}

/* The rows whose ids fit a pattern of the shell (NULL: all), as lines to be filled. */
static struct work work_of(const struct validate_tables *tables, const char *pattern) {
    struct work work = {.lines = memory_allocate(count_rows(tables) + 1, sizeof(*work.lines))};
    for (uint32_t t = 0; t < tables->n_tables; t++) {
        for (uint32_t r = 0; r < tables->tables[t].n_rows; r++) {
            const struct validate_row *row = &tables->tables[t].rows[r];
            if (!pattern || fnmatch(pattern, row->id, 0) == 0) {
                work.lines[work.n_lines++] = (struct validate_report_line){
                    .table = &tables->tables[t], .row = row, .reference = NAN, .simulated = NAN};
            }
        }
    }
    return work;
}

static int refuse_only(const struct validate_tables *tables, const char *pattern) {
    const uint32_t n_rows = count_rows(tables);
    const char **ids = memory_allocate(n_rows + 1, sizeof(*ids));
    struct error error;
    size_t n = 0;
    for (uint32_t t = 0; t < tables->n_tables; t++) {
        for (uint32_t r = 0; r < tables->tables[t].n_rows; r++) {
            ids[n++] = tables->tables[t].rows[r].id;
        }
    }
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "no row is called \"%s\"", pattern);
    const char *nearest = nearest_name(pattern, ids, n);
    if (nearest) {
        error_hint(&error, "did you mean \"%s\"? * and ? stand for other characters", nearest);
    } else {
        error_hint(&error, "there are %u rows, from \"%s\" to \"%s\"; * and ? stand for other characters", n_rows,
                   ids[0], ids[n - 1]);
    }
    error_print(stderr, &error);
    free(ids);
    return EXIT_CODE_USAGE;
}

static void show(struct work *work, uint64_t hops) {
    const struct progress_sample sample = {
        .packet_hops = work->hops + hops,
        .share_done = (double)work->done / work->n_lines,
        .parts = work->n_lines,
        .parts_done = work->done,
        .part_name = "rows",
    };
    progress_update(&work->progress, &sample);
}

static bool look(void *context, uint64_t now_ps, uint64_t hops) {
    (void)now_ps; // of one of many runs
    show(context, hops);
    return true;
}

static bool run_line(struct work *work, struct validate_report_line *line, struct error *error) {
    const struct validate_row *row = line->row;
    struct validate_kind_run run = {
        .observer = look, .observer_context = work, .data = work->data, .reference = row->published, .simulated = NAN};
    line->reference = row->published;
    line->verdict = VALIDATE_REPORT_NOT_RUN;
    if (row->needs[0] != '\0') {
        return true;
    }
    if (!row->kind->run(row, &run, error)) {
        return false;
    }
    work->hops += run.hops;
    line->reference = run.reference;
    line->simulated = run.simulated;
    line->verdict =
        validate_report_is_met(row, run.reference, run.simulated) ? VALIDATE_REPORT_OK : VALIDATE_REPORT_MISSED;
    return true;
}

static int run_all(struct work *work, bool quiet) {
    struct error error = {0};
    progress_init(&work->progress, stderr, "validate", quiet);
    for (; work->done < work->n_lines; work->done++) {
        show(work, 0);
        if (!run_line(work, &work->lines[work->done], &error)) {
            progress_clear(&work->progress);
            error_print(stderr, &error);
            return (int)error.exit_code;
        }
    }
    const struct progress_sample last = {.packet_hops = work->hops,
                                         .share_done = 1,
                                         .parts = work->n_lines,
                                         .parts_done = work->done,
                                         .part_name = "rows"};
    progress_finish(&work->progress, &last);
    return EXIT_CODE_OK;
}

static int validate(const struct arguments *given, const struct validate_tables *tables) {
    struct work work = work_of(tables, given->only);
    work.data = given->data;
    int code = work.n_lines == 0 ? refuse_only(tables, given->only) : run_all(&work, given->quiet);
    if (code == EXIT_CODE_OK) {
        if (given->json) {
            validate_report_json(work.lines, work.n_lines, stdout);
        } else {
            validate_report_print(work.lines, work.n_lines, stdout);
        }
        code = validate_report_count(work.lines, work.n_lines, VALIDATE_REPORT_MISSED) > 0 ? EXIT_CODE_RUN_FAILED
                                                                                           : EXIT_CODE_OK;
    }
    free(work.lines);
    return code;
}

int command_validate(int n_arguments, char **arguments) {
    struct arguments given;
    struct validate_tables tables = {0};
    int code;
    if (!arguments_read(&given, &command_validate_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = (int)read_tables(given.operand, &tables);
    if (code == EXIT_CODE_OK) {
        note_missing_data(&tables, given.data);
        code = validate(&given, &tables);
    }
    validate_table_free(&tables);
    return code;
}
