// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The dictionary of the result file: each table of a run, each of its columns, with unit and meaning.
 *
 * The store writes what stands here and nothing else, so that the file, its attributes and results/README.md agree.
 */
#ifndef MOEFABRIC_RESULTS_COLUMN_H
#define MOEFABRIC_RESULTS_COLUMN_H

#include "results/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Type of a column, in the row and in the file (always little-endian there). */
enum column_type {
    COLUMN_UINT32,
    COLUMN_UINT64,
    COLUMN_DOUBLE,
    COLUMN_TEXT, /**< UTF-8, fixed length, padded with NUL */
};

/** One column: where it is in a row, and what it says. */
struct column {
    const char *name;      /**< of the dataset; carries the unit where it has one */
    const char *units;     /**< "1" for pure numbers */
    const char *long_name; /**< one line for people */
    enum column_type type;
    size_t offset;     /**< in the row */
    size_t size_bytes; /**< of the field */
};

/** One table of a run: a group with a dataset a column. */
struct column_table {
    const char *name;      /**< of the group */
    const char *long_name; /**< what one row is */
    const char *row;       /**< what one row is called: the dataset of row numbers, and the dimension of the others */
    const struct column *columns;
    size_t n_columns;
    size_t row_bytes;
    const void *(*rows)(const struct measurement *measurement); /**< first row */
    uint64_t (*n_rows)(const struct measurement *measurement);
    uint64_t most_rows; /**< that a measurement can hold */
    void (*take)(
        struct measurement *measurement, void *rows,
        uint64_t n_rows); /**< gives it rows from memory_allocate, which it owns from then on; NULL for the totals */
    bool younger;         /**< files of older programs do not have it: then it is empty */
};

/** All tables, in the order of the documentation. */
extern const struct column_table column_tables[];
extern const size_t column_tables_count;

/** Sums over the run: one row, struct measurement_totals; stored as scalars. */
extern const struct column_table column_totals;

#endif
