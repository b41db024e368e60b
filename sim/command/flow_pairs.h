// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which queue pairs the messages of each flow were posted on.
 *
 * A sender deals its messages to a peer out to its queue pairs in turn, whatever they belong to, so that a flow's pairs follow from
 * all that was posted to that peer before. They are read from what the senders noted, one sender at a time.
 */
#ifndef MOEFABRIC_COMMAND_FLOW_PAIRS_H
#define MOEFABRIC_COMMAND_FLOW_PAIRS_H

#include "command/plan.h"
#include "command/simulation.h"

/** What a run has left behind. */
struct flow_pairs {
    const struct simulation *simulation;
    const struct plan *plan;
    const struct network *network;         /**< that has run it */
    const struct measurement *measurement; /**< finished */
};

/** Called for a flow (row of measurement.flows) and a queue pair that it used: its index among those of the peer, and its number among those of the sender. */
typedef void flow_pairs_visitor(void *context, uint64_t flow, uint32_t index, uint32_t number);

/** Queue pairs that a sender has with each peer. */
uint32_t flow_pairs_of_peer(const struct simulation *simulation);

/** Visits every flow from a rank with each of its queue pairs once, in ascending order. */
void flow_pairs_visit(const struct flow_pairs *pairs, uint32_t rank, flow_pairs_visitor *visit, void *context);

#endif
