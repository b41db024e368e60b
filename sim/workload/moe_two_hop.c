// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * two_hop: DeepEP's normal kernels (csrc/kernels/internode.cu). A token crosses the fabric once per remote domain that it has an expert in, in chunks,
 * to the rank with the sender's position there, which sends it on over NVLink once per rank (channel 1). Within the domain a token goes to each of its
 * ranks once (channel 0). Combine is the same way back: parts of a chunk are gathered at the forwarder (channel 1), which sends the chunk, reduced to
 * one result a token, to the source when all parts are there.
 *
 * A forwarder forwards from its own start on, and returns chunks from its own combine start on; in the backward pass it forwards from when the phase
 * has begun there. A hot expert is NVLink and SM load of its rank: fan-in at a NIC is only the number of other domains.
 * Example: 2 domains of 2 GPUs (0, 1 | 2, 3); a token of GPU 0 with experts on 2 and 3: once over the fabric to 2, from there over NVLink to 3.
 */
#include "workload/moe_algorithm.h"
#include "workload/moe_hops.h"
#include "workload/moe_send.h"

static void send_near(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    const uint32_t first = outbox->count;
    for (uint32_t step = 1; step < moe->counts->row; step++) {
        const uint32_t to = moe_send_neighbour(moe->counts, rank, step);
        const struct moe_send send = {.phase = phase,
                                      .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE,
                                      .from = rank,
                                      .to = to,
                                      .copies = moe_hops_near(moe, phase, rank, to),
                                      .channel = MOE_SEND_OWN};
        moe_send_copies(moe, &send, outbox);
    }
    if (moe_phase_outward(phase)) {
        moe_send_local(outbox, first, moe_hops_near(moe, phase, rank, rank));
    }
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    send_near(moe, phase, rank, outbox);
    if (moe_phase_outward(phase)) {
        moe_hops_send_chunks(moe, phase, rank, outbox);
    } else {
        moe_hops_send_parts(moe, phase, rank, outbox);
    }
    moe_hops_release(moe, phase, rank, outbox);
}

static void granted(const struct moe *moe, uint32_t rank, uint32_t destination, struct traffic_outbox *outbox) {
    moe_hops_send_domain(moe, MOE_PHASE_DISPATCH, rank, moe_counts_domain(moe->counts, destination), outbox);
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
            moe_totals_add(counts, totals, rank, to, moe_hops_near(moe, phase, rank, to), 1);
        }
    }
    moe_hops_sum_far(moe, totals);
}

const struct moe_algorithm moe_two_hop = {.mirrored = true,
                                          .sum = sum,
                                          .add_row = moe_hops_add_row,
                                          .create = moe_hops_create,
                                          .destroy = moe_hops_destroy,
                                          .reset = moe_hops_reset,
                                          .begin = begin,
                                          .delivered = moe_hops_delivered,
                                          .granted = granted};
