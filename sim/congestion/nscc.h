// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NSCC: Ultra Ethernet's network-signalled congestion control: a window by round trips and marks.
 */
#ifndef MOEFABRIC_CONGESTION_NSCC_H
#define MOEFABRIC_CONGESTION_NSCC_H

#include "congestion/congestion.h"

/**
 * The controller `nscc` (Ultra Ethernet Consortium, specification 1.0), as in the consortium's simulator
 * (ultraethernet/uet-htsim 40ccb05, uec.cpp). The window W is in bytes; MTU is a full packet on the wire; BDP and
 * base are the bandwidth-delay product and the round trip of the idle path. The largest window, which is also the first, is largest_window × BDP.
 *
 *   A = BDP / (100 Gb/s × 12 us), T = target × base, B = T / 12 us; delay = round trip - smallest round trip seen
 *   mean delay: + delay_weight × (delay - mean); a delay above T without a mark counts as base / 4 there
 *   1. Quick adapt, at most each base + T: if packets were lost or delay > quick_delay × T, and less than quick_share of
 *      the largest window was acknowledged since it was last looked at: W = what was acknowledged; then as many bytes as are in flight change nothing.
 *   2. Each ACK of n bytes:
 *      no mark, delay ≥ T: I += fair × MTU × A × n
 *      no mark, delay < T: I += proportional × MTU × A × B × n × (T - delay) / T; but once a window's worth of delays below
 *                          fast_delay has come in a row: W += fast × A × n at once, as long as they go on
 *      mark, delay ≥ T:    if the mean delay > T, and base has passed since the last cut:
 *                          W × max(1 - decrease × (mean - T) / mean, 1/2)
 *      mark, delay < T:    nothing (the sender would take another path)
 *   3. After adjust_packets packets, or base, since the last time: W += I / W, I = 0; each base: W += steady × MTU × A.
 *   4. A trimmed packet, by its NACK: the mean delay takes base as a delay (a trim tells of a full queue, about a round trip deep); quick adapt is
 *      looked at with loss, and will act on it at its next look; if it did not act and nothing is being ignored, W -= MTU.
 *   W stays within MTU … the largest window, and is rounded down to packets, at least one.
 *
 * Approximations: (1) acknowledged bytes are counted in full packets; (2) a loss that is not a trim is
 * known by later packets or time-out, and only lets the window collapse (quick adapt); the figures are those of the simulator without
 * trimming (with it: target 0.75); (3) path switching on marks is the business of path policies; (4) the receiver's ACK every 16 KiB is transport.acknowledge,
 * here as elsewhere an ACK a packet if not set; a marked packet is acknowledged at once, as there; (5) smallest round trips start at that of the idle path.
 *
 * Numbers are IEEE doubles and floats.
 */
extern const struct congestion_controller nscc_controller;

#endif
