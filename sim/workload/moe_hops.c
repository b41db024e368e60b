// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_hops.h"

#include "base/error.h"
#include "base/memory.h"
#include "workload/moe_kernel.h"
#include "workload/moe_send.h"

#include <stdlib.h>

/* [n_chunks] what a chunk's forwarder still waits for: going out its arrival and the beginning of the phase there; going back the parts of others, and its own. */
struct hops {
    uint16_t *missing[MOE_PHASES]; /* NULL: nothing is waited for */
};

/* In the forward pass a chunk is handed on as it arrives: whoever has sent it knows by its counts that the forwarder is there. */
static bool awaits(const struct moe *moe, enum moe_phase phase) {
    return moe->has_phase[phase] && phase != MOE_PHASE_DISPATCH;
}

void *moe_hops_create(const struct moe *moe) {
    struct hops *hops = memory_allocate(1, sizeof *hops);
    for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
        hops->missing[phase] =
            awaits(moe, phase) ? memory_allocate(moe->counts->n_chunks, sizeof *hops->missing[phase]) : NULL;
    }
    return hops;
}

void moe_hops_destroy(void *state) {
    struct hops *hops = state;
    for (int phase = 0; phase < MOE_PHASES; phase++) {
        free(hops->missing[phase]);
    }
    free(hops);
}

/* Parts of the other ranks, and the forwarder's own beginning. */
static uint32_t parts_of(const struct moe_counts *counts, uint32_t number, uint32_t forwarder) {
    uint32_t parts = 1;
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        parts += position != moe_counts_position(counts, forwarder) && moe_counts_part(counts, number, position) > 0;
    }
    return parts;
}

static void reset_phase(const struct moe_counts *counts, enum moe_phase phase, uint32_t rank, uint16_t *missing) {
    const uint32_t own = moe_counts_domain(counts, rank);
    for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
        const uint32_t source = moe_counts_mate(counts, rank, domain);
        const uint32_t chunks = domain == own ? 0 : moe_counts_chunks(counts, source, own);
        for (uint32_t chunk = 0; chunk < chunks; chunk++) {
            const uint32_t number = moe_counts_chunk_number(counts, source, own, chunk);
            missing[number] = moe_phase_outward(phase) ? 2 : (uint16_t)parts_of(counts, number, rank);
        }
    }
}

void moe_hops_reset(struct moe *moe, uint32_t rank) {
    const struct hops *hops = moe->state;
    for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
        if (hops->missing[phase]) {
            reset_phase(moe->counts, phase, rank, hops->missing[phase]);
        }
    }
}

static void send_chunk(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t domain, uint32_t chunk,
                       struct traffic_outbox *outbox) {
    const struct moe_send send = {.phase = phase,
                                  .kind = MOE_TAG_DISPATCH,
                                  .from = rank,
                                  .to = moe_counts_mate(moe->counts, rank, domain),
                                  .chunk = chunk,
                                  .copies = moe_counts_chunk_tokens(moe->counts, rank, domain, chunk),
                                  .channel = MOE_SEND_OWN};
    moe_send_copies(moe, &send, outbox);
}

void moe_hops_send_chunks(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    bool more = true;
    for (uint32_t chunk = 0; more; chunk++) {
        more = false;
        for (uint32_t step = 1; step < counts->group_domains; step++) {
            const uint32_t domain = (own + step) % counts->group_domains;
            const bool waits =
                phase == MOE_PHASE_DISPATCH && moe_send_must_wait(moe, rank, moe_counts_mate(counts, rank, domain));
            if (chunk < moe_counts_chunks(counts, rank, domain) && !waits) {
                more = true;
                send_chunk(moe, phase, rank, domain, chunk, outbox);
            }
        }
    }
}

void moe_hops_send_domain(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t domain,
                          struct traffic_outbox *outbox) {
    const uint32_t chunks = moe_counts_chunks(moe->counts, rank, domain);
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        send_chunk(moe, phase, rank, domain, chunk, outbox);
    }
}

/* A chunk's parts, from its forwarder to their ranks. */
static void forward(const struct moe *moe, enum moe_phase phase, uint32_t forwarder, uint32_t source, uint32_t chunk,
                    struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t posted = outbox->count;
    const uint32_t number = moe_counts_chunk_number(counts, source, moe_counts_domain(counts, forwarder), chunk);
    const uint32_t n = counts->domain_ranks, own = moe_counts_position(counts, forwarder),
                   base = moe_counts_base(counts, forwarder);
    const uint32_t domain = moe_counts_domain(counts, source);
    for (uint32_t step = 1; step < n; step++) {
        const uint32_t position = own + step < n ? own + step : own + step - n;
        const struct moe_send send = {.phase = phase,
                                      .kind = MOE_TAG_DISPATCH_FORWARD,
                                      .from = forwarder,
                                      .to = moe_counts_at(counts, base, position),
                                      .domain = domain,
                                      .chunk = chunk,
                                      .copies = moe_counts_part(counts, number, position),
                                      .channel = MOE_SEND_FORWARDED,
                                      .at_once = phase == MOE_PHASE_DISPATCH};
        moe_send_copies(moe, &send, outbox);
    }
    moe_send_local(outbox, posted, moe_counts_part(counts, number, own));
}

