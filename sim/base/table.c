// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/table.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct column {
    char *title;
    enum table_align align;
};

struct table {
    struct column *columns;
    char **cells; /* row by row */
    size_t n_columns, n_cells, capacity;
};

static char *copy_of(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(memory_allocate(size, 1), text, size);
}

struct table *table_create(void) {
    return memory_allocate(1, sizeof(struct table));
}

void table_column(struct table *table, const char *title, enum table_align align) {
    REQUIRE(table->n_cells == 0, "a column after the first cell");
    table->columns = memory_resize(table->columns, table->n_columns + 1, sizeof *table->columns);
    struct column *column = &table->columns[table->n_columns++];
    *column = (struct column){.title = copy_of(title), .align = align};
    text_disarm(column->title);
}

static void append(struct table *table, char *cell) {
    REQUIRE(table->n_columns > 0, "a cell without columns");
    if (table->n_cells == table->capacity) {
        table->capacity = table->capacity == 0 ? 32 : 2 * table->capacity;
        table->cells = memory_resize(table->cells, table->capacity, sizeof *table->cells);
    }
    table->cells[table->n_cells++] = cell;
}

void table_cell(struct table *table, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    REQUIRE(length >= 0, "a cell that cannot be printed");
    char *cell = memory_allocate((size_t)length + 1, 1);
    vsnprintf(cell, (size_t)length + 1, format, again);
    text_disarm(cell); /* names may come from files of others */
    va_end(again);
    va_end(arguments);
    append(table, cell);
}

void table_end_row(struct table *table) {
    while (table->n_columns > 0 && table->n_cells % table->n_columns != 0) {
        append(table, copy_of(""));
    }
}

/** The text of a cell, "" past the end. */
static const char *text_at(const struct table *table, size_t row, size_t column) {
    const size_t cell = row * table->n_columns + column;
    return cell < table->n_cells ? table->cells[cell] : "";
}

static size_t column_width(const struct table *table, size_t column) {
    size_t width = (size_t)text_width(table->columns[column].title);
    for (size_t cell = column; cell < table->n_cells; cell += table->n_columns) {
        const size_t wants = (size_t)text_width(table->cells[cell]);
        width = wants > width ? wants : width;
    }
    return width;
}

/** Prints one line; blanks are held back until something follows them. */
static void print_line(const struct table *table, FILE *stream, unsigned indent, const size_t *widths,
                       const char *const *texts) {
    size_t blanks = indent;
    for (size_t column = 0; column < table->n_columns; column++) {
        const size_t width = (size_t)text_width(texts[column]);
        const bool right = table->columns[column].align == TABLE_RIGHT;
        blanks += right ? widths[column] - width : 0;
        if (width > 0) {
            fprintf(stream, "%*s%s", (int)blanks, "", texts[column]);
            blanks = 0;
        }
        blanks += (right ? 0 : widths[column] - width) + 2;
    }
    fputc('\n', stream);
}

static void print_rule(const struct table *table, FILE *stream, unsigned indent, const size_t *widths) {
    fprintf(stream, "%*s", (int)indent, "");
    for (size_t column = 0; column < table->n_columns; column++) {
        for (size_t i = 0; i < widths[column]; i++) {
            fputc('-', stream);
        }
        fputs(column + 1 < table->n_columns ? "  " : "\n", stream);
    }
}

void table_print(const struct table *table, FILE *stream, unsigned indent) {
    if (table->n_columns == 0) {
        return;
    }
    size_t *widths = memory_allocate(table->n_columns, sizeof *widths);
    const char **texts = memory_allocate(table->n_columns, sizeof *texts);
    for (size_t column = 0; column < table->n_columns; column++) {
        widths[column] = column_width(table, column);
        texts[column] = table->columns[column].title;
    }
    print_line(table, stream, indent, widths, texts);
    print_rule(table, stream, indent, widths);
    for (size_t row = 0; row * table->n_columns < table->n_cells; row++) {
        for (size_t column = 0; column < table->n_columns; column++) {
            texts[column] = text_at(table, row, column);
        }
        print_line(table, stream, indent, widths, texts);
    }
    free(texts);
    free(widths);
}

void table_free(struct table *table) {
    if (table == NULL) {
        return;
    }
    for (size_t column = 0; column < table->n_columns; column++) {
        free(table->columns[column].title);
    }
    for (size_t cell = 0; cell < table->n_cells; cell++) {
        free(table->cells[cell]);
    }
    free(table->columns);
    free(table->cells);
    free(table);
}
