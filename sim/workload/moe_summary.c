// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_summary.h"

#include "base/error.h"
#include "base/hash.h"
#include "workload/jitter.h"
#include "workload/moe_plan.h"

#include <string.h>

static uint32_t n_ranks_of(const struct moe *moe) {
    return moe->counts->shape.placement.n_ranks;
}

uint32_t moe_summary_unit_bytes(const struct moe *moe, enum moe_summary_phase phase) {
    REQUIRE(phase != MOE_SUMMARY_COUNTS, "counts have no token copies");
    return phase == MOE_SUMMARY_DISPATCH ? moe->dispatch_unit_bytes : moe->combine_unit_bytes;
}

static struct moe_summary_side in_bytes(const struct moe_totals_side *side, uint32_t unit_bytes) {
    return (struct moe_summary_side){.bytes = side->copies * unit_bytes, .messages = side->messages};
}

static void add(struct moe_summary_side *side, uint64_t messages, uint64_t message_bytes) {
    side->messages += messages;
    side->bytes += messages * message_bytes;
}

/* Peers of the counts exchange: all others of the row on either route, and the mates in other domains. */
static void add_counts(const struct moe *moe, uint32_t rank, struct moe_summary_volume *volume) {
    const struct moe_counts *counts = moe->counts;
    uint64_t fabric = counts->shape.two_hop ? counts->group_domains - 1 : 0, nvlink = 0;
    for (uint32_t index = 0; index < counts->row; index++) {
        const uint32_t peer = moe_counts_row_rank(counts, rank, index);
        const bool near = moe_placement_route(&counts->shape.placement, rank, peer) == TRAFFIC_NVLINK;
        nvlink += near && peer != rank;
        fabric += !near;
    }
    add(&volume->fabric_sent, fabric, moe->counts_bytes);
    add(&volume->fabric_received, fabric, moe->counts_bytes);
    add(&volume->nvlink_sent, nvlink, moe->counts_bytes);
    add(&volume->nvlink_received, nvlink, moe->counts_bytes);
}

/* Remote ranks that a rank sends data to (so they grant), and that send to it (so it grants them). */
static void add_grants(const struct moe *moe, uint32_t rank, struct moe_summary_volume *volume) {
    const struct moe_counts *counts = moe->counts;
    uint64_t given = 0, received = 0;
    if (counts->shape.two_hop) {
        const uint32_t own = moe_counts_domain(counts, rank);
        for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
            const uint32_t mate = moe_counts_mate(counts, rank, domain);
            given += domain != own && moe_counts_chunks(counts, mate, own) > 0;
            received += domain != own && moe_counts_chunks(counts, rank, domain) > 0;
        }
    } else { /* one message a destination, so as many grants as messages */
        given = moe->totals[rank].fabric_received.messages;
        received = moe->totals[rank].fabric_sent.messages;
    }
    add(&volume->fabric_sent, given, MOE_PLAN_GRANT_BYTES);
    add(&volume->fabric_received, received, MOE_PLAN_GRANT_BYTES);
}

struct moe_summary_volume moe_summary_volume(const struct moe *moe, uint32_t rank, enum moe_summary_phase phase) {
    const struct moe_totals *totals = &moe->totals[rank];
    struct moe_summary_volume volume = {0};
    if (phase == MOE_SUMMARY_COUNTS && moe->exchange_counts) {
        add_counts(moe, rank, &volume);
        if (moe->early_pacing) {
            add_grants(moe, rank, &volume);
        }
    } else if (phase == MOE_SUMMARY_DISPATCH && moe->traffic.dispatch) {
        volume.fabric_sent = in_bytes(&totals->fabric_sent, moe->dispatch_unit_bytes);
        volume.fabric_received = in_bytes(&totals->fabric_received, moe->dispatch_unit_bytes);
        volume.nvlink_sent = in_bytes(&totals->nvlink_sent, moe->dispatch_unit_bytes);
        volume.nvlink_received = in_bytes(&totals->nvlink_received, moe->dispatch_unit_bytes);
    } else if (phase == MOE_SUMMARY_COMBINE && moe->traffic.combine) {
        volume.fabric_sent = in_bytes(&totals->fabric_received, moe->combine_unit_bytes);
        volume.fabric_received = in_bytes(&totals->fabric_sent, moe->combine_unit_bytes);
        volume.nvlink_sent = in_bytes(&totals->nvlink_received, moe->combine_unit_bytes);
        volume.nvlink_received = in_bytes(&totals->nvlink_sent, moe->combine_unit_bytes);
    }
    return volume;
}

static void extend(struct moe_summary_side *total, struct moe_summary_side *largest,
                   const struct moe_summary_side *side) {
    total->bytes += side->bytes;
    total->messages += side->messages;
    largest->bytes = side->bytes > largest->bytes ? side->bytes : largest->bytes;
    largest->messages = side->messages > largest->messages ? side->messages : largest->messages;
}

struct moe_summary_extent moe_summary_extent(const struct moe *moe, enum moe_summary_phase phase) {
    struct moe_summary_extent extent = {0};
    for (uint32_t rank = 0; rank < n_ranks_of(moe); rank++) {
        const struct moe_summary_volume volume = moe_summary_volume(moe, rank, phase);
        extend(&extent.total.fabric_sent, &extent.largest.fabric_sent, &volume.fabric_sent);
        extend(&extent.total.fabric_received, &extent.largest.fabric_received, &volume.fabric_received);
        extend(&extent.total.nvlink_sent, &extent.largest.nvlink_sent, &volume.nvlink_sent);
        extend(&extent.total.nvlink_received, &extent.largest.nvlink_received, &volume.nvlink_received);
    }
    return extent;
}