/* A gathered chunk, from its forwarder to its source. */
static void send_reduced(const struct moe *moe, enum moe_phase phase, uint32_t forwarder, uint32_t source,
                         uint32_t chunk, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t number = moe_counts_chunk_number(counts, source, moe_counts_domain(counts, forwarder), chunk);
    const struct moe_send send = {
        .phase = phase,
        .kind = MOE_TAG_COMBINE,
        .not_before_ps = moe_kernel_sum_up(moe, phase, forwarder, number),
        .from = forwarder,
        .to = source,
        .domain = moe_counts_domain(counts, source),
        .chunk = chunk,
        .copies = moe_counts_chunk_tokens(counts, source, moe_counts_domain(counts, forwarder), chunk)};
    moe_send_copies(moe, &send, outbox);
}

/* One thing less that a forwarder waits for. */
static void progress(struct moe *moe, enum moe_phase phase, uint32_t forwarder, uint32_t source, uint32_t chunk,
                     struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const struct hops *hops = moe->state;
    const uint32_t number = moe_counts_chunk_number(counts, source, moe_counts_domain(counts, forwarder), chunk);
    REQUIRE(hops->missing[phase][number] > 0, "chunk %u of %u has more parts than were sent", chunk, source);
    if (--hops->missing[phase][number] > 0) {
        return;
    }
    if (moe_phase_outward(phase)) {
        forward(moe, phase, forwarder, source, chunk, outbox);
    } else {
        send_reduced(moe, phase, forwarder, source, chunk, outbox);
    }
}

/* Chunk by chunk over all domains. */
void moe_hops_release(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    bool more = awaits(moe, phase);
    for (uint32_t chunk = 0; more; chunk++) {
        more = false;
        for (uint32_t step = 1; step < counts->group_domains; step++) {
            const uint32_t source = moe_counts_mate(counts, rank, (own + step) % counts->group_domains);
            if (chunk < moe_counts_chunks(counts, source, own)) {
                more = true;
                progress(moe, phase, rank, source, chunk, outbox);
            }
        }
    }
}

void moe_hops_delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source,
                        const struct moe_tag *tag, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    if (tag->kind == MOE_TAG_COMBINE_GATHER) {
        progress(moe, phase, rank, moe_counts_mate(counts, rank, tag->domain), tag->chunk, outbox);
    } else if (tag->kind == MOE_TAG_DISPATCH && moe_counts_domain(counts, source) != moe_counts_domain(counts, rank)) {
        if (awaits(moe, phase)) {
            progress(moe, phase, rank, source, tag->chunk, outbox);
        } else {
            forward(moe, phase, rank, source, tag->chunk, outbox);
        }
    }
}

/* Rounds of a rank's gathering: in round n it sends its parts of chunk n of every source of every other domain. */
static uint32_t rounds_of(const struct moe_counts *counts, uint32_t rank) {
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
static bool gather_part(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t place,
                        struct traffic_message *message) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank), others = counts->group_domains - 1;
    const uint32_t step = (uint32_t)(place % counts->domain_ranks);
    const uint32_t domain = (own + 1 + (uint32_t)(place / counts->domain_ranks % others)) % counts->group_domains;
    const uint32_t chunk = (uint32_t)(place / counts->domain_ranks / others);
    const uint32_t forwarder = moe_send_neighbour(counts, rank, step);
    const uint32_t source = moe_counts_mate(counts, forwarder, domain);
    if (step == 0 || chunk >= moe_counts_chunks(counts, source, own)) {
        return false;
    }
    const uint32_t number = moe_counts_chunk_number(counts, source, own, chunk);
    const struct moe_send send = {.phase = phase,
                                  .kind = MOE_TAG_COMBINE_GATHER,
                                  .from = rank,
                                  .to = forwarder,
                                  .domain = domain,
                                  .chunk = chunk,
                                  .copies = moe_counts_part(counts, number, moe_counts_position(counts, rank)),
                                  .channel = MOE_SEND_FORWARDED};
    return moe_send_make(moe, &send, message);
}

uint32_t moe_hops_series(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *cursor,
                         struct traffic_message *messages, uint32_t capacity) {
    const struct moe_counts *counts = moe->counts;
    const uint64_t places =
        (uint64_t)moe->ranks[rank].gather_rounds * (counts->group_domains - 1) * counts->domain_ranks;
    uint32_t count = 0;
    while (*cursor < places && count < capacity) {
        count += gather_part(moe, phase, rank, (*cursor)++, &messages[count]);
    }
    return count;
}

