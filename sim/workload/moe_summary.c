// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_summary.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "workload/jitter.h"
#include "workload/moe_plan.h"

#include <stdlib.h>

static uint32_t n_ranks_of(const struct moe *moe) {
    return moe->counts->shape.placement.n_ranks;
}

static enum moe_phase phase_of(enum moe_summary_phase phase) {
    REQUIRE(phase != MOE_SUMMARY_COUNTS, "counts have no token copies");
    return (enum moe_phase)(phase - MOE_SUMMARY_DISPATCH);
}

const char *moe_summary_phase_name(enum moe_summary_phase phase) {
    static const char *const names[MOE_SUMMARY_PHASES] = {"counts", "dispatch", "combine", "combine_backward",
                                                          "dispatch_backward"};
    return names[phase];
}

bool moe_summary_has_phase(const struct moe *moe, enum moe_summary_phase phase) {
    return phase == MOE_SUMMARY_COUNTS ? moe->exchange_counts || moe->algorithm->acknowledges
                                       : moe->has_phase[phase_of(phase)];
}

uint32_t moe_summary_unit_bytes(const struct moe *moe, enum moe_summary_phase phase) {
    return moe->unit_bytes[phase_of(phase)];
}

uint32_t moe_summary_packet_unit_bytes(const struct moe *moe, enum moe_summary_phase phase) {
    return moe->algorithm->contiguous ? 0 : moe_summary_unit_bytes(moe, phase);
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
    if (moe_gathers_map(moe)) {
        nvlink = (uint64_t)(counts->group_domains - 1) * (counts->domain_ranks - 1); /* handed on */
    }
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
        given = moe->totals[MOE_PHASE_DISPATCH][rank].fabric_received.messages;
        received = moe->totals[MOE_PHASE_DISPATCH][rank].fabric_sent.messages;
    }
    add(&volume->fabric_sent, given, MOE_PLAN_GRANT_BYTES);
    add(&volume->fabric_received, received, MOE_PLAN_GRANT_BYTES);
}

/* One for each message with token copies, the other way. */
static void add_acknowledgements(const struct moe_totals *totals, struct moe_summary_volume *volume) {
    add(&volume->fabric_sent, totals->fabric_received.messages, MOE_PLAN_ACKNOWLEDGE_BYTES);
    add(&volume->fabric_received, totals->fabric_sent.messages, MOE_PLAN_ACKNOWLEDGE_BYTES);
    add(&volume->nvlink_sent, totals->nvlink_received.messages, MOE_PLAN_ACKNOWLEDGE_BYTES);
    add(&volume->nvlink_received, totals->nvlink_sent.messages, MOE_PLAN_ACKNOWLEDGE_BYTES);
}

static struct moe_summary_volume control_volume(const struct moe *moe, uint32_t rank) {
    struct moe_summary_volume volume = {0};
    if (!moe_counts_takes_part(moe->counts, rank)) {
        return volume;
    }
    if (moe->exchange_counts) {
        add_counts(moe, rank, &volume);
        if (moe->early_pacing) {
            add_grants(moe, rank, &volume);
        }
    }
    for (int phase = 0; phase < MOE_PHASES && moe->algorithm->acknowledges; phase++) {
        if (moe->has_phase[phase]) {
            add_acknowledgements(&moe->totals[phase][rank], &volume);
        }
    }
    return volume;
}

struct moe_summary_volume moe_summary_volume(const struct moe *moe, uint32_t rank, enum moe_summary_phase phase) {
    if (phase == MOE_SUMMARY_COUNTS) {
        return control_volume(moe, rank);
    }
    if (!moe_summary_has_phase(moe, phase)) {
        return (struct moe_summary_volume){0};
    }
    const struct moe_totals *totals = &moe->totals[phase_of(phase)][rank];
    const uint32_t unit_bytes = moe_summary_unit_bytes(moe, phase);
    return (struct moe_summary_volume){.fabric_sent = in_bytes(&totals->fabric_sent, unit_bytes),
                                       .fabric_received = in_bytes(&totals->fabric_received, unit_bytes),
                                       .nvlink_sent = in_bytes(&totals->nvlink_sent, unit_bytes),
                                       .nvlink_received = in_bytes(&totals->nvlink_received, unit_bytes)};
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
    const bool outward = moe_phase_outward(phase_of(phase));
    const struct moe_totals *totals = &moe->totals[phase_of(phase)][rank];
    if (!moe_counts_takes_part(counts, rank)) {
        return (struct moe_summary_logical){0};
    }
    return (struct moe_summary_logical){
        .domains_bytes = counts->domains_sent[rank] * unit_bytes,
        .ranks_bytes = counts->ranks_received[rank] * unit_bytes,
        .copies_bytes = ((uint64_t)counts->shape.tokens * counts->shape.top_k - counts->dropped[rank]) * unit_bytes,
        .fabric_wire_bytes = (outward ? totals->fabric_sent : totals->fabric_received).copies * unit_bytes,
        .nvlink_wire_bytes = (outward ? totals->nvlink_received : totals->nvlink_sent).copies * unit_bytes,
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
    balance.mean /= moe_counts_participants(moe->counts);
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

void moe_summary_matrix_row(const struct moe *moe, enum moe_summary_phase phase, uint32_t rank, uint64_t *bytes) {
    if (!moe_summary_has_phase(moe, phase) || !moe_counts_takes_part(moe->counts, rank)) {
        return;
    }
    const uint32_t n_ranks = n_ranks_of(moe);
    uint64_t *copies = memory_allocate(n_ranks, sizeof *copies);
    moe->algorithm->add_row(moe, phase_of(phase), rank, copies);
    for (uint32_t peer = 0; peer < n_ranks; peer++) {
        bytes[peer] += copies[peer] * moe_summary_unit_bytes(moe, phase);
    }
    free(copies);
}

uint64_t moe_summary_digest(const struct moe *moe) {
    uint64_t digest = moe_counts_digest(moe->counts);
    const struct experiment_traffic *traffic = &moe->traffic;
    const uint64_t figures[] = {moe->unit_bytes[MOE_PHASE_DISPATCH],
                                moe->unit_bytes[MOE_PHASE_COMBINE],
                                traffic->dispatch,
                                traffic->combine,
                                moe->exchange_counts,
                                moe->counts_bytes,
                                traffic->expert_time_ps,
                                traffic->jitter_ps};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        digest = hash_mix(digest + figures[i]);
    }
    if (!experiment_algorithm_needs[traffic->algorithm].grants) { /* counts tell direct and two_hop apart */
        digest = hash_mix(digest + traffic->algorithm);
        digest = hash_mix(digest + traffic->chunk_bytes);
        digest = hash_mix(digest + traffic->channels);
    }
    for (enum moe_phase phase = MOE_PHASE_COMBINE_BACKWARD; phase < MOE_PHASES; phase++) {
        if (moe->has_phase[phase]) {
            digest = hash_mix(digest + ((uint64_t)phase << 32 | moe->unit_bytes[phase]));
            digest = hash_mix(digest + traffic->turn_time_ps);
            digest = hash_mix(digest + traffic->expert_backward_time_ps);
        }
    }
    for (uint32_t rank = 0; rank < n_ranks_of(moe); rank++) {
        digest = hash_mix(digest + jitter_start_ps(moe->seed, rank, moe->traffic.jitter_ps));
    }
    return digest;
}
