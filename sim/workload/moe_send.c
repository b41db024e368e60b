// SPDX-License-Identifier: GPL-3.0-or-later
/* Messages of the plan, whichever algorithm decides on them. */
#include "workload/moe_send.h"

#include "base/error.h"
#include "base/number.h"
#include "workload/moe_kernel.h"

static const uint64_t whole_share = UINT64_C(1) << 20;

/* Local number (direct) or domain (two_hop) that stands for a remote peer in the bits of grants. */
static uint32_t peer_number(const struct moe *moe, uint32_t rank) {
    return moe->counts->shape.two_hop ? moe_counts_domain(moe->counts, rank) : moe_counts_local(moe->counts, rank);
}

static bool is_granted(const struct moe *moe, uint32_t rank, uint32_t destination) {
    const uint32_t peer = peer_number(moe, destination);
    return moe->grants[(uint64_t)rank * moe->grant_words + peer / 64] >> (peer % 64) & 1;
}

void moe_send_note_grant(struct moe *moe, uint32_t rank, uint32_t destination) {
    const uint32_t peer = peer_number(moe, destination);
    moe->grants[(uint64_t)rank * moe->grant_words + peer / 64] |= UINT64_C(1) << (peer % 64);
}

static enum traffic_route route_of(const struct moe *moe, uint32_t from, uint32_t to) {
    return moe_placement_route(&moe->counts->shape.placement, from, to);
}

bool moe_send_must_wait(const struct moe *moe, uint32_t rank, uint32_t destination) {
    return moe->early_pacing && route_of(moe, rank, destination) == TRAFFIC_FABRIC &&
           !is_granted(moe, rank, destination);
}

/* Token copies that source dispatches to a remote rank of its group over the fabric. */
static uint64_t fabric_copies(const struct moe_counts *counts, uint32_t source, uint32_t destination) {
    if (counts->shape.two_hop) {
        return counts->crossing[(uint64_t)source * counts->group_domains + moe_counts_domain(counts, destination)];
    }
    return counts->copies[(uint64_t)source * counts->row + moe_counts_local(counts, destination)];
}

/* Part of what the destination's port was announced, fxp20, never 0: 0 would mean not announced. */
static uint32_t share(const struct moe *moe, uint32_t source, uint32_t destination) {
    const uint64_t own = fabric_copies(moe->counts, source, destination);
    const uint64_t part = own * whole_share / moe->totals[MOE_PHASE_DISPATCH][destination].fabric_received.copies;
    return part > 0 ? (uint32_t)part : 1;
}

bool moe_send_make(const struct moe *moe, const struct moe_send *send, struct traffic_message *message) {
    if (send->copies == 0 || send->from == send->to) {
        return false;
    }
    const bool fabric = route_of(moe, send->from, send->to) == TRAFFIC_FABRIC;
    const struct moe_phase_times *times = &moe->ranks[send->from].times;
    const uint32_t unit_bytes = moe->unit_bytes[send->phase];
    const uint64_t ready_ps =
        (send->at_once ? times->start_ps : times->begin_ps[send->phase]) + kernel_before_ps(&moe->kernel);
    const bool paced =
        moe->early_pacing && fabric && send->phase == MOE_PHASE_DISPATCH && send->kind == MOE_TAG_DISPATCH;
    *message = (struct traffic_message){
        .destination = send->to,
        .tag = moe_tag_pack(send->kind, moe_phase_backward(send->phase), send->domain, send->chunk),
        .bytes = send->copies * unit_bytes,
        .start_ps = number_larger(ready_ps, send->not_before_ps),
        .unit_bytes = moe->algorithm->contiguous ? 0 : unit_bytes,
        .share = paced ? share(moe, send->from, send->to) : 0,
        .route = fabric ? TRAFFIC_FABRIC : TRAFFIC_NVLINK,
        .channel = fabric ? 0 : send->channel};
    return true;
}

void moe_send_copies(const struct moe *moe, const struct moe_send *send, struct traffic_outbox *outbox) {
    struct traffic_message message;
    if (moe_send_make(moe, send, &message)) {
        if (message.route == TRAFFIC_FABRIC && moe->kernel.message_ps > 0) {
            message.start_ps = moe_kernel_hand_over(moe, send->from, message.start_ps,
                                                    moe->algorithm->message_each ? send->copies : 1);
        }
        traffic_outbox_add(outbox, &message);
    }
}

void moe_send_local(struct traffic_outbox *outbox, uint32_t first, uint64_t copies) {
    while (first < outbox->count && outbox->messages[first].route != TRAFFIC_NVLINK) {
        first++;
    }
    if (first < outbox->count) {
        outbox->messages[first].local_units += (uint32_t)copies;
    }
}

