// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Means over seeds as texts, the same in tables of comparisons and of sweeps.
 */
#ifndef MOEFABRIC_RESULTS_COMPARISON_TEXT_H
#define MOEFABRIC_RESULTS_COMPARISON_TEXT_H

#include "results/comparison.h"

#include <stddef.h>

/** Decimals that leave about three significant digits. */
int comparison_text_decimals(double value);

/** What stands in parentheses: the confidence interval of the mean, or with too few seeds for one the lowest and highest. */
struct interval comparison_text_bounds(const struct comparison_range *range);

/** "1.23 (1.20–1.27)"; no range where it would only repeat the mean; "–" where nothing is defined. A count is whole, the mean of counts need not be. */
void comparison_text_value(char *text, size_t size, const struct comparison_range *range, enum metric_quantity quantity,
                           double unit);

#endif
