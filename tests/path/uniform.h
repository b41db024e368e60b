// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Are counts as uneven as chance makes them?
 */
#ifndef MOEFABRIC_TESTS_PATH_UNIFORM_H
#define MOEFABRIC_TESTS_PATH_UNIFORM_H

#include <check.h>
#include <stdint.h>

/* Sum of (count - mean)^2 / mean; for n_bins equal bins its mean is n_bins - 1 and its variance twice that. */
static inline double uniform_chi_square(const uint32_t *counts, unsigned n_bins) {
    double total = 0;
    double sum = 0;
    for (unsigned i = 0; i < n_bins; i++) {
        total += counts[i];
    }
    for (unsigned i = 0; i < n_bins; i++) {
        const double away = counts[i] - total / n_bins;
        sum += away * away / (total / n_bins);
    }
    return sum;
}

/* Within five standard deviations: neither uneven nor suspiciously even. */
static inline void uniform_assert(const uint32_t *counts, unsigned n_bins) {
    const double away = uniform_chi_square(counts, n_bins) - (n_bins - 1);
    ck_assert_double_le(away * away, 25.0 * 2 * (n_bins - 1));
}

#endif
