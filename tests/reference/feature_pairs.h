// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Faults hide where two features meet: how often every two of them occurred in the same run.
 */
#ifndef MOEFABRIC_TESTS_FEATURE_PAIRS_H
#define MOEFABRIC_TESTS_FEATURE_PAIRS_H

#include "feature.h"

enum { FEATURE_PAIRS_LEAST_CASES = 50 /**< of 10,000: fewer do not count as covered */ };

/** Cases in which two features occurred both. Zero-initialise. */
struct feature_pairs {
    uint32_t cases;
    uint32_t counts[FEATURES][FEATURES];
};

/** Books the features of one run, as feature_set says them. */
void feature_pairs_count(struct feature_pairs *pairs, feature_bits set);

/** Prints the rarest pairs, or all, and how many exclude each other and why. */
void feature_pairs_print(FILE *stream, const struct feature_pairs *pairs, bool all);

/** Whether every pair that can occur did so often enough, and none that is said to be impossible did; says on stderr which not. */
bool feature_pairs_all_covered(const struct feature_pairs *pairs);

#endif
