// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_totals.h"

static void add(struct moe_totals_side *side, uint64_t copies, uint32_t messages) {
    side->copies += copies;
    side->messages += messages;
}

void moe_totals_add(const struct moe_counts *counts, struct moe_totals *totals, uint32_t from, uint32_t to,
                    uint64_t copies, uint32_t messages) {
    if (copies == 0) {
        return;
    }
    if (moe_placement_route(&counts->shape.placement, from, to) == TRAFFIC_NVLINK) {
        add(&totals[from].nvlink_sent, copies, messages);
        add(&totals[to].nvlink_received, copies, messages);
    } else {
        add(&totals[from].fabric_sent, copies, messages);
        add(&totals[to].fabric_received, copies, messages);
    }
}

struct moe_totals moe_totals_mirror(const struct moe_totals *totals) {
    return (struct moe_totals){.fabric_sent = totals->fabric_received,
                               .fabric_received = totals->fabric_sent,
                               .nvlink_sent = totals->nvlink_received,
                               .nvlink_received = totals->nvlink_sent,
                               .self_copies = totals->self_copies};
}
