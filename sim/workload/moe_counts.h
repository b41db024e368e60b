// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How many tokens go where: all that a plan keeps of the gate's choices.
 *
 * Tokens are drawn one by one and forgotten. A rank's expert-parallel group is group_ranks consecutive ranks, or (strided) blocks of
 * domain_ranks consecutive ranks, n_groups blocks apart, or what tables say (config/gpu_groups.h), under which ranks may take no part. Within its group a rank has a local number, and experts live on local ranks:
 * as placement.experts says, else expert e on rank e / experts_per_rank. For two_hop the group is cut into domains of domain_ranks ranks, and a rank has a position in its domain.
 * A row is what a rank reaches without forwarding: its group (direct) or its domain (two_hop); a rank has an index in it.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_COUNTS_H
#define MOEFABRIC_WORKLOAD_MOE_COUNTS_H

#include "config/experiment.h"
#include "config/gpu_groups.h"
#include "workload/gate.h"
#include "workload/moe_placement.h"

#include <stdbool.h>
#include <stdint.h>

/** What to count. The caller has checked that everything divides (moe_create does). */
struct moe_counts_shape {
    struct moe_placement placement;
    uint32_t group_ranks; /**< expert parallelism; divides the ranks that take part */
    struct gpu_groups
        *groups;  /**< NULL: all ranks take part, in groups that follow from their numbers. The counts take it over */
    bool strided; /**< groups of several whole domains, n_groups apart; else consecutive ranks */
    uint32_t experts; /**< multiple of group_ranks unless placement.experts says where they are */
    uint32_t top_k;
    uint32_t tokens;       /**< of each rank */
    bool two_hop;          /**< else direct */
    uint32_t chunk_tokens; /**< two_hop: tokens of a chunk, 1 … 65535 */
    uint64_t seed;
};

/** The counts. Immutable once made; owner of its arrays. */
struct moe_counts {
    struct moe_counts_shape shape;
    uint32_t n_groups;
    uint32_t experts_per_rank; /**< replicas of the rank that has most of them */
    uint32_t
        domain_ranks; /**< ranks of the group in one domain: min(ranks of a domain, group_ranks); of groups by tables what they have in each, or group_ranks */
    uint32_t group_domains; /**< two_hop: domains of a group */
    uint32_t row;           /**< length of a row of copies: group_ranks (direct) or domain_ranks (two_hop) */
    uint32_t *
        copies; /**< [n_ranks × row] direct: (token, expert) pairs for a local rank; two_hop: tokens for a position of the own domain, one a token */
    uint32_t
        *crossing; /**< two_hop [n_ranks × group_domains] tokens that go to a remote domain, each once; own domain 0 */
    uint32_t *first_chunk; /**< two_hop [n_ranks × group_domains] number of the first chunk of them */
    uint32_t n_chunks;     /**< of all ranks together */
    uint8_t *
        small_parts; /**< two_hop [n_chunks × domain_ranks] tokens of a chunk for a position: exact; used if chunk_tokens ≤ 255 */
    uint16_t *large_parts;    /**< the same if more */
    uint64_t *expert_tokens;  /**< [n_groups × experts] (token, expert) pairs */
    uint64_t *domains_sent;   /**< [n_ranks] distinct domains of each of its tokens, the own one included, summed */
    uint32_t *expert_rank;    /**< [experts] local rank of an expert, of its first replica */
    uint64_t *ranks_received; /**< [n_ranks] tokens that have at least one expert here, its own included */
    uint64_t *rank_tokens;    /**< [n_ranks] (token, expert) pairs for the experts here */
    uint32_t *dropped;        /**< [n_ranks] (token, expert) pairs of its tokens that no expert had room for */
};

/** Draws all tokens. Memory: two_hop about 1 byte (2 beyond 255 tokens a chunk) per chunk and rank of a domain. Freed by moe_counts_free. */
struct moe_counts *moe_counts_create(const struct moe_counts_shape *shape, const struct gate *gate);

/** Frees the counts; NULL is allowed. */
void moe_counts_free(struct moe_counts *counts);

/** Does a rank take part? Of one that does not nothing below may be asked. */
static inline bool moe_counts_takes_part(const struct moe_counts *counts, uint32_t rank) {
    return !counts->shape.groups || counts->shape.groups->member[rank] != GPU_GROUPS_NONE;
}

/** Number of the ranks that do. */
static inline uint32_t moe_counts_participants(const struct moe_counts *counts) {
    return counts->shape.groups ? counts->shape.groups->n_members : counts->shape.placement.n_ranks;
}

/** Number of a rank's group. */
static inline uint32_t moe_counts_group(const struct moe_counts *counts, uint32_t rank) {
    if (counts->shape.groups) {
        return counts->shape.groups->member[rank] / counts->shape.group_ranks;
    }
    return counts->shape.strided ? rank / counts->domain_ranks % counts->n_groups : rank / counts->shape.group_ranks;
}

