// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tags of mixture-of-experts messages: what a message is, in 32 bits.
 *
 * Bits 31-29 kind, 28-16 `domain`, 15 backward pass, 14-0 chunk. Together with the two ranks of a message this is unique. What `domain` says is the
 * algorithm's affair: the domain of the token's source within its group (two_hop, hybrid_ep: a forwarder and the source's domain name the source, which
 * has the forwarder's position), that of its destination or the position of its source (pxn).
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_TAG_H
#define MOEFABRIC_WORKLOAD_MOE_TAG_H

#include "config/experiment_split.h"
#include "workload/moe_phase.h"

#include <stdbool.h>
#include <stdint.h>

enum moe_tag_kind {
    MOE_TAG_COUNTS,           /**< receive counts, before dispatch */
    MOE_TAG_GRANT,            /**< early pacing: a receiver tells a sender its share of the port */
    MOE_TAG_DISPATCH,         /**< tokens from their source: to their rank, or a chunk to its forwarder */
    MOE_TAG_DISPATCH_FORWARD, /**< part of a chunk, forwarder to rank */
    MOE_TAG_COMBINE_GATHER,   /**< part of a chunk on its way back, rank to forwarder */
    MOE_TAG_COMBINE, /**< results to the tokens' source: from their rank, or a reduced chunk from its forwarder */
    MOE_TAG_ACKNOWLEDGE, /**< nccl_p2p, pairwise: a message has been received; `domain` is 1 if it was of a phase that goes back to sources */
    MOE_TAG_KINDS,
};

enum {
    MOE_TAG_LARGEST_DOMAINS = EXPERIMENT_SPLIT_LARGEST_DOMAINS,
    MOE_TAG_LARGEST_CHUNKS = EXPERIMENT_SPLIT_LARGEST_CHUNKS
};

/** A tag taken apart. */
struct moe_tag {
    enum moe_tag_kind kind;
    uint32_t
        domain; /**< of the token's source, within its group, or what the algorithm says; 0 where it does not matter */
    uint32_t chunk; /**< of that source and the destination's domain; 0 where there are none */
    bool backward;  /**< of the backward pass */
};

/** Packs a tag; domain and chunk below their limits. */
static inline uint32_t moe_tag_pack(enum moe_tag_kind kind, bool backward, uint32_t domain, uint32_t chunk) {
    return (uint32_t)kind << 29 | domain << 16 | (uint32_t)backward << 15 | chunk;
}

/** Takes a tag apart. */
static inline struct moe_tag moe_tag_unpack(uint32_t tag) {
    return (struct moe_tag){.kind = (enum moe_tag_kind)(tag >> 29),
                            .domain = tag >> 16 & 0x1fff,
                            .chunk = tag & 0x7fff,
                            .backward = tag >> 15 & 1};
}

/** The phase of a message with token copies, or of the one that is acknowledged. */
static inline enum moe_phase moe_tag_phase(const struct moe_tag *tag) {
    const bool back = tag->kind == MOE_TAG_COMBINE_GATHER || tag->kind == MOE_TAG_COMBINE ||
                      (tag->kind == MOE_TAG_ACKNOWLEDGE && tag->domain == 1);
    return (enum moe_phase)(2 * tag->backward + back);
}

/** Name of a kind for reports: counts, grant, dispatch, dispatch_forward, combine_gather, combine, acknowledge. */
const char *moe_tag_kind_name(enum moe_tag_kind kind);

#endif
