// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Says in a sentence why a flow was slow: the link on its way that most others used at the same time, and who they are.
 */
#ifndef MOEFABRIC_RESULTS_EXPLANATION_H
#define MOEFABRIC_RESULTS_EXPLANATION_H

#include "results/measurement.h"

#include <stdint.h>

#define EXPLANATION_NO_FLOW UINT64_MAX

/** A link on the way of a flow, and the flows (rows of the flows table) that used it in the run, the flow itself or not. Found by the caller, whose they stay. */
struct explanation_link {
    const char *name;
    const uint64_t *flows;
    uint64_t n_flows;
};

/**
 * The payload flow with the longest active time (then the largest slow-down, then the first row), leaving out flows
 * to the rank except (MEASUREMENT_NONE: none is left out). EXPLANATION_NO_FLOW if no such flow has finished.
 */
uint64_t explanation_slowest_flow(const struct measurement *measurement, uint32_t except);

/**
 * Adds a sentence on a flow: "SUBJECT gpu17 → gpu81 (dispatch, 4 MB) took 1.02 ms, 3.2 × its unloaded time: shares
 * leaf2:up17 with 6 other flows (gpu3 → gpu91, …)". Of the links, the one whose other flows have most bytes, of those that were
 * under way while this one was active, is named; the first among equals.
 */
void explanation_add_flow(struct measurement *measurement, const char *subject, uint64_t flow,
                          const struct explanation_link *links, uint32_t n_links);

#endif
