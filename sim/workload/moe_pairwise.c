// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pairwise: the exchange steps of MPI libraries for large all-to-alls (MPICH, src/mpi/coll/alltoallv; Open MPI, coll_base_alltoallv.c). In step i a rank
 * sends to the rank i places after it in its group, and receives from the one i places before it: with equal parts every port has one sender and one
 * receiver at a time. A step begins at a rank when the step before has been sent and received there; sent means acknowledged by its receiver, with a
 * small message of its own, as a rendezvous ends. So the slowest pair of a step holds up its two ranks, and through them the others.
 *
 * Every (token, expert) copy is sent, one message a destination. Empty parts are neither sent nor waited for: counts are known. Receive buffers are
 * posted from the beginning, so data for a step may arrive before its receiver has come to that step.
 * Example: 4 GPUs, step 1: 0 to 1, 1 to 2, 2 to 3, 3 to 0; GPU 0 goes on to step 2 when it has the acknowledgement of 1 and the data of 3.
 */
#include "base/error.h"
#include "base/memory.h"
#include "workload/moe_algorithm.h"
#include "workload/moe_flat.h"
#include "workload/moe_send.h"

#include <stdlib.h>
#include <string.h>

/* A rank in a phase. */
struct progress {
    uint32_t step; /* 0 before the phase has begun */
    bool posted;   /* what it sends in the step */
    bool sent;     /* acknowledged */
};

enum { WORDS_OF_A_LINE = 8 }; /* of 64 bits: ranks may be asked from different threads */

struct pairwise {
    struct progress (*progress)[MOE_PHASES]; /* [n_ranks] */
    uint64_t *received;                      /* [n_ranks × MOE_PHASES × words] bit = step of which all is there */
    uint32_t words;                          /* whole lines */
};

static void *create(const struct moe *moe) {
    struct pairwise *state = memory_allocate(1, sizeof *state);
    const size_t n_ranks = moe->counts->shape.placement.n_ranks;
    state->words = (moe->counts->row / 64 / WORDS_OF_A_LINE + 1) * WORDS_OF_A_LINE;
    state->progress = memory_allocate(n_ranks, sizeof *state->progress);
    state->received = memory_allocate(n_ranks * MOE_PHASES * state->words, sizeof *state->received);
    return state;
}

static void destroy(void *pointer) {
    struct pairwise *state = pointer;
    free(state->progress);
    free(state->received);
    free(state);
}

static uint64_t *received_of(const struct pairwise *state, uint32_t rank, enum moe_phase phase) {
    return state->received + ((size_t)rank * MOE_PHASES + phase) * state->words;
}

static void reset(struct moe *moe, uint32_t rank) {
    struct pairwise *state = moe->state;
    memset(&state->progress[rank], 0, sizeof state->progress[rank]);
    memset(received_of(state, rank, 0), 0, (size_t)MOE_PHASES * state->words * sizeof *state->received);
}

static bool has_received(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t step) {
    const uint64_t *received = received_of(moe->state, rank, phase);
    const uint32_t from = moe_flat_before(moe->counts, rank, step);
    return moe_flat_copies(moe, phase, from, rank) == 0 || (received[step / 64] >> (step % 64) & 1) != 0;
}

/* Posts what the step sends. */
static void post(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct progress *progress,
                 struct traffic_outbox *outbox) {
    const uint32_t to = moe_flat_after(moe->counts, rank, progress->step);
    const struct moe_send send = {.phase = phase,
                                  .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE,
                                  .from = rank,
                                  .to = to,
                                  .copies = moe_flat_copies(moe, phase, rank, to),
                                  .channel = MOE_SEND_OWN};
    moe_send_copies(moe, &send, outbox);
    progress->posted = true;
    progress->sent = send.copies == 0;
}

/* Goes on through steps until one has to be waited for. */
static void advance(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    struct pairwise *state = moe->state;
    struct progress *progress = &state->progress[rank][phase];
    while (progress->step > 0 && progress->step < moe->counts->row) {
        if (!progress->posted) {
            post(moe, phase, rank, progress, outbox);
        }
        if (!progress->sent || !has_received(moe, phase, rank, progress->step)) {
            return;
        }
        *progress = (struct progress){.step = progress->step + 1};
    }
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    struct pairwise *state = moe->state;
    state->progress[rank][phase].step = 1;
    advance(moe, phase, rank, outbox);
}

static void delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, const struct moe_tag *tag,
                      struct traffic_outbox *outbox) {
    const uint32_t group = moe->counts->shape.group_ranks;
    const uint32_t step = (moe_counts_local(moe->counts, rank) + group - moe_counts_local(moe->counts, source)) % group;
    received_of(moe->state, rank, phase)[step / 64] |= UINT64_C(1) << (step % 64);
    moe_send_acknowledge(moe, phase, rank, source, tag->chunk, outbox);
    advance(moe, phase, rank, outbox);
}

static void acknowledged(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t peer,
                         struct traffic_outbox *outbox) {
    struct pairwise *state = moe->state;
    struct progress *progress = &state->progress[rank][phase];
    REQUIRE(progress->posted && peer == moe_flat_after(moe->counts, rank, progress->step),
            "rank %u acknowledges to %u what it does not send in step %u", peer, rank, progress->step);
    progress->sent = true;
    advance(moe, phase, rank, outbox);
}

const struct moe_algorithm moe_pairwise = {.contiguous = true,
                                           .acknowledges = true,
                                           .mirrored = true,
                                           .sum = moe_flat_sum,
                                           .add_row = moe_flat_add_row,
                                           .create = create,
                                           .destroy = destroy,
                                           .reset = reset,
                                           .begin = begin,
                                           .delivered = delivered,
                                           .acknowledged = acknowledged};
