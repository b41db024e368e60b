// SPDX-License-Identifier: GPL-3.0-or-later
/* Phases of the plan: which comes when. What is sent in them is the algorithms' affair. */
#include "workload/moe.h"

#include "base/error.h"
#include "base/number.h"
#include "base/rate.h"
#include "workload/jitter.h"
#include "workload/moe_hops.h"
#include "workload/moe_kernel.h"
#include "workload/moe_plan.h"
#include "workload/moe_send.h"

#include <string.h>

static void reset_rank(struct moe *moe, uint32_t rank) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    *state = (struct moe_plan_rank){.counts_left = moe->exchange_counts ? moe_send_counts_peers(moe) : 0};
    memset(&state->times, 0xff, sizeof state->times); // TIME_NEVER
    state->times.start_ps = jitter_start_ps(moe->seed, rank, moe->traffic.jitter_ps);
    for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
        if (moe->has_phase[phase]) {
            const struct moe_totals *totals = &moe->totals[phase][rank];
            state->left[phase] = totals->fabric_received.messages + totals->nvlink_received.messages;
        }
    }
    memset(moe->grants + (uint64_t)rank * moe->grant_words, 0, moe->grant_words * sizeof *moe->grants);
    if (moe->algorithm->reset) {
        moe->algorithm->reset(moe, rank);
    }
}

static void begin_phase(struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t at_ps,
                        struct traffic_outbox *outbox);

/* Between the end of the phase before and a phase: experts compute on what they have received, and the rest of the model on what has come back. */
static uint64_t pause_before(const struct moe *moe, enum moe_phase phase, enum moe_phase before, uint32_t rank) {
    const struct moe_totals *totals = &moe->totals[before][rank];
    const bool received = totals->fabric_received.messages + totals->nvlink_received.messages > 0;
    switch (phase) {
    case MOE_PHASE_COMBINE:
        return received ? moe->traffic.expert_time_ps : 0;
    case MOE_PHASE_COMBINE_BACKWARD:
        return moe->traffic.turn_time_ps;
    case MOE_PHASE_DISPATCH_BACKWARD:
        return received ? moe->traffic.expert_backward_time_ps : 0;
    default:
        BUG("nothing comes before phase %d", (int)phase);
    }
}

/* A phase has ended here once it has begun and nothing more is to come; the next one follows. */
static void check_end(struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t now_ps,
                      struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    if (!state->begun[phase] || state->left[phase] > 0) {
        return;
    }
    state->times.end_ps[phase] = moe_kernel_end_ps(moe, phase, rank, now_ps);
    for (enum moe_phase next = phase + 1; next < MOE_PHASES; next++) {
        if (moe->has_phase[next]) {
            begin_phase(moe, next, rank, state->times.end_ps[phase] + pause_before(moe, next, phase, rank), outbox);
            return;
        }
    }
}

static void begin_phase(struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t at_ps,
                        struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    state->begun[phase] = true;
    state->now_ps = number_larger(state->now_ps, at_ps);
    state->times.begin_ps[phase] = number_larger(at_ps, state->times.start_ps);
    moe->algorithm->begin(moe, phase, rank, outbox);
    check_end(moe, phase, rank, at_ps, outbox);
}

static enum moe_phase first_phase(const struct moe *moe) {
    enum moe_phase phase = 0;
    while (!moe->has_phase[phase]) {
        phase++;
    }
    return phase;
}

static void finish_counts(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    state->times.counts_done_ps = number_larger(now_ps, state->times.start_ps);
    if (moe->early_pacing) {
        moe_send_grants(moe, rank, outbox);
    }
    begin_phase(moe, MOE_PHASE_DISPATCH, rank, now_ps, outbox);
}

static void plan_begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    struct moe *moe = plan;
    if (!moe_counts_takes_part(moe->counts, rank)) {
        return;
    }
    reset_rank(moe, rank);
    if (!moe->exchange_counts) {
        begin_phase(moe, first_phase(moe), rank, 0, outbox);
        return;
    }
    moe_send_counts(moe, rank, outbox);
    if (moe->ranks[rank].counts_left == 0) {
        finish_counts(moe, rank, 0, outbox);
    }
}

