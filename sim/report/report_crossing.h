// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which flows cross which links, for those who point at one.
 */
#ifndef MOEFABRIC_REPORT_REPORT_CROSSING_H
#define MOEFABRIC_REPORT_REPORT_CROSSING_H

#include "results/json.h"
#include "results/measurement.h"

#include <stdint.h>

/**
 * Writes the members `crossings` (link: number among those that are shown; flow: place in the next list; bytes) and `crossing_flows`. numbers:
 * of each link among those that are shown, UINT32_MAX where it is not. n_runs share what a page holds: of each link fewer flows are written where links are many.
 */
void report_crossing(const struct measurement *run, const uint32_t *numbers, uint32_t n_runs, struct json *json);

#endif
