// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Texts that are read line by line: files of numbers and words that people or other programs wrote.
 */
#ifndef MOEFABRIC_BASE_LINE_H
#define MOEFABRIC_BASE_LINE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/** A line in hand. Begins with next at a NUL-terminated text and all else zero. */
struct line {
    const char *text; /**< goes on after the line: its end is at length */
    size_t length;    /**< without LF or CR LF */
    unsigned number;  /**< from 1 */
    const char *next; /**< where the next line begins */
};

/** Takes the next line that is neither empty nor a comment (first character `#`, blanks aside). False at the end of the text. */
bool line_next(struct line *line);

/** Gives an error this place, and the line's text if it has one. column: from 1; 0 = the whole line. */
void line_locate(const struct line *line, const char *file, size_t column, struct error *error);

/**
 * Reads the decimal digits that a text begins with; neither sign nor blank is passed over. Returns how many there are, 0 if it is
 * no number. One that does not fit is UINT64_MAX, so that a caller's own limit refuses it.
 */
size_t line_number(const char *text, uint64_t *number);

#endif
