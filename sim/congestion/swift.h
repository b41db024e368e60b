// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Swift: a window that follows a target for the delay.
 */
#ifndef MOEFABRIC_CONGESTION_SWIFT_H
#define MOEFABRIC_CONGESTION_SWIFT_H

#include "congestion/congestion.h"

/**
 * The controller `swift` (Kumar and others, Swift: Delay is Simple and Effective for Congestion Control in the Datacenter,
 * SIGCOMM 2020, Algorithm 1). The delay is the round trip from the start of a packet to its ACK, cwnd is in packets.
 *
 *   target = base_target + switches × hop + clamp(a / √cwnd + b, 0, scaling_range)
 *            a = scaling_range / (1 / √scaling_least_window - 1 / √scaling_most_window), b = -a / √scaling_most_window
 *   ACK, delay < target     cwnd + additive × acknowledged / cwnd; + additive × acknowledged while cwnd < 1
 *   ACK, else               if a round trip has passed since the last decrease:
 *                           cwnd × max(1 - decrease × (delay - target) / delay, 1 - largest_decrease)
 *   loss                    reset_losses without an ACK between them: least_window;
 *                           else, if a round trip has passed since the last decrease, cwnd × (1 - largest_decrease)
 *   cwnd stays within least_window … most_window. A change that does not raise it counts as the last decrease.
 *   cwnd < 1: one packet each round trip / cwnd; else cwnd packets (rounded down) may be unacknowledged, at line rate.
 *
 * Approximations: (1) Swift has a second window for the endpoint's own delay; our endpoints answer at once, so there is one.
 * (2) The number of switches is known to the NIC by set-up; Swift reads it from the time to live. (3) An ACK that does not tell its packet counts what it
 * acknowledges, and has no delay: it changes nothing. (4) The first window is no part of the paper: by default what the idle round trip
 * takes at line rate, as RDMA senders start.
 *
 * Numbers are IEEE doubles, √ by Newton's rule with a fixed number of steps: the same on every machine.
 */
extern const struct congestion_controller swift_controller;

#endif