/** Number of a rank within its group. */
static inline uint32_t moe_counts_local(const struct moe_counts *counts, uint32_t rank) {
    if (counts->shape.groups) {
        return counts->shape.groups->member[rank] % counts->shape.group_ranks;
    }
    if (counts->shape.strided) {
        const uint32_t block = rank / counts->domain_ranks;
        return block / counts->n_groups * counts->domain_ranks + rank % counts->domain_ranks;
    }
    return rank % counts->shape.group_ranks;
}

/** The rank of a local number in a group. */
static inline uint32_t moe_counts_rank(const struct moe_counts *counts, uint32_t group, uint32_t local) {
    if (counts->shape.groups) {
        return counts->shape.groups->gpu[group * counts->shape.group_ranks + local];
    }
    if (counts->shape.strided) {
        const uint32_t block = local / counts->domain_ranks * counts->n_groups + group;
        return block * counts->domain_ranks + local % counts->domain_ranks;
    }
    return group * counts->shape.group_ranks + local;
}

/** two_hop: number of a rank's domain within its group. */
static inline uint32_t moe_counts_domain(const struct moe_counts *counts, uint32_t rank) {
    return moe_counts_local(counts, rank) / counts->domain_ranks;
}

/** two_hop: position of a rank in its domain. */
static inline uint32_t moe_counts_position(const struct moe_counts *counts, uint32_t rank) {
    return (counts->shape.groups ? counts->shape.groups->member[rank] % counts->shape.group_ranks : rank) %
           counts->domain_ranks;
}

/** two_hop: where a rank's domain begins, for moe_counts_at. */
static inline uint32_t moe_counts_base(const struct moe_counts *counts, uint32_t rank) {
    return counts->shape.groups ? counts->shape.groups->member[rank] - moe_counts_position(counts, rank)
                                : rank - rank % counts->domain_ranks;
}

/** two_hop: the rank at a position of the domain that begins at base. */
static inline uint32_t moe_counts_at(const struct moe_counts *counts, uint32_t base, uint32_t position) {
    return counts->shape.groups ? counts->shape.groups->gpu[base + position] : base + position;
}

/** two_hop: the rank at the same position in another domain of the group: forwarder of rank's tokens there, and the source of those that it forwards. */
static inline uint32_t moe_counts_mate(const struct moe_counts *counts, uint32_t rank, uint32_t domain) {
    return moe_counts_rank(counts, moe_counts_group(counts, rank),
                           domain * counts->domain_ranks + moe_counts_position(counts, rank));
}

/** Index of a rank in its row. */
static inline uint32_t moe_counts_index(const struct moe_counts *counts, uint32_t rank) {
    return counts->shape.two_hop ? moe_counts_position(counts, rank) : moe_counts_local(counts, rank);
}

/** The rank of an index in a rank's row. */
static inline uint32_t moe_counts_row_rank(const struct moe_counts *counts, uint32_t rank, uint32_t index) {
    return counts->shape.two_hop ? moe_counts_at(counts, moe_counts_base(counts, rank), index)
                                 : moe_counts_rank(counts, moe_counts_group(counts, rank), index);
}

/** two_hop: how many chunks a source sends to a remote domain. */
static inline uint32_t moe_counts_chunks(const struct moe_counts *counts, uint32_t source, uint32_t domain) {
    const uint32_t crossing = counts->crossing[(uint64_t)source * counts->group_domains + domain];
    return crossing / counts->shape.chunk_tokens + (crossing % counts->shape.chunk_tokens != 0);
}

/** two_hop: tokens of chunk 0, 1, … of a source to a remote domain: all full but the last. */
static inline uint32_t moe_counts_chunk_tokens(const struct moe_counts *counts, uint32_t source, uint32_t domain,
                                               uint32_t chunk) {
    const uint32_t crossing = counts->crossing[(uint64_t)source * counts->group_domains + domain];
    const uint32_t left = crossing - chunk * counts->shape.chunk_tokens;
    return left < counts->shape.chunk_tokens ? left : counts->shape.chunk_tokens;
}

/** two_hop: run-wide number of that chunk. */
static inline uint32_t moe_counts_chunk_number(const struct moe_counts *counts, uint32_t source, uint32_t domain,
                                               uint32_t chunk) {
    return counts->first_chunk[(uint64_t)source * counts->group_domains + domain] + chunk;
}

/** two_hop: tokens of a chunk (run-wide number) that go to a position of its domain. */
static inline uint32_t moe_counts_part(const struct moe_counts *counts, uint32_t number, uint32_t position) {
    const uint64_t at = (uint64_t)number * counts->domain_ranks + position;
    return counts->small_parts ? counts->small_parts[at] : counts->large_parts[at];
}

/** A hash of all counts: equal for equal traffic. */
uint64_t moe_counts_digest(const struct moe_counts *counts);

#endif
