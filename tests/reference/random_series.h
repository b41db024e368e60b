// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Some NVLink messages of a case are many small ones: the engine is given them as a series, the naive simulator one by one.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_SERIES_H
#define MOEFABRIC_TESTS_RANDOM_SERIES_H

#include "random_case.h"

enum { RANDOM_SERIES_TAGS = 1000 /**< tags of a message and its copies */ };

/** Turns some NVLink messages into several copies each. */
void random_series_draw(struct random_case *random_case);

/** Copy number index (below copies) of a message. Copies differ in tag and size, and in destination where the domain has another. */
struct traffic_message random_series_copy(const struct random_case *random_case,
                                          const struct random_case_message *message, uint32_t index);

/** The traffic of the closed list of a case, with series for those who take them. The case is the plan and stays the owner. */
struct traffic random_series_traffic(struct random_case *random_case);

#endif
