// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Why the slowest flow was slow: the links on its way, and who else used them.
 */
#ifndef MOEFABRIC_COMMAND_SLOW_FLOW_H
#define MOEFABRIC_COMMAND_SLOW_FLOW_H

#include "command/flow_pairs.h"

/** Adds explanations of the slowest flow, and of the slowest one that does not go to the hot rank, the reasons of the flows with the largest slow-down (slow_flows), and which flows cross which links (crossings), to the measurement that pairs tell of. */
void slow_flow_explain(struct measurement *measurement, const struct flow_pairs *pairs);

#endif
