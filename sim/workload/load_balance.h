// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How evenly loads are spread: the figures that papers print of experts and ranks.
 */
#ifndef MOEFABRIC_WORKLOAD_LOAD_BALANCE_H
#define MOEFABRIC_WORKLOAD_LOAD_BALANCE_H

#include <stdint.h>

/** Figures of n loads. All are 0 if nothing is loaded. */
struct load_balance {
    double mean, largest;
    uint32_t index;       /**< the first that has the largest */
    double max_over_mean; /**< balancedness as largest ÷ mean; some papers print mean ÷ largest */
    double gini; /**< 0 all alike … 1 - 1/n one has all: mean absolute difference of two loads ÷ (2 × mean) */
    double entropy_bits; /**< -Σ p log2 p of the shares p of the sum */
    double largest_bits; /**< log2 n: the entropy if all were alike */
};

/** Figures of loads that are finite and not negative; n > 0. */
struct load_balance load_balance_of(const double *loads, uint32_t n);

#endif
