// SPDX-License-Identifier: GPL-3.0-or-later
/* Phases of the plan: what a delivery sets free. The messages themselves are made in moe_send.c. */
#include "workload/moe.h"

#include "base/error.h"
#include "base/rate.h"
#include "workload/jitter.h"
#include "workload/moe_plan.h"

#include <string.h>

static uint64_t later(uint64_t left_ps, uint64_t right_ps) {
    return left_ps > right_ps ? left_ps : right_ps;
}

/* What the forwarder of a chunk awaits before it returns it: parts of the other ranks, and its own combine. */
static uint32_t chunk_parts(const struct moe_counts *counts, uint32_t number, uint32_t forwarder) {
    uint32_t parts = 1;
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        parts += position != moe_counts_position(counts, forwarder) && moe_counts_part(counts, number, position) > 0;
    }
    return parts;
}

static void reset_forwarded(struct moe *moe, uint32_t rank) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
        const uint32_t source = moe_counts_mate(counts, rank, domain);
        const uint32_t chunks = domain == own ? 0 : moe_counts_chunks(counts, source, own);
        for (uint32_t chunk = 0; chunk < chunks; chunk++) {
            const uint32_t number = moe_counts_chunk_number(counts, source, own, chunk);
            moe->missing[number] = (uint16_t)chunk_parts(counts, number, rank);
        }
    }
}

static void reset_rank(struct moe *moe, uint32_t rank) {
    const struct moe_totals *totals = &moe->totals[rank];
    struct moe_plan_rank *state = &moe->ranks[rank];
    *state = (struct moe_plan_rank){
        .times = {jitter_start_ps(moe->seed, rank, moe->traffic.jitter_ps), TIME_NEVER, TIME_NEVER, TIME_NEVER,
                  TIME_NEVER, TIME_NEVER},
        .counts_left = moe->exchange_counts ? moe_send_counts_peers(moe) : 0,
        .dispatch_left =
            moe->traffic.dispatch ? totals->fabric_received.messages + totals->nvlink_received.messages : 0,
        .combine_left = moe->traffic.combine ? totals->fabric_sent.messages + totals->nvlink_sent.messages : 0,
    };
    memset(moe->grants + (uint64_t)rank * moe->grant_words, 0, moe->grant_words * sizeof *moe->grants);
    if (moe->counts->shape.two_hop && moe->traffic.combine) {
        reset_forwarded(moe, rank);
    }
}

/* One thing less that a forwarder waits for. */
static void chunk_progress(struct moe *moe, uint32_t forwarder, uint32_t source, uint32_t chunk,
                           struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t number = moe_counts_chunk_number(counts, source, moe_counts_domain(counts, forwarder), chunk);
    REQUIRE(moe->missing[number] > 0, "chunk %u of %u has more parts than were sent", chunk, source);
    if (--moe->missing[number] == 0) {
        moe_send_reduced(moe, forwarder, source, chunk, outbox);
    }
}

/* A forwarder's own combine begins: chunks that wait for nothing else return now, chunk by chunk over all domains. */
static void release_forwarded(struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    bool more = true;
    for (uint32_t chunk = 0; more; chunk++) {
        more = false;
        for (uint32_t step = 1; step < counts->group_domains; step++) {
            const uint32_t source = moe_counts_mate(counts, rank, (own + step) % counts->group_domains);
            if (chunk < moe_counts_chunks(counts, source, own)) {
                more = true;
                chunk_progress(moe, rank, source, chunk, outbox);
            }
        }
    }
}

static void start_combine(struct moe *moe, uint32_t rank, uint64_t at_ps, struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    state->combining = true;
    state->times.combine_start_ps = at_ps;
    state->gather_rounds = moe_send_rounds(moe, rank);
    moe_send_combine(moe, rank, outbox);
    if (moe->counts->shape.two_hop) {
        release_forwarded(moe, rank, outbox);
    }
    if (state->combine_left == 0) {
        state->times.combine_end_ps = at_ps;
    }
}

/* Dispatch has ended here once it has begun and nothing more is to come; combine follows. */
static void check_dispatch_end(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    if (!state->dispatching || state->dispatch_left > 0) {
        return;
    }
    state->times.dispatch_end_ps = later(now_ps, state->times.dispatch_start_ps);
    if (moe->traffic.combine) {
        const struct moe_totals *totals = &moe->totals[rank];
        const bool received = totals->fabric_received.messages + totals->nvlink_received.messages > 0;
        const uint64_t pause_ps = received ? moe->traffic.expert_time_ps : 0;
        start_combine(moe, rank, state->times.dispatch_end_ps + pause_ps, outbox);
    }
}

