// SPDX-License-Identifier: GPL-3.0-or-later
/* Messages of the plan: who gets what, in which order, with which tag. Which moment is moe.c's affair. */
#include "workload/moe_plan.h"

#include "base/error.h"

enum { CHANNEL_OWN = 0, CHANNEL_FORWARDED = 1 };

static const uint64_t whole_share = UINT64_C(1) << 20;

/* Local number (direct) or domain (two_hop) that stands for a remote peer in the bits of grants. */
static uint32_t peer_number(const struct moe *moe, uint32_t rank) {
    return moe->counts->shape.two_hop ? moe_counts_domain(moe->counts, rank) : moe_counts_local(moe->counts, rank);
}

bool moe_send_is_granted(const struct moe *moe, uint32_t rank, uint32_t destination) {
    const uint32_t peer = peer_number(moe, destination);
    return moe->grants[(uint64_t)rank * moe->grant_words + peer / 64] >> (peer % 64) & 1;
}

void moe_send_note_grant(struct moe *moe, uint32_t rank, uint32_t destination) {
    const uint32_t peer = peer_number(moe, destination);
    moe->grants[(uint64_t)rank * moe->grant_words + peer / 64] |= UINT64_C(1) << (peer % 64);
}

/* Token copies that source sends to a remote rank of its group over the fabric. */
static uint64_t fabric_copies(const struct moe_counts *counts, uint32_t source, uint32_t destination) {
    if (counts->shape.two_hop) {
        return counts->crossing[(uint64_t)source * counts->group_domains + moe_counts_domain(counts, destination)];
    }
    return counts->copies[(uint64_t)source * counts->row + moe_counts_local(counts, destination)];
}

/* Part of what the destination's port was announced, fxp20, never 0: 0 would mean not announced. */
static uint32_t share(const struct moe *moe, uint32_t source, uint32_t destination) {
    const uint64_t own = fabric_copies(moe->counts, source, destination);
    const uint64_t part = own * whole_share / moe->totals[destination].fabric_received.copies;
    return part > 0 ? (uint32_t)part : 1;
}

/* Adds the message unless it is empty or stays at home; route and channel follow from the two ranks. */
static void send(const struct moe *moe, uint32_t from, struct traffic_message message, struct traffic_outbox *outbox) {
    if (message.bytes > 0 && from != message.destination) {
        message.route = (uint8_t)moe_placement_route(&moe->counts->shape.placement, from, message.destination);
        message.channel = message.route == TRAFFIC_NVLINK ? message.channel : 0;
        traffic_outbox_add(outbox, &message);
    }
}

/* Counts and grants: urgent where they cross the fabric. */
static void send_control(const struct moe *moe, uint32_t from, uint32_t to, enum moe_tag_kind kind, uint32_t bytes,
                         struct traffic_outbox *outbox) {
    const bool fabric = moe_placement_route(&moe->counts->shape.placement, from, to) == TRAFFIC_FABRIC;
    send(moe, from,
         (struct traffic_message){.destination = to,
                                  .tag = moe_tag_pack(kind, 0, 0),
                                  .bytes = bytes,
                                  .start_ps = moe->ranks[from].times.start_ps,
                                  .urgent = fabric},
         outbox);
}

/* Calls send_control for the rank at the same position of every other domain, the next one first. */
static void send_control_to_mates(const struct moe *moe, uint32_t rank, enum moe_tag_kind kind, uint32_t bytes,
                                  struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    for (uint32_t step = 1; step < counts->group_domains; step++) {
        const uint32_t mate = moe_counts_mate(counts, rank, (own + step) % counts->group_domains);
        if (kind == MOE_TAG_COUNTS || fabric_copies(counts, mate, rank) > 0) {
            send_control(moe, rank, mate, kind, bytes, outbox);
        }
    }
}

/* The rank `step` places after rank in its row: its group (direct) or its domain (two_hop). */
static uint32_t row_neighbour(const struct moe_counts *counts, uint32_t rank, uint32_t step) {
    return moe_counts_row_rank(counts, rank, (moe_counts_index(counts, rank) + step) % counts->row);
}

uint32_t moe_send_counts_peers(const struct moe *moe) {
    const struct moe_counts *counts = moe->counts;
    return counts->row - 1 + (counts->shape.two_hop ? counts->group_domains - 1 : 0);
}

void moe_send_counts(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    for (uint32_t step = 1; step < moe->counts->row; step++) {
        send_control(moe, rank, row_neighbour(moe->counts, rank, step), MOE_TAG_COUNTS, moe->counts_bytes, outbox);
    }
    send_control_to_mates(moe, rank, MOE_TAG_COUNTS, moe->counts_bytes, outbox);
}

