// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Spectrum-X style congestion control: one decision a round trip, by the delay of probes (also named ztr_rtt).
 */
#ifndef MOEFABRIC_CONGESTION_SPECTRUM_X_H
#define MOEFABRIC_CONGESTION_SPECTRUM_X_H

#include "congestion/congestion.h"

/**
 * The controller `spectrum_x`.
 *
 * Two public texts are joined. The structure is that of the DOCA PCC reference `rtt_template` (NVIDIA-DOCA/doca-samples,
 * applications/pcc/device/rp/rtt_template, below: *template*). The figures are those that NVIDIA's operator writes
 * into NICs for Spectrum-X reference architecture 2.1 (Mellanox/nic-configuration-operator 7697793, bindata/spectrum-x/
 * RA2.1.yaml, slot 0, below: *RA2.1*). The algorithm that these figures belong to ("ZTR RTT") is not public.
 *
 * R is the rate as a share of the line. A queue pair starts at R = 1. Every probe reply is one decision, u = responsiveness:
 *
 *   smallest round trip  starts at base_round_trip, falls to every smaller sample, and is set back now and then (3);
 *                        d = round trip - smallest round trip is the queueing delay.
 *   loss seen and d ≥ largest_delay              R × (1 - 5u); the loss is forgotten          (template)
 *   else notified or d ≥ largest_delay           R × (1 - 2u); the notification is forgotten  (template)
 *   else d > threshold                           R × max(largest_decrease, 1 - u × (d - threshold) / threshold)
 *   else                                         R × min(largest_increase, 1 + u × (threshold - d) / threshold) + AI,
 *                                                HAI instead of AI when hyper_period has passed without a cut.
 *   The first cut of a queue pair leaves R at first_congestion at most. R stays within minimum … 1.
 *
 * Early pacing (ours, no product's rule): receive counts are exchanged before dispatch, so each sender can be told its
 * share of the destination's port; with `early_pacing` R starts at that share instead of 1 and the decisions go on
 * from there. A share that is announced later sets R again if there was no reply yet, or if the queue pair was idle: no
 * reply for twice the last round trip (one probe is always in flight while there is work). The share then counts as a
 * new start: R, the first cut and the hyper period begin anew, the smallest round trip is kept.
 *
 * What to expect of it (RA2.1 figures, 6 or 64 senders into one 400 Gb/s port, base round trip 8 us, bytes as a fluid:
 * tests/congestion/test_incast.c). Shares that add up to the port leave no queue, so d = 0 and every round trip raises R by
 * largest_increase: after seven of them 1.4 times the port is offered, and only then d passes the threshold.
 * Without ECN the queue goes on to 13 … 15 MB, since decisions become rarer as round trips grow; with ECN at 150 kB …
 * 1.5 MB it stays at 0.5 … 0.9 MB and 90 … 95 % of the port is used. AI is small against the factor (96 / 2^20 of the
 * line a round trip) but does not shrink with R: below a share of about 2^-9 it is the larger part of the increase.
 * Without early pacing the first decisions come too late: six senders still offer 2.4 … 2.6 times the port after 1 ms
 * (129 GB/s to 50 where pauses hold the queue at 9 MB: one cut to 0.5, then five by 0.97).
 *
 * Approximations: (1) how RA2.1 uses responsiveness, both factor limits and the threshold is our reading: the factor
 * is linear in the excess delay; (2) AI and HAI have no documented unit; here steps of R in 2^-20 a decision; (3) the
 * template sets the smallest round trip back to its start value when the low 8 bits of the reply's time stamp in ns are 0,
 * once in 256 replies on average; here when those of a hash of the time in ps are, since simulated times share factors
 * with 256 ns too often; (4) the template compares the whole round trip with its largest delay (150 us), here d with
 * RA2.1's "max queuing delay"; a new smallest round trip counts as d = 0, in the template as d = the round trip; (5) the strong cuts have no figure in RA2.1 and are the template's multiples of u; they go below
 * largest_decrease; (6) left out: the template's larger cuts above 85 % utilisation of the port, "TX rate decrement
 * step", fast scheduling, topology awareness, detection of dead planes; (7) only probes see delay: acknowledgements
 * do not; (8) an idle queue pair keeps its last R, unless a share is announced;
 * (9) ours: R is raised only where it was used, the rule of TCP's congestion window validation (RFC 7661: at least half). Without it the R of
 * every queue pair that its own NIC holds back (one of 255 served in turn) rises to 1 while nothing is learned of the path, and the
 * queue pairs that are left when the others have finished hit their destination at line rate, early pacing or not.
 *
 * Numbers: R has 20 fractional bits as in the template, factors 16, both rounded down.
 */
extern const struct congestion_controller spectrum_x_controller;

#endif