static void start_dispatch(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    state->dispatching = true;
    state->times.dispatch_start_ps = later(now_ps, state->times.start_ps);
    moe_send_dispatch(moe, rank, outbox);
    check_dispatch_end(moe, rank, now_ps, outbox);
}

static void finish_counts(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    state->times.counts_done_ps = later(now_ps, state->times.start_ps);
    if (moe->early_pacing) {
        moe_send_grants(moe, rank, outbox);
    }
    start_dispatch(moe, rank, now_ps, outbox);
}

static void plan_begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    struct moe *moe = plan;
    reset_rank(moe, rank);
    if (moe->exchange_counts) {
        moe_send_counts(moe, rank, outbox);
        if (moe->ranks[rank].counts_left == 0) {
            finish_counts(moe, rank, 0, outbox);
        }
    } else if (moe->traffic.dispatch) {
        start_dispatch(moe, rank, 0, outbox);
    } else {
        start_combine(moe, rank, moe->ranks[rank].times.start_ps, outbox);
    }
}

static void dispatch_delivered(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    REQUIRE(moe->ranks[rank].dispatch_left > 0, "more dispatched to rank %u than was announced", rank);
    moe->ranks[rank].dispatch_left--;
    check_dispatch_end(moe, rank, now_ps, outbox);
}

static void combine_delivered(struct moe *moe, uint32_t rank, uint64_t now_ps) {
    struct moe_plan_rank *state = &moe->ranks[rank];
    REQUIRE(state->combine_left > 0, "more combined at rank %u than was announced", rank);
    state->combine_left--;
    if (state->combine_left == 0 && state->combining) {
        state->times.combine_end_ps = later(now_ps, state->times.combine_start_ps);
    }
}

static void counts_delivered(struct moe *moe, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    REQUIRE(moe->ranks[rank].counts_left > 0, "more counts at rank %u than it awaits", rank);
    if (--moe->ranks[rank].counts_left == 0) {
        finish_counts(moe, rank, now_ps, outbox);
    }
}

static void grant_delivered(struct moe *moe, uint32_t rank, uint32_t source, uint64_t now_ps,
                            struct traffic_outbox *outbox) {
    (void)now_ps;
    REQUIRE(!moe_send_is_granted(moe, rank, source), "rank %u was granted %u twice", rank, source);
    moe_send_note_grant(moe, rank, source);
    if (moe->ranks[rank].dispatching) {
        moe_send_granted(moe, rank, source, outbox);
    }
}

static void plan_delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                           struct traffic_outbox *outbox) {
    struct moe *moe = plan;
    const struct moe_counts *counts = moe->counts;
    const struct moe_tag what = moe_tag_unpack(tag);
    switch (what.kind) {
    case MOE_TAG_COUNTS:
        counts_delivered(moe, rank, now_ps, outbox);
        return;
    case MOE_TAG_GRANT:
        grant_delivered(moe, rank, source, now_ps, outbox);
        return;
    case MOE_TAG_DISPATCH:
        if (counts->shape.two_hop && moe_counts_domain(counts, source) != moe_counts_domain(counts, rank)) {
            moe_send_forward(moe, rank, source, what.chunk, outbox);
        }
        dispatch_delivered(moe, rank, now_ps, outbox);
        return;
    case MOE_TAG_DISPATCH_FORWARD:
        dispatch_delivered(moe, rank, now_ps, outbox);
        return;
    case MOE_TAG_COMBINE_GATHER:
        chunk_progress(moe, rank, moe_counts_mate(counts, rank, what.domain), what.chunk, outbox);
        combine_delivered(moe, rank, now_ps);
        return;
    case MOE_TAG_COMBINE:
        combine_delivered(moe, rank, now_ps);
        return;
    case MOE_TAG_KINDS:
        break;
    }
    BUG("tag %#x from %u delivered to %u", tag, source, rank);
}

static uint32_t plan_series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                            struct traffic_message *messages, uint32_t capacity) {
    REQUIRE(moe_tag_unpack(tag).kind == MOE_TAG_COMBINE_GATHER, "tag %#x names no series", tag);
    return moe_send_series(plan, rank, cursor, messages, capacity);
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
        const struct moe_phase_times *times = &moe->ranks[rank].times;
        if ((moe->traffic.dispatch && times->dispatch_end_ps == TIME_NEVER) ||
            (moe->traffic.combine && times->combine_end_ps == TIME_NEVER)) {
            return false;
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
