// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_kernel.h"

#include "base/number.h"
#include "base/rate.h"

uint64_t moe_kernel_hand_over(const struct moe *moe, uint32_t rank, uint64_t start_ps, uint64_t messages) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    const uint64_t begin_ps = number_larger(start_ps, state->handed_ps);
    state->handed_ps = begin_ps + messages * moe->kernel.message_ps;
    return begin_ps + moe->kernel.message_ps;
}

static uint64_t reading_ps(const struct moe *moe, enum moe_phase phase, uint64_t copies) {
    return rate_long_time_ps(moe->kernel.reduce_ps_per_byte, copies * moe->unit_bytes[phase]);
}

static uint64_t ready_ps(const struct moe *moe, enum moe_phase phase, uint32_t rank) {
    return moe->ranks[rank].times.begin_ps[phase] + kernel_before_ps(&moe->kernel);
}

uint64_t moe_kernel_sum_up(const struct moe *moe, enum moe_phase phase, uint32_t forwarder, uint32_t number) {
    const struct moe_counts *counts = moe->counts;
    struct moe_plan_rank *state = &moe->ranks[forwarder];
    uint64_t copies = 0;
    if (moe->kernel.reduce_ps_per_byte == 0) {
        return 0;
    }
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        copies += moe_counts_part(counts, number, position);
    }
    state->summed[phase] += copies;
    state->kept[phase] += moe_counts_part(counts, number, moe_counts_position(counts, forwarder));
    const uint64_t kernel_ps = ready_ps(moe, phase, forwarder);
    const uint64_t all_ps = kernel_ps + reading_ps(moe, phase, state->summed[phase]);
    return number_larger(all_ps, number_larger(state->now_ps, kernel_ps) + reading_ps(moe, phase, copies));
}

uint64_t moe_kernel_end_ps(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t now_ps) {
    const struct moe_plan_rank *state = &moe->ranks[rank];
    const uint64_t begin_ps = state->times.begin_ps[phase];
    uint64_t end_ps = number_larger(now_ps, begin_ps);
    if (!moe_phase_outward(phase) && moe->kernel.reduce_ps_per_byte > 0) {
        const struct moe_totals *totals = &moe->totals[phase][rank];
        const uint64_t copies = totals->fabric_received.copies + totals->nvlink_received.copies + totals->self_copies;
        end_ps =
            number_larger(end_ps, ready_ps(moe, phase, rank) + reading_ps(moe, phase, copies + state->kept[phase]));
    }
    return kernel_end_ps(&moe->kernel, begin_ps, end_ps);
}