/* The parts of all chunks are one series: they are far too many to be kept by whoever sends them. */
void moe_hops_send_parts(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    enum { BATCH = 32 };
    if (moe->counts->group_domains < 2 || moe->counts->domain_ranks < 2) {
        return;
    }
    moe->ranks[rank].gather_rounds = rounds_of(moe->counts, rank);
    struct traffic_message batch[BATCH] = {
        {.tag = moe_tag_pack(MOE_TAG_COMBINE_GATHER, moe_phase_backward(phase), 0, 0),
         .start_ps = moe->ranks[rank].times.begin_ps[phase] + kernel_before_ps(&moe->kernel),
         .route = TRAFFIC_NVLINK,
         .channel = MOE_SEND_FORWARDED,
         .series = 1}};
    if (outbox->takes_series) {
        traffic_outbox_add(outbox, &batch[0]);
        return;
    }
    uint32_t count = BATCH;
    for (uint64_t cursor = 0; count == BATCH;) {
        count = moe_hops_series(moe, phase, rank, &cursor, batch, BATCH);
        for (uint32_t i = 0; i < count; i++) {
            traffic_outbox_add(outbox, &batch[i]);
        }
    }
}

uint64_t moe_hops_near(const struct moe *moe, enum moe_phase phase, uint32_t from, uint32_t to) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t source = moe_phase_outward(phase) ? from : to, holder = moe_phase_outward(phase) ? to : from;
    return counts->copies[(uint64_t)source * counts->row + moe_counts_position(counts, holder)];
}

/* A chunk crosses the fabric, then its parts leave the forwarder. A forwarder's own part stays there and was already counted on arrival. */
static void sum_chunk(const struct moe_counts *counts, struct moe_totals *totals, uint32_t source, uint32_t domain,
                      uint32_t chunk) {
    const uint32_t forwarder = moe_counts_mate(counts, source, domain), base = moe_counts_base(counts, forwarder);
    const uint32_t number = moe_counts_chunk_number(counts, source, domain, chunk);
    moe_totals_add(counts, totals, source, forwarder, moe_counts_chunk_tokens(counts, source, domain, chunk), 1);
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        const uint32_t neighbour = moe_counts_at(counts, base, position);
        if (neighbour != forwarder) {
            moe_totals_add(counts, totals, forwarder, neighbour, moe_counts_part(counts, number, position), 1);
        }
    }
}

void moe_hops_sum_far(const struct moe *moe, struct moe_totals *totals) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t source = 0; source < counts->shape.placement.n_ranks; source++) {
        for (uint32_t domain = 0; domain < counts->group_domains && moe_counts_takes_part(counts, source); domain++) {
            const uint32_t chunks = moe_counts_chunks(counts, source, domain);
            for (uint32_t chunk = 0; chunk < chunks; chunk++) {
                sum_chunk(counts, totals, source, domain, chunk);
            }
        }
    }
}

/* Tokens of source with an expert at destination, in another domain. */
static uint64_t remote_tokens(const struct moe_counts *counts, uint32_t source, uint32_t destination) {
    const uint32_t domain = moe_counts_domain(counts, destination);
    const uint32_t chunks = moe_counts_chunks(counts, source, domain);
    uint64_t tokens = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        tokens += moe_counts_part(counts, moe_counts_chunk_number(counts, source, domain, chunk),
                                  moe_counts_position(counts, destination));
    }
    return tokens;
}

/* What a rank exchanges with its mates over the fabric, and over NVLink because it forwards or has its own tokens forwarded. */
void moe_hops_add_row(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies) {
    const struct moe_counts *counts = moe->counts;
    const bool outward = moe_phase_outward(phase);
    const uint32_t own = moe_counts_domain(counts, rank), base = moe_counts_base(counts, rank);
    for (uint32_t position = 0; position < counts->domain_ranks; position++) {
        const uint32_t peer = moe_counts_at(counts, base, position);
        copies[peer] += peer != rank ? moe_hops_near(moe, phase, rank, peer) : 0;
    }
    for (uint32_t step = 1; step < counts->group_domains; step++) {
        const uint32_t domain = (own + step) % counts->group_domains;
        const uint32_t mate = moe_counts_mate(counts, rank, domain);
        copies[mate] += outward ? counts->crossing[(uint64_t)rank * counts->group_domains + domain]
                                : counts->crossing[(uint64_t)mate * counts->group_domains + own];
        for (uint32_t position = 0; position < counts->domain_ranks; position++) {
            const uint32_t peer = moe_counts_at(counts, base, position);
            const uint32_t forwarder = outward ? rank : peer, destination = outward ? peer : rank;
            copies[peer] +=
                peer != rank ? remote_tokens(counts, moe_counts_mate(counts, forwarder, domain), destination) : 0;
        }
    }
}