void moe_send_grants(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    if (counts->shape.two_hop) {
        send_control_to_mates(moe, rank, MOE_TAG_GRANT, MOE_PLAN_GRANT_BYTES, outbox);
        return;
    }
    for (uint32_t step = 1; step < counts->row; step++) {
        const uint32_t sender = row_neighbour(counts, rank, step);
        if (moe_placement_route(&counts->shape.placement, sender, rank) == TRAFFIC_FABRIC &&
            fabric_copies(counts, sender, rank) > 0) {
            send_control(moe, rank, sender, MOE_TAG_GRANT, MOE_PLAN_GRANT_BYTES, outbox);
        }
    }
}

/* Tokens of dispatch from their source. */
static void send_tokens(const struct moe *moe, uint32_t rank, uint32_t destination, uint32_t chunk, uint64_t copies,
                        struct traffic_outbox *outbox) {
    const bool paced = moe->early_pacing && copies > 0 &&
                       moe_placement_route(&moe->counts->shape.placement, rank, destination) == TRAFFIC_FABRIC;
    send(moe, rank,
         (struct traffic_message){.destination = destination,
                                  .tag = moe_tag_pack(MOE_TAG_DISPATCH, 0, chunk),
                                  .bytes = copies * moe->dispatch_unit_bytes,
                                  .start_ps = moe->ranks[rank].times.dispatch_start_ps,
                                  .unit_bytes = moe->dispatch_unit_bytes,
                                  .share = paced ? share(moe, rank, destination) : 0,
                                  .channel = CHANNEL_OWN},
         outbox);
}

static bool must_wait(const struct moe *moe, uint32_t rank, uint32_t destination) {
    return moe->early_pacing &&
           moe_placement_route(&moe->counts->shape.placement, rank, destination) == TRAFFIC_FABRIC &&
           !moe_send_is_granted(moe, rank, destination);
}

/* Chunk by chunk over all domains, so that every forwarder has work from the beginning. */
static void send_chunks(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    bool more = true;
    for (uint32_t chunk = 0; more; chunk++) {
        more = false;
        for (uint32_t step = 1; step < counts->group_domains; step++) {
            const uint32_t domain = (own + step) % counts->group_domains;
            const uint32_t forwarder = moe_counts_mate(counts, rank, domain);
            if (chunk < moe_counts_chunks(counts, rank, domain) && !must_wait(moe, rank, forwarder)) {
                more = true;
                send_tokens(moe, rank, forwarder, chunk, moe_counts_chunk_tokens(counts, rank, domain, chunk), outbox);
            }
        }
    }
}

void moe_send_dispatch(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t step = 1; step < counts->row; step++) {
        const uint32_t destination = row_neighbour(counts, rank, step);
        if (!must_wait(moe, rank, destination)) {
            const uint64_t copies =
                counts->copies[(uint64_t)rank * counts->row + moe_counts_index(counts, destination)];
            send_tokens(moe, rank, destination, 0, copies, outbox);
        }
    }
    if (counts->shape.two_hop) {
        send_chunks(moe, rank, outbox);
    }
}

void moe_send_granted(const struct moe *moe, uint32_t rank, uint32_t destination, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    if (!counts->shape.two_hop) {
        send_tokens(moe, rank, destination, 0, fabric_copies(counts, rank, destination), outbox);
        return;
    }
    const uint32_t domain = moe_counts_domain(counts, destination);
    const uint32_t chunks = moe_counts_chunks(counts, rank, domain);
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        send_tokens(moe, rank, destination, chunk, moe_counts_chunk_tokens(counts, rank, domain, chunk), outbox);
    }
}

void moe_send_forward(const struct moe *moe, uint32_t forwarder, uint32_t source, uint32_t chunk,
                      struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t number = moe_counts_chunk_number(counts, source, moe_counts_domain(counts, forwarder), chunk);
    for (uint32_t step = 1; step < counts->domain_ranks; step++) {
        const uint32_t destination = row_neighbour(counts, forwarder, step);
        const uint64_t tokens = moe_counts_part(counts, number, moe_counts_position(counts, destination));
        send(moe, forwarder,
             (struct traffic_message){
                 .destination = destination,
                 .tag = moe_tag_pack(MOE_TAG_DISPATCH_FORWARD, moe_counts_domain(counts, source), chunk),
                 .bytes = tokens * moe->dispatch_unit_bytes,
                 .start_ps = moe->ranks[forwarder].times.start_ps,
                 .unit_bytes = moe->dispatch_unit_bytes,
                 .channel = CHANNEL_FORWARDED},
             outbox);
    }
}