static void counts_delivered(struct moe *moe, uint32_t rank, uint32_t source, uint64_t now_ps,
                             struct traffic_outbox *outbox) {
    REQUIRE(moe->ranks[rank].counts_left > 0, "more counts at rank %u than it awaits", rank);
    moe_send_map_on(moe, rank, source, outbox);
    if (--moe->ranks[rank].counts_left == 0) {
        finish_counts(moe, rank, now_ps, outbox);
    }
}

static void grant_delivered(struct moe *moe, uint32_t rank, uint32_t source, struct traffic_outbox *outbox) {
    moe_send_note_grant(moe, rank, source);
    if (moe->ranks[rank].begun[MOE_PHASE_DISPATCH]) {
        moe->algorithm->granted(moe, rank, source, outbox);
    }
}

static void copies_delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source,
                             const struct moe_tag *what, uint64_t now_ps, struct traffic_outbox *outbox) {
    if (moe->algorithm->delivered) {
        moe->algorithm->delivered(moe, phase, rank, source, what, outbox);
    }
    REQUIRE(moe->ranks[rank].left[phase] > 0, "more arrives at rank %u in phase %d than was announced", rank,
            (int)phase);
    moe->ranks[rank].left[phase]--;
    check_end(moe, phase, rank, now_ps, outbox);
}

static void plan_delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                           struct traffic_outbox *outbox) {
    struct moe *moe = plan;
    const struct moe_tag what = moe_tag_unpack(tag);
    const enum moe_phase phase = moe_tag_phase(&what);
    moe->ranks[rank].now_ps = now_ps;
    switch (what.kind) {
    case MOE_TAG_COUNTS:
        counts_delivered(moe, rank, source, now_ps, outbox);
        return;
    case MOE_TAG_GRANT:
        grant_delivered(moe, rank, source, outbox);
        return;
    case MOE_TAG_ACKNOWLEDGE:
        moe->algorithm->acknowledged(moe, phase, rank, source, outbox);
        return;
    case MOE_TAG_DISPATCH:
    case MOE_TAG_DISPATCH_FORWARD:
    case MOE_TAG_COMBINE_GATHER:
    case MOE_TAG_COMBINE:
        copies_delivered(moe, phase, rank, source, &what, now_ps, outbox);
        return;
    case MOE_TAG_KINDS:
        break;
    }
    BUG("tag %#x from %u delivered to %u", tag, source, rank);
}

static uint32_t plan_series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                            struct traffic_message *messages, uint32_t capacity) {
    const struct moe_tag what = moe_tag_unpack(tag);
    REQUIRE(what.kind == MOE_TAG_COMBINE_GATHER, "tag %#x names no series", tag);
    return moe_hops_series(plan, moe_tag_phase(&what), rank, cursor, messages, capacity);
}

struct traffic moe_traffic(struct moe *moe) {
    return (struct traffic){.plan = moe,
                            .n_ranks = moe->counts->shape.placement.n_ranks,
                            .begin = plan_begin,
                            .delivered = plan_delivered,
                            .series = plan_series};
}

struct moe_phase_times moe_phase_times(const struct moe *moe, uint32_t rank) {
    return moe->ranks[rank].times;
}

void moe_take_times(struct moe *moe, uint32_t rank, const struct moe_phase_times *times) {
    moe->ranks[rank].times = *times;
}

bool moe_finished(const struct moe *moe) {
    for (uint32_t rank = 0; rank < moe->counts->shape.placement.n_ranks; rank++) {
        for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
            if (moe_counts_takes_part(moe->counts, rank) && moe->has_phase[phase] &&
                moe->ranks[rank].times.end_ps[phase] == TIME_NEVER) {
                return false;
            }
        }
    }
    return true;
}

struct moe_tag moe_describe_tag(uint32_t tag) {
    return moe_tag_unpack(tag);
}

const struct moe_counts *moe_plan_counts(const struct moe *moe) {
    return moe->counts;
}
