// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Subcommands: one file each, one line each in the table of command.c.
 */
#ifndef MOEFABRIC_COMMAND_COMMAND_H
#define MOEFABRIC_COMMAND_COMMAND_H

#include "base/error.h"
#include "command/arguments.h"

/** A subcommand. run gets its own name as arguments[0] and returns the exit code of the program. */
struct command {
    const char *name;
    const char *summary; /**< one line for the list of commands */
    int (*run)(int n_arguments, char **arguments);
    const struct arguments_grammar *grammar; /**< what it takes: for the manual page, completions and the reference */
};

/** All subcommands, ended by one without a name. */
extern const struct command command_table[];

int command_run(int n_arguments, char **arguments);
int command_check(int n_arguments, char **arguments);
int command_compare(int n_arguments, char **arguments);
int command_gate(int n_arguments, char **arguments);
int command_validate(int n_arguments, char **arguments);
int command_show(int n_arguments, char **arguments);
int command_diff(int n_arguments, char **arguments);
int command_perf(int n_arguments, char **arguments);
int command_calibrate(int n_arguments, char **arguments);
int command_report(int n_arguments, char **arguments);
int command_export(int n_arguments, char **arguments);
int command_place(int n_arguments, char **arguments);
int command_sweep(int n_arguments, char **arguments);
int command_size(int n_arguments, char **arguments);
int command_train(int n_arguments, char **arguments);
int command_detect(int n_arguments, char **arguments);
int command_preflight(int n_arguments, char **arguments);
int command_topology(int n_arguments, char **arguments);
int command_explain(int n_arguments, char **arguments);
int command_schema(int n_arguments, char **arguments);
int command_reference(int n_arguments, char **arguments);

/* What each of them takes. */
extern const struct arguments_grammar command_run_grammar;
extern const struct arguments_grammar command_check_grammar;
extern const struct arguments_grammar command_compare_grammar;
extern const struct arguments_grammar command_gate_grammar;
extern const struct arguments_grammar command_train_grammar;
extern const struct arguments_grammar command_detect_grammar;
extern const struct arguments_grammar command_preflight_grammar;
extern const struct arguments_grammar command_validate_grammar;
extern const struct arguments_grammar command_show_grammar;
extern const struct arguments_grammar command_diff_grammar;
extern const struct arguments_grammar command_perf_grammar;
extern const struct arguments_grammar command_calibrate_grammar;
extern const struct arguments_grammar command_report_grammar;
extern const struct arguments_grammar command_export_grammar;
extern const struct arguments_grammar command_place_grammar;
extern const struct arguments_grammar command_sweep_grammar;
extern const struct arguments_grammar command_size_grammar;
extern const struct arguments_grammar command_topology_grammar;
extern const struct arguments_grammar command_explain_grammar;
extern const struct arguments_grammar command_schema_grammar;
extern const struct arguments_grammar command_reference_grammar;

/** The program: picks the subcommand. */
int command_main(int n_arguments, char **arguments);

#endif
