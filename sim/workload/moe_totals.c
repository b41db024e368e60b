// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_totals.h"

#include "base/memory.h"

static void add(struct moe_totals_side *side, uint64_t copies) {
    if (copies > 0) {
        side->copies += copies;
        side->messages++;
    }
}

static void add_transfer(const struct moe_counts *counts, struct moe_totals *totals, uint32_t from, uint32_t to,
                         uint64_t copies) {
    if (from == to) {
        totals[from].self_copies += copies;
    } else if (moe_placement_route(&counts->shape.placement, from, to) == TRAFFIC_NVLINK) {
        add(&totals[from].nvlink_sent, copies);
        add(&totals[to].nvlink_received, copies);
    } else {
        add(&totals[from].fabric_sent, copies);
        add(&totals[to].fabric_received, copies);
    }
}

/* A row covers the whole group (direct) or the own domain (two_hop). */
static void add_row(const struct moe_counts *counts, struct moe_totals *totals, uint32_t source) {
    for (uint32_t i = 0; i < counts->row; i++) {
        add_transfer(counts, totals, source, moe_counts_row_rank(counts, source, i),
                     counts->copies[(uint64_t)source * counts->row + i]);
    }
}

/* A chunk crosses the fabric, then its parts leave the forwarder. A forwarder's own part stays there and was already counted on arrival. */
static void add_chunk(const struct moe_counts *counts, struct moe_totals *totals, uint32_t source, uint32_t domain,
                      uint32_t chunk) {
    const uint32_t forwarder = moe_counts_mate(counts, source, domain);
    const uint32_t first = forwarder - moe_counts_position(counts, forwarder);
    const uint32_t number = moe_counts_chunk_number(counts, source, domain, chunk);
    add_transfer(counts, totals, source, forwarder, moe_counts_chunk_tokens(counts, source, domain, chunk));
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        if (first + position != forwarder) {
            add_transfer(counts, totals, forwarder, first + position, moe_counts_part(counts, number, position));
        }
    }
}

struct moe_totals *moe_totals_create(const struct moe_counts *counts) {
    const uint32_t n_ranks = counts->shape.placement.n_ranks;
    struct moe_totals *totals = memory_allocate(n_ranks, sizeof *totals);
    for (uint32_t source = 0; source < n_ranks; source++) {
        add_row(counts, totals, source);
        for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
            const uint32_t chunks = moe_counts_chunks(counts, source, domain);
            for (uint32_t chunk = 0; chunk < chunks; chunk++) {
                add_chunk(counts, totals, source, domain, chunk);
            }
        }
    }
    return totals;
}
