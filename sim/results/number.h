// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Numbers as text, so that reading them gives the same number.
 */
#ifndef MOEFABRIC_RESULTS_NUMBER_H
#define MOEFABRIC_RESULTS_NUMBER_H

enum { NUMBER_TEXT_SIZE = 32 };

/** A number with as few digits, from 15, as read back as itself; fills text and returns it. The number must be finite. */
char *number_print(char text[NUMBER_TEXT_SIZE], double value);

#endif
