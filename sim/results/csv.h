// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fields of comma-separated text (RFC 4180, with LF at ends of lines).
 */
#ifndef MOEFABRIC_RESULTS_CSV_H
#define MOEFABRIC_RESULTS_CSV_H

#include <stdio.h>

/** Writes a text as one field, in quotes where it holds a comma, a quote or a line end. */
void csv_text(FILE *stream, const char *text);

/** Writes a number with as few digits as bring the same double back; nothing where it is not finite. */
void csv_number(FILE *stream, double value);

#endif
