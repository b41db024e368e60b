// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `reference` writes: all that there is to look up, each form made from the tables that the program itself works with
 * (commands, options, keys, error numbers, metrics), so that none can be out of date.
 */
#ifndef MOEFABRIC_COMMAND_REFERENCE_H
#define MOEFABRIC_COMMAND_REFERENCE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

/** An exit code and when the program ends with it. */
struct reference_exit_code {
    enum exit_code code;
    const char *meaning;
};

/** All exit codes, ascending; *count receives how many. */
const struct reference_exit_code *reference_exit_codes(size_t *count);

/** Writes the manual page, for man(1), in the man macros of troff. */
void reference_manual(FILE *stream);

/** Writes the completions of bash(1): a script that bash-completion loads, or that is sourced. */
void reference_bash(FILE *stream);

/** Writes the completions of zsh(1): a function of the name _moefabric, for a folder of fpath. */
void reference_zsh(FILE *stream);

#endif
