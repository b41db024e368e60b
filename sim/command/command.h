// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Subcommands: one file each, one line each in the table of command.c.
 */
#ifndef MOEFABRIC_COMMAND_COMMAND_H
#define MOEFABRIC_COMMAND_COMMAND_H

#include "base/error.h"

/** A subcommand. run gets its own name as arguments[0] and returns the exit code of the program. */
struct command {
    const char *name;
    const char *summary; /**< one line for the list of commands */
    int (*run)(int n_arguments, char **arguments);
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
int command_report(int n_arguments, char **arguments);
int command_export(int n_arguments, char **arguments);
int command_place(int n_arguments, char **arguments);
int command_topology(int n_arguments, char **arguments);
int command_explain(int n_arguments, char **arguments);
int command_schema(int n_arguments, char **arguments);

/** The program: picks the subcommand. */
int command_main(int n_arguments, char **arguments);

#endif
