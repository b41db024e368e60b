// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * direct: low-latency kernels of DeepEP (csrc/kernels/internode_ll.cu). A rank sends every (token, expert) copy to the expert's rank, NVLink within the
 * domain, the fabric otherwise; one message a destination, in units of one copy. Each copy's result goes straight back.
 *
 * Destinations are walked from the next rank on, so that senders do not march in step. A hot expert is incast at the NIC of its rank.
 * Example: 2 domains of 2 GPUs; GPU 0 has 3 copies for GPU 1 and 2 for GPU 3: one message of 3 units over NVLink, one of 2 over the fabric.
 */
#include "workload/moe_algorithm.h"
#include "workload/moe_flat.h"
#include "workload/moe_send.h"

enum {
    /* the source's index (int4) before each copy: 7168 + 224 + 16 = 7408 bytes (csrc/kernels/internode_ll.cu) */
    HEADER_BYTES = 16
};

static void send_to(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t to,
                    struct traffic_outbox *outbox) {
    const struct moe_send send = {.phase = phase,
                                  .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE,
                                  .from = rank,
                                  .to = to,
                                  .copies = moe_flat_copies(moe, phase, rank, to),
                                  .channel = MOE_SEND_OWN};
    moe_send_copies(moe, &send, outbox);
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    const uint32_t first = outbox->count;
    for (uint32_t step = 1; step < moe->counts->row; step++) {
        const uint32_t to = moe_flat_after(moe->counts, rank, step);
        if (phase != MOE_PHASE_DISPATCH || !moe_send_must_wait(moe, rank, to)) {
            send_to(moe, phase, rank, to, outbox);
        }
    }
    if (moe_phase_outward(phase)) {
        moe_send_local(outbox, first, moe_flat_copies(moe, phase, rank, rank));
    }
}

static void granted(const struct moe *moe, uint32_t rank, uint32_t destination, struct traffic_outbox *outbox) {
    send_to(moe, MOE_PHASE_DISPATCH, rank, destination, outbox);
}

const struct moe_algorithm moe_direct = {.header_bytes = HEADER_BYTES,
                                         .message_each = true,
                                         .mirrored = true,
                                         .sum = moe_flat_sum,
                                         .add_row = moe_flat_add_row,
                                         .begin = begin,
                                         .granted = granted};
