// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What happened in a run: a comparison on many cases is worth what its cases reach.
 */
#ifndef MOEFABRIC_TESTS_FEATURE_H
#define MOEFABRIC_TESTS_FEATURE_H

#include "random_case.h"
#include "reference.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    FEATURE_LEAST_CASES = 5, /**< fewer cases than that do not count as covered */
    FEATURES_MOST = 64,
};

/** Cases in which each feature occurred. Zero-initialise. */
struct feature_table {
    uint32_t cases;
    uint32_t counts[FEATURES_MOST];
};

/** Books a run of a case. */
void feature_observe(struct feature_table *table, const struct random_case *random_case,
                     const struct reference *reference);

/** Prints the table. */
void feature_print(FILE *stream, const struct feature_table *table);

/** Whether every feature occurred often enough. */
bool feature_all_covered(const struct feature_table *table);

#endif
