// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who sent how much to whom, which experts were asked for, and which flows were slow.
 */
#ifndef MOEFABRIC_REPORT_REPORT_TRAFFIC_H
#define MOEFABRIC_REPORT_REPORT_TRAFFIC_H

#include "results/json.h"
#include "results/measurement.h"

/**
 * Members `gpu_matrix` and `rack_matrix` (payload over the fabric by sender and receiver, at most 64 × 64 cells, neighbours put together),
 * `expert_tokens`, `slowest_flows` and `explanations`.
 */
void report_traffic(const struct measurement *run, struct json *json);

#endif
