// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/load_balance.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *left_pointer, const void *right_pointer) {
    const double left = *(const double *)left_pointer, right = *(const double *)right_pointer;
    return (left > right) - (left < right);
}

/* Of sorted loads x_1 ≤ … ≤ x_n: (2 Σ i x_i) / (n Σ x_i) - (n + 1) / n. */
static double gini_of(const double *loads, uint32_t n, double sum) {
    double *sorted = memory_allocate(n, sizeof *sorted), weighted = 0;
    memcpy(sorted, loads, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    for (uint32_t i = 0; i < n; i++) {
        weighted += (i + 1.0) * sorted[i];
    }
    free(sorted);
    const double gini = 2 * weighted / (n * sum) - (n + 1.0) / n;
    return gini > 0 ? gini : 0; // rounding
}

struct load_balance load_balance_of(const double *loads, uint32_t n) {
    struct load_balance balance = {.largest_bits = log2(n)};
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += loads[i];
        if (loads[i] > balance.largest) {
            balance.largest = loads[i];
            balance.index = i;
        }
    }
    if (sum == 0) {
        return (struct load_balance){0};
    }
    for (uint32_t i = 0; i < n; i++) {
        const double share = loads[i] / sum;
        balance.entropy_bits -= share > 0 ? share * log2(share) : 0;
    }
    balance.mean = sum / n;
    balance.max_over_mean = balance.largest / balance.mean;
    balance.gini = gini_of(loads, n, sum);
    return balance;
}
