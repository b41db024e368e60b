// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/comparison_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int comparison_text_decimals(double value) {
    return value == 0.0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
}

struct interval comparison_text_bounds(const struct comparison_range *range) {
    return isnan(range->interval.low) ? (struct interval){range->low, range->high} : range->interval;
}

void comparison_text_value(char *text, size_t size, const struct comparison_range *range, enum metric_quantity quantity,
                           double unit) {
    char mean[32], low[32], high[32];
    if (range->count == 0) {
        snprintf(text, size, "–");
        return;
    }
    const bool pieces = quantity >= METRIC_PACKETS && quantity <= METRIC_PIECES && unit == 1.0;
    const struct interval bounds = comparison_text_bounds(range);
    const int decimals = pieces ? range->mean != floor(range->mean) : comparison_text_decimals(range->mean / unit);
    const int range_decimals =
        pieces && bounds.low == floor(bounds.low) && bounds.high == floor(bounds.high) ? 0 : decimals;
    snprintf(mean, sizeof mean, "%.*f", decimals, range->mean / unit);
    snprintf(low, sizeof low, "%.*f", range_decimals, bounds.low / unit);
    snprintf(high, sizeof high, "%.*f", range_decimals, bounds.high / unit);
    if (strcmp(low, high) == 0) {
        snprintf(text, size, "%s", mean);
    } else {
        snprintf(text, size, "%s (%s–%s)", mean, low, high);
    }
}
