// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * DRILL(2,1): two random ports and the best of the last time.
 */
#ifndef MOEFABRIC_PATH_DRILL_H
#define MOEFABRIC_PATH_DRILL_H

#include "path/path.h"

/**
 * The policy `drill`.
 *
 * DRILL(2,1): a packet that may be re-ordered looks at two different candidates, drawn at random (`sample.h`; stream
 * `hash_stream(seed, HASH_PURPOSE_PATH, device, 0)`), and at the port that the packet before it took among the same candidates (a range is
 * known by its first port). It takes the one whose queue was shallowest **at the last refresh**. Of equals a sample goes before the
 * remembered port, and the first sample before the second, so that between equal queues the choice is uniform. Before the first refresh all
 * queues count as empty. Other packets take the port that `ecmp` gives them (ordered traffic).
 *
 * Source: Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian: DRILL: Micro Load Balancing for Low-latency Data Center Networks, SIGCOMM 2017
 * (d = 2 samples, m = 1 unit of memory).
 *
 * Approximations: DRILL compares queues as they are, in each forwarding engine; here one engine a switch, and queues are as old as
 * `refresh_period_ps` at most. Old depths hurt DRILL more than `two_choices`: its memory sends packet after packet to the port that was best
 * at the refresh, until the next one. A period of about a packet's time comes close to the published rule. Its treatment of asymmetry
 * (components with weights) is not there.
 */
extern const struct path_policy drill_policy;

#endif
