// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/table.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/interrupt.h"
#include "command/ranks.h"
#include "command/sweep_crew.h"
#include "command/sweep_plan.h"
#include "command/version.h"
#include "config/experiment_file.h"
#include "engine/mpi_exchange.h"
#include "results/provenance.h"
#include "results/sweep_csv.h"
#include "results/sweep_print.h"
#include "results/sweep_store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct arguments_grammar command_sweep_grammar = {
    .command = "sweep",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_MODEL | ARGUMENTS_SET | ARGUMENTS_THREADS | ARGUMENTS_JOBS |
               ARGUMENTS_SHARD | ARGUMENTS_INDEX | ARGUMENTS_LIST | ARGUMENTS_DETAIL | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Runs a configuration at every point of its section `sweep`, all policies and seeds of each, and writes one "
        "HDF5 file.\nWhat a point came to is kept in the folder NAME.points: points that are there are not run "
        "again, so that\na sweep may be killed and called again, or shared by several machines.",
    .examples = "  moefabric sweep configs/sweep-oversubscription.yaml\n"
                "  moefabric sweep configs/sweep-oversubscription.yaml --list\n",
};

/** A call of the command. */
struct call {
    const struct arguments *given;
    struct sweep_plan plan;
    struct provenance provenance;
    bool whole; /* all points: neither --shard nor --index */
};

static int fail(const struct error *error) {
    error_print(stderr, error);
    return (int)error->exit_code;
}

static struct sweep_plan_part part_of(const struct arguments *given) {
    if (given->has_index) {
        return (struct sweep_plan_part){.first = given->index, .step = 1, .alone = true};
    }
    if (given->shards > 0) {
        return (struct sweep_plan_part){.first = given->shard - 1, .step = given->shards};
    }
    return (struct sweep_plan_part){.step = 1};
}

static void note_equal(const struct sweep_plan *plan) {
    struct error note;
    if (plan->n_equal > 0) {
        error_set(&note, EXIT_CODE_OK, 0, "%" PRIu32 " of the points have the same configuration as another one",
                  plan->n_equal);
        error_hint(&note, "one of the swept keys changes nothing, or a value is given twice");
        error_print(stderr, &note);
    }
}

static void list(const struct sweep_plan *plan) {
    struct table *table = table_create();
    table_column(table, "point", TABLE_RIGHT);
    for (uint32_t a = 0; a < plan->table->n_axes; a++) {
        table_column(table, plan->table->axes[a], TABLE_RIGHT);
    }
    table_column(table, "hash", TABLE_LEFT);
    table_column(table, "state", TABLE_LEFT);
    for (uint32_t i = 0; i < plan->table->n_points; i++) {
        const struct sweep_point *point = &plan->table->points[i];
        table_cell(table, "%" PRIu64, point->number);
        for (uint32_t a = 0; a < plan->table->n_axes; a++) {
            table_cell(table, "%s", point->values[a]);
        }
        table_cell(table, "%016" PRIx64, point->hash);
        table_cell(table, "%s%s%s", sweep_table_outcome_name(point->outcome), point->error[0] != '\0' ? ": " : "",
                   point->error);
    }
    table_print(table, stdout, 2);
    table_free(table);
}

/** Points that have not come to an end that would repeat itself; to be freed by the caller. */
static uint32_t *list_work(const struct sweep_plan *plan, uint32_t *count) {
    uint32_t *indexes = memory_allocate((size_t)plan->table->n_points + 1, sizeof *indexes);
    *count = 0;
    for (uint32_t i = 0; i < plan->table->n_points; i++) {
        const enum sweep_outcome outcome = plan->table->points[i].outcome;
        if (outcome == SWEEP_MISSING || outcome == SWEEP_FAILED) {
            indexes[(*count)++] = i;
        }
    }
    return indexes;
}

static void run_here(struct call *call, const uint32_t *indexes, uint32_t count) {
    const unsigned threads = call->given->threads, most = call->given->jobs > 0 ? call->given->jobs : threads;
    const unsigned jobs = most < count || count == 0 ? most : count;
    const struct sweep_crew_work work = {.plan = &call->plan,
                                         .indexes = indexes,
                                         .count = count,
                                         .jobs = jobs,
                                         .threads = threads > jobs ? threads / jobs : 1,
                                         .quiet = call->given->quiet};
    if (count > 0) {
        sweep_crew_run(&work);
    }
}

