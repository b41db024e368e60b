// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * DCQCN: rate control by congestion notifications, as RoCE NICs run it.
 */
#ifndef MOEFABRIC_CONGESTION_DCQCN_H
#define MOEFABRIC_CONGESTION_DCQCN_H

#include "congestion/congestion.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * The controller `dcqcn`: the reaction point in its Mellanox form (rdma-hw.cc, "Mlx" functions, of the HPCC simulator,
 * alibaba-edu/High-Precision-Congestion-Control 9f4be2a). R is the rate, T its target, a = alpha:
 *
 *   first notification, at t0: a = 1; T = R = first_rate × R; the clocks below start at t0; it counts as seen for the
 *                              rate decrease, not for alpha.
 *   t0 + k × alpha_period:     a = (1 - g) × a + (g if a notification was seen since the last such time).
 *   t0 + k × decrease_period:  if a notification was seen since the last decrease: T = R (only if clamp_target or
 *                              stage ≠ 0); R = max(minimum, R × (1 - a / 2)); stage = 0; the increase timer restarts.
 *   increase timer, period increase_period, running from the first decrease on:
 *                              stage < F: nothing; stage = F: T = min(line, T + additive); stage > F: T = min(line,
 *                              T + hyper); then R = (R + T) / 2; stage + 1.
 *
 * At equal times the order is alpha, decrease, increase (an increase that falls on a decrease is thus cancelled by the
 * restart), and all of these come before a notification that arrives at that time. The source delays its decrease
 * clock by 1 ns to get the first part of this order; that nanosecond is not kept.
 *
 * Numbers: rates are whole bits per second, alpha has 31 fractional bits. A cut rounds R up, a step towards T rounds up
 * (so that R reaches T instead of staying 1 b/s below), alpha rounds down (so that it reaches 0).
 *
 * Left out: the byte counter of the paper (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM
 * 2015), which a long flow near line rate would use beside the timer; the firmware's largest cut a step
 * (RPG_MIN_DEC_FAC 50 %: R × (1 - a / 2) never cuts deeper). Losses and announced shares do not change the rate.
 */
extern const struct congestion_controller dcqcn_controller;

/**
 * Fills the constants that go by a name, for a NIC of this line rate. Returns false if there is no such profile.
 *
 * `paper`     Zhu et al. 2015 as simulated by htsim (dcqcn.cpp, ultraethernet/uet-htsim 40ccb05): g = 1/256, alpha
 *             and timer 55 us, decrease and notification interval 50 us, F = 5, additive line/20, minimum 1 b/s, the target
 *             follows every cut. Hyper increase needs more than F byte-counter stages, which are left out: its step equals
 *             the additive one here.
 * `mellanox`  ns-3 of the HPCC simulator: g = 1/256, alpha 1 us, decrease 4 us, timer 300 us, F = 1, additive 5 Mb/s and
 *             hyper 50 Mb/s a 25 Gb/s NIC, minimum 100 Mb/s, first rate 1. Notification interval 4 us (default according to
 *             the Barre paper; the simulator itself echoes every mark).
 * `firmware`  defaults in an mlxconfig dump of a ConnectX NIC: DCE_TCP_G 1019 of 1024 (read as g = 5/1024), DCE_TCP_RTT
 *             1 us, RATE_REDUCE_MONITOR_PERIOD 4 us, RPG_TIME_RESET 300 us, RPG_THRESHOLD 1, RPG_AI_RATE 5 Mb/s,
 *             RPG_HAI_RATE 50 Mb/s, RPG_MIN_RATE 1 Mb/s, MIN_TIME_BETWEEN_CNPS 2 (us).
 *
 * scale_steps: the steps of `mellanox` and `firmware` are those of a 25 Gb/s NIC and grow with line / 25 Gb/s; without it
 * they are absolute, as in the firmware (50 Mb/s every 300 us: 1.2 s to regain 200 Gb/s). Those of `paper` always follow the line.
 */
bool dcqcn_profile(const char *name, uint64_t line_bits_per_s, bool scale_steps, struct dcqcn_parameters *parameters,
                   uint64_t *notification_interval_ps);

#endif
