// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * hybrid_ep: DeepEP's hybrid-ep kernels (docs/Hybrid-EP_Implementation.md, section 8). Two levels as in two_hop: a token crosses the fabric once per
 * remote domain, to the rank with the sender's position there, which hands it on over NVLink; results are reduced in each domain before they cross.
 * What differs: a token's own domain is one of the levels, in chunks as the others are, so that all ranks of the domain receive from the beginning; and
 * there are no counts, but the routing map (one byte for each token and expert of the model) of every rank is gathered at every other, over the same two
 * levels, before dispatch: the kernels work out from it what comes.
 *
 * Chunks of other domains are that many tokens that cross (in DeepEP that many of the source's, so some are shorter there); those of the own domain are as
 * many as if all tokens had an expert there. Own results go back after the parts of others, which still have a fabric to cross.
 * Example: 2 domains of 2 GPUs; GPU 0 with 4 tokens for GPU 1 in chunks of 2 (of 4 tokens): 2 messages of 2 over NVLink.
 */
#include "base/number.h"
#include "workload/moe_algorithm.h"
#include "workload/moe_hops.h"
#include "workload/moe_send.h"

static uint32_t near_chunks(const struct moe *moe) {
    return (uint32_t)number_divide_up(moe->traffic.tokens_per_gpu, moe->traffic.chunk_tokens);
}

/* The part of a chunk: copies are spread evenly over the chunks. */
static uint64_t near_copies(const struct moe *moe, enum moe_phase phase, uint32_t from, uint32_t to, uint32_t chunk) {
    const uint64_t copies = moe_hops_near(moe, phase, from, to), chunks = near_chunks(moe);
    return (chunk + 1) * copies / chunks - chunk * copies / chunks;
}

static void send_near(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    const uint32_t chunks = near_chunks(moe);
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const uint32_t first = outbox->count;
        for (uint32_t step = 1; step < moe->counts->row; step++) {
            const uint32_t to = moe_send_neighbour(moe->counts, rank, step);
            const struct moe_send send = {.phase = phase,
                                          .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE,
                                          .from = rank,
                                          .to = to,
                                          .domain = moe_counts_domain(moe->counts, rank),
                                          .chunk = chunk,
                                          .copies = near_copies(moe, phase, rank, to, chunk),
                                          .channel = MOE_SEND_OWN};
            moe_send_copies(moe, &send, outbox);
        }
        if (moe_phase_outward(phase)) {
            moe_send_local(outbox, first, near_copies(moe, phase, rank, rank, chunk));
        }
    }
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    if (moe_phase_outward(phase)) {
        send_near(moe, phase, rank, outbox);
        moe_hops_send_chunks(moe, phase, rank, outbox);
    } else {
        moe_hops_send_parts(moe, phase, rank, outbox);
        send_near(moe, phase, rank, outbox);
    }
    moe_hops_release(moe, phase, rank, outbox);
}

/* As many messages as chunks that are not empty. */
static uint32_t near_messages(const struct moe *moe, enum moe_phase phase, uint32_t from, uint32_t to) {
    return (uint32_t)number_smaller(moe_hops_near(moe, phase, from, to), near_chunks(moe));
}

static void sum(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t rank = 0; rank < counts->shape.placement.n_ranks; rank++) {
        if (!moe_counts_takes_part(counts, rank)) {
            continue;
        }
        totals[rank].self_copies += moe_hops_near(moe, phase, rank, rank);
        for (uint32_t step = 1; step < counts->row; step++) {
            const uint32_t to = moe_send_neighbour(counts, rank, step);
            moe_totals_add(counts, totals, rank, to, moe_hops_near(moe, phase, rank, to),
                           near_messages(moe, phase, rank, to));
        }
    }
    moe_hops_sum_far(moe, totals);
}

const struct moe_algorithm moe_hybrid_ep = {.mirrored = true,
                                            .sum = sum,
                                            .add_row = moe_hops_add_row,
                                            .create = moe_hops_create,
                                            .destroy = moe_hops_destroy,
                                            .reset = moe_hops_reset,
                                            .begin = begin,
                                            .delivered = moe_hops_delivered};
