// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A text table whose columns are aligned: built cell by cell, printed once all widths are known.
 */
#ifndef MOEFABRIC_BASE_TABLE_H
#define MOEFABRIC_BASE_TABLE_H

#include <stdio.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table;

/** An empty table without columns. Ends with table_free. */
struct table *table_create(void);

/** Adds a column to the right; all columns before the first cell. The title is copied. */
void table_column(struct table *table, const char *title, enum table_align align);

/** Fills the next cell, left to right, then the next row. The text (UTF-8, no newline) is made from a printf format. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Leaves the rest of a row begun empty; does nothing between rows. */
void table_end_row(struct table *table);

/** Prints titles, a rule and all rows, each line indented by indent spaces and without trailing blanks. Widths count characters, not bytes. */
void table_print(const struct table *table, FILE *stream, unsigned indent);

/** Frees a table; NULL is allowed. */
void table_free(struct table *table);

#endif
