// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Credit from the receiver: who takes says when more may come.
 */
#ifndef MOEFABRIC_CONGESTION_RECEIVER_CREDIT_H
#define MOEFABRIC_CONGESTION_RECEIVER_CREDIT_H

#include "congestion/congestion.h"

/**
 * The controller `receiver_credit`: pulls at the receiver, as NDP (Handley and others, Re-architecting datacenter networks
 * and stacks for low latency and high performance, SIGCOMM 2017), EQDS (Olteanu and others, NSDI 2022) and Ultra Ethernet's
 * receiver-credit congestion control (specification 1.0; ultraethernet/uet-htsim 40ccb05) have them.
 *
 * Sender: packet n may be sent if n < first + pulled, where first is first_window bandwidth-delay products of the idle path, in
 * packets rounded down, at least one, sent without having been asked for, and pulled is the highest number that a pull brought; and one packet
 * always while nothing is in flight. So no more than `first` packets are ever on their way, or owed by the receiver.
 * Receiver: every new data packet that is taken is owed one pull. Its NIC serves the queue pairs that are owed in turn, each with one
 * pull of at most pull_packets, and then waits for the time that the packets which it is owed for took, at r × line rate. r follows the marks of all that comes in,
 * each interval (`receiver_credit_arrived`):
 *
 *   r - packets trimmed elsewhere than at the receiver's port ÷ all that came
 *   g = g / 2 + marked share / 2, of the packets that came whole
 *   g > tolerated         r × (1 - (g - tolerated) × decrease)
 *   else, any such trim   r as it is
 *   else, no mark         r + step × 2^k, k intervals without a mark before this one
 *   else                  r + step
 *   r stays within 0.01 … 1 and starts at 1; without adapts_pace it stays there
 *
 * Approximations: (1) what is owed follows from what has arrived, as in NDP; in Ultra Ethernet senders tell their backlog, and
 * idle ones get credit slowly: here credit that was not used stays. (2) What is dropped is sent again by the transport, without
 * credit, and pulled when it arrives; a trimmed packet is pulled for as a full one when its header arrives, and what is sent for it takes that credit. Without trimming the first windows of an incast wait in the switch, until marks lower r. (3) Intervals end with the first
 * data packet after them, and are not jittered; htsim draws them from 0.75 … 1.25 of their length.
 */
extern const struct congestion_controller receiver_credit_controller;

/** What a receiver's NIC knows of its pace. Zero-initialise, then receiver_credit_begin. */
struct receiver_credit_pace {
    double rate;   /**< r */
    double marked; /**< g */
    uint64_t interval_end_ps;
    uint32_t packets, marks; /**< in this interval */
    uint32_t trims;          /**< of these packets, without their payload … */
    uint32_t distant_trims;  /**< … and cut elsewhere than at the port of the receiver */
    uint32_t calm;           /**< k */
};

/** Nothing has come yet. */
void receiver_credit_begin(struct receiver_credit_pace *pace);

/** A data packet has arrived. */
void receiver_credit_arrived(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace,
                             bool marked, uint64_t now_ps);

/** A trimmed packet has arrived; last_hop: cut at the port of this receiver, which pulls keep from happening anyway. */
void receiver_credit_trimmed(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace,
                             bool last_hop, uint64_t now_ps);

/** How long the NIC waits after a pull for bytes on the wire. */
uint64_t receiver_credit_gap_ps(const struct receiver_credit_pace *pace, uint64_t bytes, uint64_t line_bits_per_s);

#endif
