// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_flat.h"

#include "base/number.h"

uint64_t moe_flat_chunk_copies(const struct moe *moe, enum moe_phase phase) {
    return number_larger(moe->traffic.chunk_bytes / moe->unit_bytes[phase], 1);
}

uint32_t moe_flat_chunks(const struct moe *moe, enum moe_phase phase, uint64_t copies) {
    return (uint32_t)number_divide_up(copies, moe_flat_chunk_copies(moe, phase));
}

static void sum(const struct moe *moe, enum moe_phase phase, bool in_chunks, struct moe_totals *totals) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t rank = 0; rank < counts->shape.placement.n_ranks; rank++) {
        if (!moe_counts_takes_part(counts, rank)) {
            continue;
        }
        totals[rank].self_copies += moe_flat_copies(moe, phase, rank, rank);
        for (uint32_t step = 1; step < counts->row; step++) {
            const uint32_t to = moe_flat_after(counts, rank, step);
            const uint64_t copies = moe_flat_copies(moe, phase, rank, to);
            moe_totals_add(counts, totals, rank, to, copies, in_chunks ? moe_flat_chunks(moe, phase, copies) : 1);
        }
    }
}

void moe_flat_sum(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals) {
    sum(moe, phase, false, totals);
}

void moe_flat_sum_chunks(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals) {
    sum(moe, phase, true, totals);
}

void moe_flat_add_row(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies) {
    for (uint32_t step = 1; step < moe->counts->row; step++) {
        const uint32_t to = moe_flat_after(moe->counts, rank, step);
        copies[to] += moe_flat_copies(moe, phase, rank, to);
    }
}