struct moe_summary_logical moe_summary_logical(const struct moe *moe, uint32_t rank, enum moe_summary_phase phase) {
    const uint64_t unit_bytes = moe_summary_unit_bytes(moe, phase);
    const struct moe_counts *counts = moe->counts;
    return (struct moe_summary_logical){
        .domains_bytes = counts->domains_sent[rank] * unit_bytes,
        .ranks_bytes = counts->ranks_received[rank] * unit_bytes,
        .copies_bytes = ((uint64_t)counts->shape.tokens * counts->shape.top_k - counts->dropped[rank]) * unit_bytes,
        .fabric_wire_bytes = moe->totals[rank].fabric_sent.copies * unit_bytes,
        .nvlink_wire_bytes = moe->totals[rank].nvlink_received.copies * unit_bytes,
    };
}

uint64_t moe_summary_dropped(const struct moe *moe) {
    uint64_t dropped = 0;
    for (uint32_t rank = 0; rank < n_ranks_of(moe); rank++) {
        dropped += moe->counts->dropped[rank];
    }
    return dropped;
}

uint64_t moe_summary_expert_tokens(const struct moe *moe, uint32_t group, uint32_t expert) {
    return moe->counts->expert_tokens[(uint64_t)group * moe->counts->shape.experts + expert];
}

uint64_t moe_summary_rank_tokens(const struct moe *moe, uint32_t rank) {
    return moe->counts->rank_tokens[rank];
}

/* Keeps the sum in mean until the caller divides. */
static void balance_add(struct moe_summary_balance *balance, uint32_t index, uint64_t load) {
    balance->mean += (double)load;
    if (load > balance->largest) {
        balance->largest = load;
        balance->index = index;
    }
}

struct moe_summary_balance moe_summary_rank_balance(const struct moe *moe) {
    struct moe_summary_balance balance = {0};
    for (uint32_t rank = 0; rank < n_ranks_of(moe); rank++) {
        balance_add(&balance, rank, moe_summary_rank_tokens(moe, rank));
    }
    balance.mean /= n_ranks_of(moe);
    return balance;
}

struct moe_summary_balance moe_summary_expert_balance(const struct moe *moe) {
    struct moe_summary_balance balance = {0};
    const uint32_t count = moe->counts->n_groups * moe->counts->shape.experts;
    for (uint32_t i = 0; i < count; i++) {
        balance_add(&balance, i, moe->counts->expert_tokens[i]);
    }
    balance.mean /= count;
    return balance;
}

/* Direct, or within the domain: dispatch takes the rank's row, combine its column. */
static void add_row(const struct moe_counts *counts, bool combine, uint32_t rank, uint32_t unit_bytes,
                    uint64_t *bytes) {
    for (uint32_t index = 0; index < counts->row; index++) {
        const uint32_t peer = moe_counts_row_rank(counts, rank, index);
        const uint32_t source = combine ? peer : rank, destination = combine ? rank : peer;
        if (peer != rank) {
            bytes[peer] +=
                (uint64_t)counts->copies[(uint64_t)source * counts->row + moe_counts_index(counts, destination)] *
                unit_bytes;
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

/* two_hop: what a rank exchanges with its mates over the fabric, and over NVLink because it forwards or has its own tokens forwarded. */
static void add_hops(const struct moe_counts *counts, bool combine, uint32_t rank, uint32_t unit_bytes,
                     uint64_t *bytes) {
    const uint32_t own = moe_counts_domain(counts, rank), first = rank - moe_counts_position(counts, rank);
    for (uint32_t step = 1; step < counts->group_domains; step++) {
        const uint32_t domain = (own + step) % counts->group_domains;
        const uint32_t mate = moe_counts_mate(counts, rank, domain);
        const uint64_t crossing = combine ? counts->crossing[(uint64_t)mate * counts->group_domains + own]
                                          : counts->crossing[(uint64_t)rank * counts->group_domains + domain];
        bytes[mate] += crossing * unit_bytes;
        for (uint32_t peer = first; peer < first + counts->domain_ranks; peer++) {
            if (peer != rank) {
                const uint32_t forwarder = combine ? peer : rank, destination = combine ? rank : peer;
                bytes[peer] +=
                    remote_tokens(counts, moe_counts_mate(counts, forwarder, domain), destination) * unit_bytes;
            }
        }
    }
}

void moe_summary_matrix_row(const struct moe *moe, enum moe_summary_phase phase, uint32_t rank, uint64_t *bytes) {
    const uint32_t unit_bytes = moe_summary_unit_bytes(moe, phase);
    const bool combine = phase == MOE_SUMMARY_COMBINE;
    if (!(combine ? moe->traffic.combine : moe->traffic.dispatch)) {
        return;
    }
    add_row(moe->counts, combine, rank, unit_bytes, bytes);
    if (moe->counts->shape.two_hop) {
        add_hops(moe->counts, combine, rank, unit_bytes, bytes);
    }
}

uint64_t moe_summary_digest(const struct moe *moe) {
    uint64_t digest = moe_counts_digest(moe->counts);
    const uint64_t figures[] = {moe->dispatch_unit_bytes,    moe->combine_unit_bytes, moe->traffic.dispatch,
                                moe->traffic.combine,        moe->exchange_counts,    moe->counts_bytes,
                                moe->traffic.expert_time_ps, moe->traffic.jitter_ps};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        digest = hash_mix(digest + figures[i]);
    }
    for (uint32_t rank = 0; rank < n_ranks_of(moe); rank++) {
        digest = hash_mix(digest + jitter_start_ps(moe->seed, rank, moe->traffic.jitter_ps));
    }
    return digest;
}
