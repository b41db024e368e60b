// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * TIMELY: the rate follows the gradient of the round trip.
 */
#ifndef MOEFABRIC_CONGESTION_TIMELY_H
#define MOEFABRIC_CONGESTION_TIMELY_H

#include "congestion/congestion.h"

/**
 * The controller `timely` (Mittal and others, TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015,
 * Algorithm 1), as in HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control 9f4be2a, rdma-hw.cc, UpdateRateTimely).
 *
 * A round trip is from the start of a packet to its ACK. One decision a round trip: on the first ACK, and then on the first that
 * acknowledges more than had been sent at the decision before. The first one only notes the round trip. Each later one:
 *
 *   difference = (1 - weight) × difference + weight × (round trip - that of the decision before)
 *   gradient   = difference / least_round_trip
 *   round trip < low            R + additive; R + hyper after hyper_stages increases in a row
 *   else round trip > high      R × (1 - decrease × (1 - high / round trip))
 *   else gradient ≤ 0           as below low
 *   else                        R × (1 - decrease × gradient), not below 0
 *
 * R starts at line rate and stays within minimum … line. No window; losses and marks change nothing.
 *
 * What to expect: the paper's own successors say that it has no fixed point: any division of the port is an equilibrium once
 * the round trip stands between low and high (Zhu and others, ECN or Delay, CoNEXT 2016).
 *
 * Approximations: (1) the paper takes a sample a segment of 16 … 64 kB and starts at the NIC's rate over its number of queue
 * pairs; the simulator above decides once a round trip and starts at line rate, and so do we. (2) An ACK that does not tell
 * its packet (it has been sent again since) is passed over. Rates are whole bits per second, rounded down.
 */
extern const struct congestion_controller timely_controller;

#endif
