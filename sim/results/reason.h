// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Why a flow was slow: the link on its way that had most to carry for others meanwhile, pauses there, and what was lost.
 */
#ifndef MOEFABRIC_RESULTS_REASON_H
#define MOEFABRIC_RESULTS_REASON_H

#include "results/measurement.h"

#include <stdint.h>

/** A flow on a link, and the part of its packets that are expected there. */
struct reason_user {
    uint64_t flow; /**< row of the flows table */
    double part;
};

/** A link on the way of a flow, with all flows on it, the flow itself or not. The caller's. */
struct reason_link {
    uint32_t link; /**< row of the links table */
    double part;   /**< of the flow's own packets */
    const struct reason_user *users;
    uint64_t n_users;
};

/**
 * The reason of one flow. Of its links, the one is named on which the bytes of flows that were under way while this one was active take longest;
 * the link into the receiver: incast; out of the sender: its own other flows; else a link that is shared, or, where packets are spread, one of those
 * that are alike. Then the longest pause (or want of credit) on its way if it is a tenth of its time or more, and packets lost or dropped there.
 */
struct measurement_slow_flow reason_of_flow(const struct measurement *measurement, uint64_t flow,
                                            const struct reason_link *links, uint32_t n_links);

#endif
