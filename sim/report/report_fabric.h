// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The fabric for a picture: its devices and links, and what happened on them.
 */
#ifndef MOEFABRIC_REPORT_REPORT_FABRIC_H
#define MOEFABRIC_REPORT_REPORT_FABRIC_H

#include "results/json.h"
#include "results/measurement.h"

/** Members `ranks`, `rack_of_rank` and `links` (device and name at each end, rate; NVLink is left out), all as arrays in order of rank and link. */
void report_fabric(const struct measurement *run, struct json *json);

/**
 * Member `use`: for each of those links the share of time that it was sending, its deepest queue, paused time, marks, drops and bytes; and
 * `series` where they were recorded, in so few steps that those of all n_runs runs of the page hold at most 400,000 values.
 */
void report_fabric_use(const struct measurement *run, uint32_t n_runs, struct json *json);

#endif
