// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What each rank sends and receives in dispatch, summed from the counts. Combine is its mirror image: sent and received change places.
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

/** One rank's dispatch. */
struct moe_totals {
    struct moe_totals_side fabric_sent, fabric_received;
    struct moe_totals_side nvlink_sent, nvlink_received; /**< two_hop: own domain and forwarded */
    uint64_t self_copies; /**< tokens for its own experts, (token, expert) pairs in direct: they cross no link */
};

/** [n_ranks], freed with free(). */
struct moe_totals *moe_totals_create(const struct moe_counts *counts);

#endif
