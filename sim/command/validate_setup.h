// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The configuration that a row is simulated with: a file, what the row sets in it, and what its kind sets.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_SETUP_H
#define MOEFABRIC_COMMAND_VALIDATE_SETUP_H

#include "base/error.h"
#include "command/validate_row.h"
#include "config/tree.h"

#include <stdbool.h>
#include <stdint.h>

enum { VALIDATE_SETUP_OVERRIDES = 32, VALIDATE_SETUP_OVERRIDE_SIZE = 160 };

/** Where a row stands, and the texts `KEY=VALUE` that it and its table set. */
struct validate_setup {
    const char *file; /**< the table's; configurations are looked up beside it */
    struct tree_place place;
    const struct tree_node *set[VALIDATE_SETUP_OVERRIDES]; /**< of the table first, then of the row */
    uint32_t n_set;
    struct error_list *errors;
};

/** Takes the list `set` of a table or row (NULL: none). Mistakes are reported. */
void validate_setup_add(struct validate_setup *setup, const struct tree_node *list);

/** Reports a mistake at the row. Returns false. */
bool validate_setup_refuse(const struct validate_setup *setup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Reads the configuration of a row with its overrides and then own[n_own], which the kind sets, into row->experiment. Mistakes of overrides are
 * reported where the table has them. The configuration must have exactly one policy.
 */
bool validate_setup_read(const struct validate_setup *setup, struct validate_row *row,
                         char own[][VALIDATE_SETUP_OVERRIDE_SIZE], uint32_t n_own);

#endif
