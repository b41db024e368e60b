// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * HPCC: a window by what switches tell of their ports.
 */
#ifndef MOEFABRIC_CONGESTION_HPCC_H
#define MOEFABRIC_CONGESTION_HPCC_H

#include "congestion/congestion.h"

/**
 * The controller `hpcc` (Li and others, HPCC: High Precision Congestion Control, SIGCOMM 2019, Algorithm 1), with the telemetry
 * of PINT (Ben Basat and others, SIGCOMM 2020; HPCC's simulator alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc
 * UpdateRateHpPint): switches keep the utilisation U of their ports themselves and packets bring back the highest on the way
 * in one byte (telemetry.h), where HPCC's own packets bring back 64 bits a switch and senders work out U. T is the base round trip (a figure of the
 * fabric, told to all), B the line rate of the NIC, η = target.
 *
 *   W starts at B × T; R = W / T; W bytes (rounded down to packets, at least one) may be unacknowledged
 *   each ACK with telemetry but the first:
 *     U / η ≥ 1 or stage ≥ largest_stage   W = Wc / (U / η) + additive, stage becomes 0
 *     else                                 W = Wc + additive, stage becomes stage + 1
 *   W stays within one packet … B × T. The new W becomes Wc, and the new stage counts, once a round trip: on an ACK that acknowledges more than
 *   had been sent at the time before; on the ACKs between, W follows from the same Wc.
 *
 * Approximations: (1) U of the path in 5 bits' precision, as published for PINT (error of one sample 3 … 6 %, none in the mean); HPCC's own header
 * is finer. (2) U counts data classes, not control. (3) Rate and window are those of the paper; the simulator above bounds the rate only.
 */
extern const struct congestion_controller hpcc_controller;

#endif
