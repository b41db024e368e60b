// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Messages that algorithms post: token copies, and the small ones that control them. Inside of the plan; not for other rooms.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_SEND_H
#define MOEFABRIC_WORKLOAD_MOE_SEND_H

#include "workload/moe_plan.h"

/** NVLink send channels of a GPU (traffic.h). */
enum { MOE_SEND_OWN = 0, MOE_SEND_FORWARDED = 1 };

/** A message with token copies. */
struct moe_send {
    enum moe_phase phase;
    enum moe_tag_kind kind;
    uint32_t from, to;
    uint32_t domain, chunk; /**< for its tag */
    uint64_t copies;        /**< 0: nothing is posted */
    uint8_t channel;
    uint64_t not_before_ps; /**< 0: from its kernel on */
    bool at_once;           /**< it may leave from its sender's start on; else from when the phase has begun there */
};

/** As a message; false where there is nothing to send, because there are no copies or they stay at home. */
bool moe_send_make(const struct moe *moe, const struct moe_send *send, struct traffic_message *message);

/** Posts it, if there is something to send. */
void moe_send_copies(const struct moe *moe, const struct moe_send *send, struct traffic_outbox *outbox);

/**
 * Copies of a phase that stay on their rank are copied there, before the first message that its SMs copy out, of those that stand in the outbox from
 * number `first` on. Where there is none, or copies are not units of messages, they take no time.
 */
void moe_send_local(struct traffic_outbox *outbox, uint32_t first, uint64_t copies);

/** Sends a rank's receive counts to all that await them. */
void moe_send_counts(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** A routing map has come from a source: to be handed on in the domain, if the algorithm gathers maps and it has come from another one. */
void moe_send_map_on(const struct moe *moe, uint32_t rank, uint32_t source, struct traffic_outbox *outbox);

/** Counts messages (or maps) that a rank awaits (as many as it sends: the relation is mutual). */
uint32_t moe_send_counts_peers(const struct moe *moe);

/** Grants the rank's port to every remote sender that has bytes for it. */
void moe_send_grants(const struct moe *moe, uint32_t rank, struct traffic_outbox *outbox);

/** Notes a grant. */
void moe_send_note_grant(struct moe *moe, uint32_t rank, uint32_t destination);

/** True if a rank's dispatch to a destination has to wait for a grant. */
bool moe_send_must_wait(const struct moe *moe, uint32_t rank, uint32_t destination);

/** Tells a sender that a message of a phase has been received. */
void moe_send_acknowledge(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, uint32_t chunk,
                          struct traffic_outbox *outbox);

/** The rank `step` places after rank in its row: its group (direct) or its domain (two_hop). */
uint32_t moe_send_neighbour(const struct moe_counts *counts, uint32_t rank, uint32_t step);

#endif
