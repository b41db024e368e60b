// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nccl_p2p: an all-to-all of NCCL's grouped sends and receives. All peers are posted at once; a rank works through them in the order of NCCL's schedule,
 * `channels` of them at a time, each in chunks of chunk_bytes of which 8 may be under way: the receiver gives a chunk's buffer back with a small message,
 * and the next one leaves (NVIDIA nccl: src/init.cc p2pSchedule, P2P_NET_CHUNKSIZE 128 KiB; src/include/device.h NCCL_STEPS 8).
 *
 * Order: round by round a rank sends to the domain `delta` after its own, there to the position `delta` after its own, deltas being 0, 1, 3, 6, 10, …
 * (x² + x) ÷ 2 modulo the next power of two, those left out that are too large; what it receives comes from as many before it. Where a group is not made
 * of whole domains the order is that of one domain. Every (token, expert) copy is sent; receives are posted from the beginning.
 * Example: 2 domains of 2 GPUs, GPU 0: itself, 1, then 2, 3. GPU 1: itself, 0, then 3, 2.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "workload/moe_algorithm.h"
#include "workload/moe_flat.h"
#include "workload/moe_send.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS_UNDER_WAY = 8 };

/* A peer that is being sent to. */
struct channel {
    uint32_t peer;
    uint32_t chunks, posted, acknowledged; /* chunks 0: the channel is free */
};

struct nccl {
    uint32_t domain_ranks, group_domains; /* of the order */
    uint32_t *domain_delta;               /* [group_domains] by round */
    uint32_t *position_delta;             /* [domain_ranks] by round */
    uint32_t *next;                       /* [n_ranks × MOE_PHASES × stride] next round, then channels */
    uint32_t stride;                      /* in words: whole lines */
};

/* Deltas in their order: (x² + x) ÷ 2 runs through all residues of a power of two. */
static uint32_t *make_deltas(uint32_t n) {
    uint32_t *deltas = memory_allocate(n, sizeof *deltas), power = 1, count = 0;
    while (power < n) {
        power *= 2;
    }
    for (uint32_t x = 0, delta = 0; x < power; x++) {
        delta = (delta + x) & (power - 1);
        if (delta < n) {
            deltas[count++] = delta;
        }
    }
    REQUIRE(count == n, "%u of %u peers have a place in the order", count, n);
    return deltas;
}

static void *create(const struct moe *moe) {
    enum { WORDS_OF_A_LINE = 16 };
    const struct moe_counts *counts = moe->counts;
    struct nccl *state = memory_allocate(1, sizeof *state);
    const bool whole = counts->shape.group_ranks % counts->domain_ranks == 0;
    const size_t words = 1 + moe->traffic.channels * sizeof(struct channel) / sizeof(uint32_t);
    state->domain_ranks = whole ? counts->domain_ranks : counts->shape.group_ranks;
    state->group_domains = counts->shape.group_ranks / state->domain_ranks;
    state->domain_delta = make_deltas(state->group_domains);
    state->position_delta = make_deltas(state->domain_ranks);
    state->stride = (uint32_t)(number_divide_up(words, WORDS_OF_A_LINE) * WORDS_OF_A_LINE);
    state->next =
        memory_allocate((size_t)counts->shape.placement.n_ranks * MOE_PHASES * state->stride, sizeof *state->next);
    return state;
}

static void destroy(void *pointer) {
    struct nccl *state = pointer;
    free(state->domain_delta);
    free(state->position_delta);
    free(state->next);
    free(state);
}

static uint32_t *next_of(const struct nccl *state, uint32_t rank, enum moe_phase phase) {
    return state->next + ((size_t)rank * MOE_PHASES + phase) * state->stride;
}

static struct channel *channels_of(const struct nccl *state, uint32_t rank, enum moe_phase phase) {
    return (struct channel *)(next_of(state, rank, phase) + 1);
}

static void reset(struct moe *moe, uint32_t rank) {
    const struct nccl *state = moe->state;
    memset(next_of(state, rank, 0), 0, sizeof *state->next * MOE_PHASES * state->stride);
}

/* Whom a rank sends to in a round. */
static uint32_t peer_of_round(const struct moe_counts *counts, const struct nccl *state, uint32_t rank,
                              uint32_t round) {
    const uint32_t local = moe_counts_local(counts, rank);
    const uint32_t domain = local / state->domain_ranks, position = local % state->domain_ranks;
    const uint32_t to_domain = (domain + state->domain_delta[round / state->domain_ranks]) % state->group_domains;
    const uint32_t to_position = (position + state->position_delta[round % state->domain_ranks]) % state->domain_ranks;
    return moe_counts_rank(counts, moe_counts_group(counts, rank), to_domain * state->domain_ranks + to_position);
}

static void send_chunk(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct channel *channel,
                       struct traffic_outbox *outbox) {
    const uint64_t copies = moe_flat_copies(moe, phase, rank, channel->peer);
    const uint64_t most = moe_flat_chunk_copies(moe, phase);
    const struct moe_send send = {.phase = phase,
                                  .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE,
                                  .from = rank,
                                  .to = channel->peer,
                                  .chunk = channel->posted,
                                  .copies = number_smaller(copies - channel->posted * most, most),
                                  .channel = MOE_SEND_OWN};
    moe_send_copies(moe, &send, outbox);
    channel->posted++;
}

/* Turns a free channel to the next peer that there is something for. */
static void take_peer(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct channel *channel,
                      struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    uint32_t *next = next_of(moe->state, rank, phase);
    *channel = (struct channel){0};
    while (channel->chunks == 0 && *next < counts->row) {
        const uint32_t peer = peer_of_round(counts, moe->state, rank, (*next)++);
        const uint64_t copies = peer == rank ? 0 : moe_flat_copies(moe, phase, rank, peer);
        *channel = (struct channel){.peer = peer, .chunks = moe_flat_chunks(moe, phase, copies)};
    }
    while (channel->posted < channel->chunks && channel->posted < CHUNKS_UNDER_WAY) {
        send_chunk(moe, phase, rank, channel, outbox);
    }
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    for (uint32_t i = 0; i < moe->traffic.channels; i++) {
        take_peer(moe, phase, rank, &channels_of(moe->state, rank, phase)[i], outbox);
    }
}

static void delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, const struct moe_tag *tag,
                      struct traffic_outbox *outbox) {
    moe_send_acknowledge(moe, phase, rank, source, tag->chunk, outbox);
}

static struct channel *channel_to(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t peer) {
    struct channel *channels = channels_of(moe->state, rank, phase);
    for (uint32_t i = 0; i < moe->traffic.channels; i++) {
        if (channels[i].chunks > 0 && channels[i].peer == peer) {
            return &channels[i];
        }
    }
    BUG("rank %u acknowledges to %u what it does not send", peer, rank);
}

static void acknowledged(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t peer,
                         struct traffic_outbox *outbox) {
    struct channel *channel = channel_to(moe, phase, rank, peer);
    channel->acknowledged++;
    if (channel->posted < channel->chunks) {
        send_chunk(moe, phase, rank, channel, outbox);
    } else if (channel->acknowledged == channel->chunks) {
        take_peer(moe, phase, rank, channel, outbox);
    }
}

const struct moe_algorithm moe_nccl_p2p = {.contiguous = true,
                                           .acknowledges = true,
                                           .sum = moe_flat_sum_chunks,
                                           .add_row = moe_flat_add_row,
                                           .create = create,
                                           .destroy = destroy,
                                           .reset = reset,
                                           .begin = begin,
                                           .delivered = delivered,
                                           .acknowledged = acknowledged};