/** All ranks wait for each other: nobody looks for what is there while another one adds to it. */
static void meet(const struct exchange *exchange) {
    struct exchange_verdict verdict = {.stop = false};
    struct exchange_buffer *nothing = memory_allocate(2 * (size_t)exchange->n_ranks, sizeof *nothing);
    exchange->end_window(exchange->context, nothing, nothing + exchange->n_ranks, &verdict);
    free(nothing);
}

/** Over MPI: this rank's share, in this process, since MPI and fork do not go together. Then all wait for all. */
static void run_as_rank(struct call *call, const uint32_t *indexes, uint32_t count) {
    const struct exchange *exchange = call->given->exchange;
    interrupt_listen();
    meet(exchange); /* all have the same list */
    for (uint32_t i = exchange->rank; i < count && !interrupt_has_come(); i += exchange->n_ranks) {
        struct error error = {0};
        struct sweep_point *point = &call->plan.table->points[indexes[i]];
        if (!sweep_plan_run(&call->plan, indexes[i], call->given->threads, NULL, &error)) {
            point->outcome = SWEEP_FAILED;
            sweep_table_set_text(&point->error, error.message);
        } else if (!call->given->quiet) {
            fprintf(stderr, "rank %" PRIu32 ": point %" PRIu64 " done\n", exchange->rank, point->number);
        }
    }
    meet(exchange);
    sweep_plan_collect(&call->plan);
}

static int exit_code_of(const struct sweep_table *table) {
    bool refused = false, unfinished = false, failed = false;
    for (uint32_t p = 0; p < table->n_points; p++) {
        const struct sweep_point *point = &table->points[p];
        refused = refused || point->outcome == SWEEP_REFUSED;
        failed = failed || point->outcome == SWEEP_FAILED || point->outcome == SWEEP_MISSING;
        unfinished = unfinished || point->error[0] != '\0';
    }
    return interrupt_has_come() ? EXIT_CODE_INTERRUPTED
           : failed             ? EXIT_CODE_RUN_FAILED
           : refused            ? EXIT_CODE_CONFIGURATION
           : unfinished         ? EXIT_CODE_LIMIT
                                : EXIT_CODE_OK;
}

static void print(const struct call *call) {
    if (call->given->json) {
        struct json json = json_begin(stdout);
        sweep_csv_json(call->plan.table, &json);
        json_end(&json);
    } else {
        sweep_print(call->plan.table, call->given->detail, stdout);
    }
    fflush(stdout); // the table first, where both streams go to one place
}

/** Packets of all runs, for the record of how the result came about. */
static void sum_hops(const struct sweep_table *table, struct provenance *provenance) {
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        const bool data = strcmp(table->metrics[m].name, "data_hops") == 0;
        if (!data && strcmp(table->metrics[m].name, "control_hops") != 0) {
            continue;
        }
        for (uint32_t p = 0; p < table->n_points; p++) {
            for (uint32_t r = 0; r < table->points[p].n_runs; r++) {
                const double hops = sweep_table_value(&table->points[p].runs[r], m);
                *(data ? &provenance->data_hops : &provenance->control_hops) += isnan(hops) ? 0 : (uint64_t)hops;
            }
        }
    }
}

static int write_result(struct call *call, int code) {
    struct error error = {0};
    if (!sweep_store_write(call->plan.table, call->plan.output, &error)) {
        return fail(&error);
    }
    sweep_plan_tidy(&call->plan);
    call->provenance.threads = call->given->threads;
    call->provenance.exit_code = code;
    sum_hops(call->plan.table, &call->provenance);
    provenance_stop(&call->provenance);
    if (!provenance_write(&call->provenance, call->plan.output, &error)) {
        return fail(&error);
    }
    if (!call->given->quiet) {
        fprintf(stderr, "result: %s; the points: %s (layout: results/README.md)\n", call->plan.output,
                call->plan.folder);
    }
    return code;
}

