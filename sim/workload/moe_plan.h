// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Inside of the mixture-of-experts plan, shared by moe.c (phases), moe_send.c (messages) and moe_summary.c (sums). Not for other rooms.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_PLAN_H
#define MOEFABRIC_WORKLOAD_MOE_PLAN_H

#include "workload/moe.h"
#include "workload/moe_totals.h"

/** Progress of a rank; written by calls for that rank only. Aligned so that two threads never share a line. */
struct moe_plan_rank {
    struct moe_phase_times times;
    uint32_t counts_left, dispatch_left, combine_left; /**< deliveries still to come */
    uint32_t gather_rounds;                            /**< once combining: moe_send_rounds */
    bool dispatching, combining;                       /**< the phase has begun here */
} __attribute__((aligned(64)));

struct moe {
    struct moe_counts *counts;
    struct moe_totals *totals; /**< [n_ranks] */
    struct experiment_traffic traffic;
    bool early_pacing;
    bool exchange_counts; /**< and there is a dispatch that needs them */
    uint64_t seed;
    uint32_t dispatch_unit_bytes, combine_unit_bytes; /**< one token copy */
    uint32_t counts_bytes;                            /**< one counts message */
    struct moe_plan_rank *ranks;
    uint64_t *grants; /**< [n_ranks × grant_words] bit = local number (direct) or domain (two_hop) of who has granted */
    uint32_t grant_words;
    uint16_t *
        missing; /**< two_hop [n_chunks] what a chunk's forwarder still waits for in combine: parts of others, and its own combine; its own state */
};

/**
 * What will be counted, and the gate that draws it, from a resolved model; freed by gate_free. NULL with *error if the gate cannot be. Whether
 * experts and ranks come out even is not looked at.
 */
struct gate *moe_prepare(const struct experiment_model *model, const struct experiment_traffic *traffic,
                         const struct moe_placement *placement, uint64_t seed, struct moe_counts_shape *shape,
                         struct error *error);

/** A grant says no more than who may send: as small as a frame can be (estimate; IEEE 802.3 has 64 bytes). */
enum { MOE_PLAN_GRANT_BYTES = 64 };

/** Sends a rank's receive counts to all that await them. */
void moe_send_counts(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** Grants the rank's port to every remote sender that has bytes for it. */
void moe_send_grants(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** Sends all of a rank's dispatch that waits for no grant. */
void moe_send_dispatch(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** Sends what has waited for the grant of one destination. */
void moe_send_granted(const struct moe *moe, uint32_t rank, uint32_t destination, struct traffic_outbox *outbox);

/** A chunk from its source has reached its forwarder: sends its parts on. */
void moe_send_forward(const struct moe *moe, uint32_t forwarder, uint32_t source, uint32_t chunk,
                      struct traffic_outbox *outbox);

/** Sends a rank's results back to where their tokens came from, or to the forwarders of those. */
void moe_send_combine(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** Rounds of a rank's gathering: in round n it sends its parts of chunk n of every source of every other domain. */
uint32_t moe_send_rounds(const struct moe *moe, uint32_t rank);

/** The gathering of a rank's combine, part by part: traffic.series. */
uint32_t moe_send_series(const struct moe *moe, uint32_t rank, uint64_t *cursor, struct traffic_message *messages,
                         uint32_t capacity);

/** Sends a gathered chunk back from its forwarder to its source. */
void moe_send_reduced(const struct moe *moe, uint32_t forwarder, uint32_t source, uint32_t chunk,
                      struct traffic_outbox *outbox);

/** Counts messages that a rank awaits (as many as it sends: the relation is mutual). */
uint32_t moe_send_counts_peers(const struct moe *moe);

/** True if a rank has been granted a remote destination of its group. */
bool moe_send_is_granted(const struct moe *moe, uint32_t rank, uint32_t destination);

/** Notes a grant. */
void moe_send_note_grant(struct moe *moe, uint32_t rank, uint32_t destination);

#endif
