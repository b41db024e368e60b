// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables of published values: files of configs/validation, as the README.md there describes them.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_TABLE_H
#define MOEFABRIC_COMMAND_VALIDATE_TABLE_H

#include "base/error.h"
#include "command/validate_row.h"

#include <stdbool.h>

/** One published table. */
struct validate_table {
    char file[ERROR_FILE_SIZE];
    char title[128];
    char source[VALIDATE_ROW_TEXT_SIZE]; /**< publication */
    char set_up[VALIDATE_ROW_TEXT_SIZE]; /**< what was measured or computed there */
    struct validate_row *rows;
    uint32_t n_rows;
};

/** Several tables, as one list. Zero-initialise; ends with validate_table_free. */
struct validate_tables {
    struct validate_table *tables;
    uint32_t n_tables;
};

/**
 * Reads a file and appends its table. Also reads the configuration of every row. False with all mistakes reported, at their places.
 * An id that an earlier table has is a mistake.
 */
bool validate_table_read(struct validate_tables *tables, const char *path, struct error_list *errors);

/** Keys of the section `table` besides those of rows, which it may hold for all of them; *count receives how many. */
const struct key *validate_table_keys(size_t *count);

/** Keys of every row, whatever its kind. */
const struct key *validate_table_row_keys(size_t *count);

/** Frees all tables. */
void validate_table_free(struct validate_tables *tables);

#endif