/** Points that could not be run are in the table and in the file; that there are some is said where mistakes are said. */
static void report_failed(const struct sweep_table *table) {
    const struct sweep_point *first = NULL;
    uint32_t failed = 0;
    for (uint32_t p = 0; p < table->n_points; p++) {
        if (table->points[p].outcome == SWEEP_FAILED || table->points[p].outcome == SWEEP_REFUSED) {
            first = first != NULL ? first : &table->points[p];
            failed++;
        }
    }
    if (first != NULL) {
        struct error error;
        error_set(&error, EXIT_CODE_RUN_FAILED, ERROR_ID_SWEEP,
                  "%" PRIu32 " of %" PRIu32 " points could not be run; point %" PRIu64 ": %.300s", failed,
                  table->n_points, first->number, first->error);
        error_print(stderr, &error);
    }
}

static int finish(struct call *call) {
    const int code = exit_code_of(call->plan.table);
    if (arguments_are_silent(call->given)) {
        return code;
    }
    print(call);
    report_failed(call->plan.table);
    if (!call->whole) {
        if (!call->given->quiet) {
            fprintf(stderr, "points: %s; `moefabric sweep` without --shard and --index puts all into %s\n",
                    call->plan.folder, call->plan.output);
        }
        return code;
    }
    return write_result(call, code);
}

static int run(struct call *call) {
    struct error error = {0};
    uint32_t count = 0;
    if (!sweep_plan_prepare(&call->plan, &error)) {
        return fail(&error);
    }
    const uint32_t done = sweep_plan_collect(&call->plan);
    if (done > 0 && !call->given->quiet && !arguments_are_silent(call->given)) {
        fprintf(stderr, "%" PRIu32 " of %" PRIu32 " points have been run before\n", done, call->plan.table->n_points);
    }
    uint32_t *indexes = list_work(&call->plan, &count);
    if (call->given->exchange != NULL) {
        run_as_rank(call, indexes, count);
    } else {
        run_here(call, indexes, count);
    }
    free(indexes);
    return finish(call);
}

/** Points are read before the first one runs, which takes a millisecond each: where they are many a terminal is told. */
static void show_reading(uint64_t done, uint64_t all) {
    enum { FEW = 1000, STEP = 100 };
    if (all >= FEW && done % STEP == 0) {
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " points read\033[K", done,
                all); /* ECMA-48: erase to the end of the line */
    }
    if (all >= FEW && done == all) {
        fputs("\r\033[K", stderr);
    }
}

static int sweep(const struct arguments *given, int n_arguments, char **arguments) {
    struct call call = {.given = given, .whole = !given->has_index && given->shards == 0};
    const struct sweep_plan_part part = part_of(given);
    const bool shown = !given->quiet && !arguments_are_silent(given) && isatty(STDERR_FILENO) == 1;
    const struct sweep_plan_source source = {.configuration = given->operand,
                                             .overrides = given->overrides,
                                             .n_overrides = given->n_overrides,
                                             .output = given->output,
                                             .read = shown ? show_reading : NULL};
    struct error_list errors = {0};
    call.provenance = provenance_start(version_number(), n_arguments, arguments);
    call.provenance.commit = version_commit();
    call.provenance.compiler = version_compiler();
    int code;
    if (!sweep_plan_init(&call.plan, &source, &part, &errors)) {
        code = arguments_are_silent(given) ? (int)errors.errors[0].exit_code : (int)experiment_report(stderr, &errors);
    } else {
        if (!given->quiet && !arguments_are_silent(given)) {
            error_list_print(stderr, &call.plan.notes);
            note_equal(&call.plan);
        }
        if (given->list) {
            sweep_plan_collect(&call.plan);
            list(&call.plan);
            code = EXIT_CODE_OK;
        } else {
            code = run(&call);
        }
        sweep_plan_fini(&call.plan);
    }
    provenance_free(&call.provenance);
    return code;
}

int command_sweep(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error;
    int code;
    if (!arguments_read(&given, &command_sweep_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (given.has_index && given.shards > 0) {
        error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "--index and --shard choose points in two ways: give one");
        return fail(&error);
    }
    if (!ranks_start(&given, &error)) {
        code = fail(&error);
    } else {
        code = sweep(&given, n_arguments, arguments);
    }
    mpi_exchange_finish(given.exchange);
    return code;
}
