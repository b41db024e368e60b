// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What each rank sends and receives in a phase, summed from the counts.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_TOTALS_H
#define MOEFABRIC_WORKLOAD_MOE_TOTALS_H

#include "workload/moe_counts.h"

#include <stdint.h>

/** One direction of one route. */
struct moe_totals_side {
    uint64_t copies;   /**< token copies */
    uint32_t messages; /**< that carry them */
};

/** One rank's part in a phase. */
struct moe_totals {
    struct moe_totals_side fabric_sent, fabric_received;
    struct moe_totals_side nvlink_sent, nvlink_received; /**< what is handed on included */
    uint64_t self_copies; /**< tokens for its own experts, (token, expert) pairs unless by domain: they cross no link */
};

/** Adds copies that go from a rank to another one in so many messages, if there are any; the route follows from the two. */
void moe_totals_add(const struct moe_counts *counts, struct moe_totals *totals, uint32_t from, uint32_t to,
                    uint64_t copies, uint32_t messages);

/** The same the other way round: sent and received change places. */
struct moe_totals moe_totals_mirror(const struct moe_totals *totals);

#endif
