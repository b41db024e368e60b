// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What algorithms share that send a token once to each domain: chunks over the fabric to the rank with the sender's position there, which hands their
 * parts on over NVLink; and the same way back, gathered and reduced at that rank.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_HOPS_H
#define MOEFABRIC_WORKLOAD_MOE_HOPS_H

#include "workload/moe_plan.h"

/** Sends chunks of a phase that goes out: chunk by chunk over all other domains, so that every forwarder has work from the beginning. */
void moe_hops_send_chunks(const struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox);

/** Sends the chunks of one domain. */
void moe_hops_send_domain(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t domain,
                          struct traffic_outbox *outbox);

/** A phase that goes out has begun: what arrived before is handed on (backward pass: layouts are known, so chunks may arrive early). */
void moe_hops_release(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox);

/** Sends parts of all chunks that a rank has had from other domains back to their forwarders. */
void moe_hops_send_parts(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox);

/** The gathering of a rank, part by part: traffic.series. */
uint32_t moe_hops_series(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *cursor,
                         struct traffic_message *messages, uint32_t capacity);

/** moe_algorithm.delivered: a chunk is handed on, a part gathered. */
void moe_hops_delivered(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source,
                        const struct moe_tag *tag, struct traffic_outbox *outbox);

/** Token copies between two ranks of a domain for tokens of that domain. */
uint64_t moe_hops_near(const struct moe *moe, enum moe_phase phase, uint32_t from, uint32_t to);

/** moe_algorithm.sum without what stays in the domain, of a phase that goes out. */
void moe_hops_sum_far(const struct moe *moe, struct moe_totals *totals);

/** moe_algorithm.add_row. */
void moe_hops_add_row(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies);

/** moe_algorithm.create: what chunks wait for, in phases in which they do. Freed by moe_hops_destroy. */
void *moe_hops_create(const struct moe *moe);

/** moe_algorithm.destroy. */
void moe_hops_destroy(void *state);

/** moe_algorithm.reset: chunks that a rank hands on wait for everything again. */
void moe_hops_reset(struct moe *moe, uint32_t rank);

#endif
