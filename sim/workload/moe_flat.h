// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What algorithms without forwarding to a domain share: each (token, expert) copy goes from its source to the expert's rank, and back.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_FLAT_H
#define MOEFABRIC_WORKLOAD_MOE_FLAT_H

#include "workload/moe_plan.h"

/** Token copies from a rank to another of its group in a phase. */
static inline uint64_t moe_flat_copies(const struct moe *moe, enum moe_phase phase, uint32_t from, uint32_t to) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t source = moe_phase_outward(phase) ? from : to, holder = moe_phase_outward(phase) ? to : from;
    return counts->copies[(uint64_t)source * counts->row + moe_counts_local(counts, holder)];
}

/** The rank of its group that is `step` places after a rank. */
static inline uint32_t moe_flat_after(const struct moe_counts *counts, uint32_t rank, uint32_t step) {
    return moe_counts_rank(counts, moe_counts_group(counts, rank),
                           (moe_counts_local(counts, rank) + step) % counts->shape.group_ranks);
}

/** The rank of its group that is `step` places before a rank; step at most the size of the group. */
static inline uint32_t moe_flat_before(const struct moe_counts *counts, uint32_t rank, uint32_t step) {
    return moe_flat_after(counts, rank, counts->shape.group_ranks - step);
}

/** Token copies of a chunk of chunk_bytes, whole ones, at least 1. */
uint64_t moe_flat_chunk_copies(const struct moe *moe, enum moe_phase phase);

/** Chunks of so many copies. */
uint32_t moe_flat_chunks(const struct moe *moe, enum moe_phase phase, uint64_t copies);

/** moe_algorithm.sum where each pair exchanges its copies in one message. */
void moe_flat_sum(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals);

/** moe_algorithm.sum where each pair exchanges its copies in chunks. */
void moe_flat_sum_chunks(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals);

/** moe_algorithm.add_row where copies go from rank to rank without a stop. */
void moe_flat_add_row(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies);

#endif