/* Results on their way back. */
static void send_results(const struct moe *moe, uint32_t rank, uint32_t destination, uint32_t tag, uint64_t copies,
                         uint8_t channel, struct traffic_outbox *outbox) {
    send(moe, rank,
         (struct traffic_message){.destination = destination,
                                  .tag = tag,
                                  .bytes = copies * moe->combine_unit_bytes,
                                  .start_ps = moe->ranks[rank].times.combine_start_ps,
                                  .unit_bytes = moe->combine_unit_bytes,
                                  .channel = channel},
         outbox);
}

uint32_t moe_send_rounds(const struct moe *moe, uint32_t rank) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    uint32_t rounds = 0;
    for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
        for (uint32_t position = 0; position < counts->domain_ranks && domain != own; position++) {
            const uint32_t source = moe_counts_mate(counts, moe_counts_row_rank(counts, rank, position), domain);
            const uint32_t chunks = moe_counts_chunks(counts, source, own);
            rounds = chunks > rounds ? chunks : rounds;
        }
    }
    return rounds;
}

/* A place in the gathering: a round, then the domains from the next one on, then the forwarders from the next one on. False if nothing is sent there. */
static bool gather_part(const struct moe *moe, uint32_t rank, uint64_t place, struct traffic_message *message) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank), others = counts->group_domains - 1;
    const uint32_t step = (uint32_t)(place % counts->domain_ranks);
    const uint32_t domain = (own + 1 + (uint32_t)(place / counts->domain_ranks % others)) % counts->group_domains;
    const uint32_t chunk = (uint32_t)(place / counts->domain_ranks / others);
    const uint32_t forwarder = row_neighbour(counts, rank, step);
    const uint32_t source = moe_counts_mate(counts, forwarder, domain);
    if (step == 0 || chunk >= moe_counts_chunks(counts, source, own)) {
        return false;
    }
    const uint32_t number = moe_counts_chunk_number(counts, source, own, chunk);
    const uint64_t tokens = moe_counts_part(counts, number, moe_counts_position(counts, rank));
    *message = (struct traffic_message){.destination = forwarder,
                                        .tag = moe_tag_pack(MOE_TAG_COMBINE_GATHER, domain, chunk),
                                        .bytes = tokens * moe->combine_unit_bytes,
                                        .start_ps = moe->ranks[rank].times.combine_start_ps,
                                        .unit_bytes = moe->combine_unit_bytes,
                                        .route = TRAFFIC_NVLINK,
                                        .channel = CHANNEL_FORWARDED};
    return tokens > 0;
}

uint32_t moe_send_series(const struct moe *moe, uint32_t rank, uint64_t *cursor, struct traffic_message *messages,
                         uint32_t capacity) {
    const struct moe_counts *counts = moe->counts;
    const uint64_t places =
        (uint64_t)moe->ranks[rank].gather_rounds * (counts->group_domains - 1) * counts->domain_ranks;
    uint32_t count = 0;
    while (count < capacity && *cursor < places) {
        count += gather_part(moe, rank, (*cursor)++, &messages[count]);
    }
    return count;
}

/* All parts of all chunks that a rank has worked on for other domains: as a series, or one by one. */
static void send_gathering(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    struct traffic_message batch[64] = {{.tag = moe_tag_pack(MOE_TAG_COMBINE_GATHER, 0, 0),
                                         .start_ps = moe->ranks[rank].times.combine_start_ps,
                                         .route = TRAFFIC_NVLINK,
                                         .channel = CHANNEL_FORWARDED,
                                         .series = 1}};
    if (outbox->takes_series) {
        traffic_outbox_add(outbox, &batch[0]);
        return;
    }
    const uint32_t capacity = sizeof batch / sizeof batch[0];
    uint32_t count = capacity;
    for (uint64_t cursor = 0; count == capacity;) {
        count = moe_send_series(moe, rank, &cursor, batch, capacity);
        for (uint32_t i = 0; i < count; i++) {
            traffic_outbox_add(outbox, &batch[i]);
        }
    }
}

void moe_send_combine(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t step = 1; step < counts->row; step++) {
        const uint32_t source = row_neighbour(counts, rank, step);
        const uint64_t copies = counts->copies[(uint64_t)source * counts->row + moe_counts_index(counts, rank)];
        send_results(moe, rank, source, moe_tag_pack(MOE_TAG_COMBINE, 0, 0), copies, CHANNEL_OWN, outbox);
    }
    if (counts->group_domains > 1 && counts->domain_ranks > 1) {
        send_gathering(moe, rank, outbox);
    }
}

void moe_send_reduced(const struct moe *moe, uint32_t forwarder, uint32_t source, uint32_t chunk,
                      struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint64_t tokens = moe_counts_chunk_tokens(counts, source, moe_counts_domain(counts, forwarder), chunk);
    send_results(moe, forwarder, source, moe_tag_pack(MOE_TAG_COMBINE, moe_counts_domain(counts, source), chunk),
                 tokens, CHANNEL_OWN, outbox);
}