/* Urgent where they cross the fabric; over NVLink they need not queue behind the data of their sender. */
static void send_control(const struct moe *moe, uint32_t from, uint32_t to, uint32_t tag, uint64_t bytes,
                         uint8_t channel, struct traffic_outbox *outbox) {
    const bool map = moe_gathers_map(moe) && moe_tag_unpack(tag).kind == MOE_TAG_COUNTS; /* no single packet */
    const bool fabric = route_of(moe, from, to) == TRAFFIC_FABRIC;
    traffic_outbox_add(outbox, &(struct traffic_message){.destination = to,
                                                         .tag = tag,
                                                         .bytes = bytes,
                                                         .start_ps = moe->ranks[from].times.start_ps,
                                                         .route = fabric ? TRAFFIC_FABRIC : TRAFFIC_NVLINK,
                                                         .channel = fabric ? 0 : channel,
                                                         .urgent = fabric && !map});
}

/* To the rank at the same position of every other domain, the next one first. */
static void send_control_to_mates(const struct moe *moe, uint32_t rank, enum moe_tag_kind kind, uint64_t bytes,
                                  struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    const uint32_t own = moe_counts_domain(counts, rank);
    for (uint32_t step = 1; step < counts->group_domains; step++) {
        const uint32_t mate = moe_counts_mate(counts, rank, (own + step) % counts->group_domains);
        if (kind == MOE_TAG_COUNTS || fabric_copies(counts, mate, rank) > 0) {
            send_control(moe, rank, mate, moe_tag_pack(kind, false, 0, 0), bytes, MOE_SEND_OWN, outbox);
        }
    }
}

uint32_t moe_send_neighbour(const struct moe_counts *counts, uint32_t rank, uint32_t step) {
    return moe_counts_row_rank(counts, rank, (moe_counts_index(counts, rank) + step) % counts->row);
}

uint32_t moe_send_counts_peers(const struct moe *moe) {
    const struct moe_counts *counts = moe->counts;
    if (moe_gathers_map(moe)) {
        return counts->shape.group_ranks - 1;
    }
    return counts->row - 1 + (counts->shape.two_hop ? counts->group_domains - 1 : 0);
}

static void send_counts_to_row(const struct moe *moe, uint32_t rank, uint32_t domain, struct traffic_outbox *outbox) {
    for (uint32_t step = 1; step < moe->counts->row; step++) {
        send_control(moe, rank, moe_send_neighbour(moe->counts, rank, step),
                     moe_tag_pack(MOE_TAG_COUNTS, false, domain, 0), moe->counts_bytes, MOE_SEND_OWN, outbox);
    }
}

void moe_send_map_on(const struct moe *moe, uint32_t rank, uint32_t source, struct traffic_outbox *outbox) {
    const uint32_t domain = moe_counts_domain(moe->counts, source);
    if (moe_gathers_map(moe) && domain != moe_counts_domain(moe->counts, rank)) {
        send_counts_to_row(moe, rank, domain, outbox);
    }
}

void moe_send_counts(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    send_counts_to_row(moe, rank, moe_gathers_map(moe) ? moe_counts_domain(moe->counts, rank) : 0, outbox);
    if (moe->counts->shape.two_hop) {
        send_control_to_mates(moe, rank, MOE_TAG_COUNTS, moe->counts_bytes, outbox);
    }
}

void moe_send_grants(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox) {
    const struct moe_counts *counts = moe->counts;
    if (counts->shape.two_hop) {
        send_control_to_mates(moe, rank, MOE_TAG_GRANT, MOE_PLAN_GRANT_BYTES, outbox);
        return;
    }
    for (uint32_t step = 1; step < counts->row; step++) {
        const uint32_t sender = moe_send_neighbour(counts, rank, step);
        if (route_of(moe, sender, rank) == TRAFFIC_FABRIC && fabric_copies(counts, sender, rank) > 0) {
            send_control(moe, rank, sender, moe_tag_pack(MOE_TAG_GRANT, false, 0, 0), MOE_PLAN_GRANT_BYTES,
                         MOE_SEND_OWN, outbox);
        }
    }
}

void moe_send_acknowledge(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, uint32_t chunk,
                          struct traffic_outbox *outbox) {
    const uint32_t tag = moe_tag_pack(MOE_TAG_ACKNOWLEDGE, moe_phase_backward(phase), !moe_phase_outward(phase), chunk);
    send_control(moe, rank, source, tag, MOE_PLAN_ACKNOWLEDGE_BYTES, MOE_SEND_FORWARDED, outbox);
}
