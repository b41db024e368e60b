// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pxn: NCCL's PXN ("PCI × NVLink", NVIDIA, Doubling all2all performance with NCCL 2.12). What a rank sends to a rank of another domain goes over NVLink
 * to the GPU of its own domain that has the destination's position, whose NIC is on the destination's rail, and from there over the fabric: nothing
 * crosses rails, so on rail leaves no all-to-all needs a spine for more than the domains of one rail. What goes back does the same from the other side.
 *
 * Chunks of chunk_bytes are handed on one by one as they arrive, by the proxy of the GPU that has the NIC, whatever that GPU does itself: the two legs
 * overlap. Every (token, expert) copy is sent, as in direct; a rank whose position is the destination's sends it itself.
 * Destinations are walked from the next rank on, and chunks of all of them in turn.
 *
 * Tags: to the GPU with the NIC `domain` is that of the destination, and that of the sender for what stays there; over the fabric it is the position of
 * the source. Example: 2 domains of 2 GPUs (0, 1 | 2, 3); GPU 0 sends to GPU 3 over GPU 1: 0 to 1 on NVLink (domain 1), 1 to 3 on rail 1 (position 0).
 */
#include "base/number.h"
#include "workload/moe_algorithm.h"
#include "workload/moe_flat.h"
#include "workload/moe_send.h"

/* Domains and positions: of the group where it is made of whole domains, else of the cluster. */
static uint32_t domain_of(const struct moe_counts *counts, uint32_t rank) {
    return counts->shape.groups ? moe_placement_domain(&counts->shape.placement, rank)
                                : moe_counts_domain(counts, rank);
}

static uint32_t position_of(const struct moe_counts *counts, uint32_t rank) {
    return counts->shape.groups ? rank % counts->shape.placement.ranks_per_domain : moe_counts_position(counts, rank);
}

/* The place of a rank's position in another domain: a GPU of the group where it is made of whole domains. */
static uint32_t mate_of(const struct moe_counts *counts, uint32_t rank, uint32_t domain) {
    return counts->shape.groups ? domain * counts->shape.placement.ranks_per_domain + position_of(counts, rank)
                                : moe_counts_mate(counts, rank, domain);
}

static bool same_group(const struct moe_counts *counts, uint32_t rank, uint32_t other) {
    return moe_counts_takes_part(counts, other) && moe_counts_group(counts, rank) == moe_counts_group(counts, other);
}

/*
 * The GPU of a rank's domain whose NIC sends what the rank has for another: the destination itself within a domain. Where the group has no GPU at that place
 * the rank sends by its own NIC, as NCCL does without a local rank beside the NIC.
 */
static uint32_t sender_of(const struct moe_counts *counts, uint32_t from, uint32_t to) {
    const uint32_t sender = mate_of(counts, to, domain_of(counts, from));
    return same_group(counts, from, sender) ? sender : from;
}

static uint64_t copies_of_chunk(const struct moe *moe, enum moe_phase phase, uint64_t copies, uint32_t chunk) {
    const uint64_t most = moe_flat_chunk_copies(moe, phase);
    return number_smaller(copies - chunk * most, most);
}

/* First leg, or the only one. */
static void send_chunk(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t to, uint32_t chunk,
                       struct traffic_outbox *outbox) {
    const uint64_t copies = moe_flat_copies(moe, phase, rank, to);
    const uint32_t sender = sender_of(moe->counts, rank, to);
    const bool itself = sender == rank;
    const enum moe_tag_kind first = moe_phase_outward(phase) ? MOE_TAG_DISPATCH : MOE_TAG_COMBINE_GATHER;
    const enum moe_tag_kind last = moe_phase_outward(phase) ? MOE_TAG_DISPATCH_FORWARD : MOE_TAG_COMBINE;
    const struct moe_send send = {.phase = phase,
                                  .kind = itself ? last : first,
                                  .from = rank,
                                  .to = itself ? to : sender,
                                  .domain = itself ? position_of(moe->counts, rank) : domain_of(moe->counts, to),
                                  .chunk = chunk,
                                  .copies = copies_of_chunk(moe, phase, copies, chunk),
                                  .channel = MOE_SEND_OWN};
    moe_send_copies(moe, &send, outbox);
}

static void begin(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox) {
    bool more = true;
    for (uint32_t chunk = 0; more; chunk++) {
        more = false;
        for (uint32_t step = 1; step < moe->counts->row; step++) {
            const uint32_t to = moe_flat_after(moe->counts, rank, step);
            if (chunk < moe_flat_chunks(moe, phase, moe_flat_copies(moe, phase, rank, to))) {
                more = true;
                send_chunk(moe, phase, rank, to, chunk, outbox);
            }
        }
    }
}

/* Second leg: a chunk for another domain has reached the GPU with the NIC. */
static void delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, const struct moe_tag *tag,
                      struct traffic_outbox *outbox) {
    const bool first = tag->kind == MOE_TAG_DISPATCH || tag->kind == MOE_TAG_COMBINE_GATHER;
    if (!first || tag->domain == domain_of(moe->counts, rank)) {
        return;
    }
    const uint32_t to = mate_of(moe->counts, rank, tag->domain);
    const struct moe_send send = {.phase = phase,
                                  .kind = moe_phase_outward(phase) ? MOE_TAG_DISPATCH_FORWARD : MOE_TAG_COMBINE,
                                  .from = rank,
                                  .to = to,
                                  .domain = position_of(moe->counts, source),
                                  .chunk = tag->chunk,
                                  .copies =
                                      copies_of_chunk(moe, phase, moe_flat_copies(moe, phase, source, to), tag->chunk),
                                  .at_once = true};
    moe_send_copies(moe, &send, outbox);
}

static void sum(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t rank = 0; rank < counts->shape.placement.n_ranks; rank++) {
        if (!moe_counts_takes_part(counts, rank)) {
            continue;
        }
        totals[rank].self_copies += moe_flat_copies(moe, phase, rank, rank);
        for (uint32_t step = 1; step < counts->row; step++) {
            const uint32_t to = moe_flat_after(counts, rank, step), sender = sender_of(counts, rank, to);
            const uint64_t copies = moe_flat_copies(moe, phase, rank, to);
            const uint32_t chunks = moe_flat_chunks(moe, phase, copies);
            if (sender != rank) {
                moe_totals_add(counts, totals, rank, sender, copies, chunks);
            }
            if (sender != to) {
                moe_totals_add(counts, totals, sender, to, copies, chunks);
            }
        }
    }
}

/* Own first legs, and what neighbours have for the rank's rail. */
static void add_row(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies) {
    const struct moe_counts *counts = moe->counts;
    for (uint32_t step = 1; step < counts->row; step++) {
        const uint32_t to = moe_flat_after(counts, rank, step), sender = sender_of(counts, rank, to);
        if (sender != rank) {
            copies[sender] += moe_flat_copies(moe, phase, rank, to);
            continue;
        }
        const uint32_t size = counts->shape.placement.ranks_per_domain, first = rank - rank % size;
        for (uint32_t neighbour = first; neighbour < first + size; neighbour++) {
            const bool sends = same_group(counts, rank, neighbour) && sender_of(counts, neighbour, to) == rank;
            copies[to] += sends ? moe_flat_copies(moe, phase, neighbour, to) : 0;
        }
    }
}

const struct moe_algorithm moe_pxn = {
    .contiguous = true, .sum = sum, .add_row = add_row, .begin = begin, .delivered = delivered};
