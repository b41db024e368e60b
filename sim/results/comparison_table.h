// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A comparison as a table for people: metrics down, policies across, as many columns side by side as fit.
 */
#ifndef MOEFABRIC_RESULTS_COMPARISON_TABLE_H
#define MOEFABRIC_RESULTS_COMPARISON_TABLE_H

#include "results/comparison.h"

#include <stdbool.h>
#include <stdio.h>

/** Columns of a terminal that a table keeps to; a single policy that needs more gets it. */
enum { COMPARISON_TABLE_WIDTH = 120 };

/**
 * Prints the table, a legend of its rows and the explanations of the first seed. Cells: mean (its 95 %
 * confidence interval over seeds; with too few of them lowest–highest) and the mean of each seed's ×ratio to the first policy (with detail its interval too), with ~ where the seeds do not tell it from 1. With detail: also the rows that a single run is looked at for.
 */
void comparison_table_print(const struct comparison *comparison, bool detail, FILE *stream);

#endif
