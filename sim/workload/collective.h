// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Arithmetic of collective operations: who is in a group, and which messages an operation among it is made of.
 *
 * Groups are ranks at equal distances. Tensor groups are ranks in a row; the others take the same position of several tensor groups: a data group of all,
 * an expert group of `expert` in a row, a group of ranks with the same experts of every expert-th (MockNcclGroup.cc of github.com/aliyun/SimAI).
 *
 * All-reduce is a ring of reduce-scatter and all-gather, 2(n-1) steps; all-gather and reduce-scatter are half of it, n-1 steps. A step passes one
 * n-th of the ring's share on to the next rank. As in NCCL, a group that reaches over several NVLink domains has several rings, each with its share
 * of the bytes, so that each crosses between domains by another GPU's NIC: as many as the domain with fewest ranks of the group has, 32 at most
 * (MAXCHANNELS of NVIDIA nccl). A ring goes through the domains in order and through the ranks of each in order, beginning at a rank that is one
 * further down in each domain: so it enters a domain at the position at which it left the one before, and stays on one rail.
 * In an all-to-all every rank sends one n-th of its bytes to each other.
 */
#ifndef MOEFABRIC_WORKLOAD_COLLECTIVE_H
#define MOEFABRIC_WORKLOAD_COLLECTIVE_H

#include "config/parallel.h"

#include <stdint.h>

enum { COLLECTIVE_RINGS_MOST = 32 };

/** How ranks are split. tensor divides n_ranks, expert divides n_ranks ÷ tensor. */
struct collective_layout {
    uint32_t n_ranks;
    uint32_t domain_ranks; /**< ranks of an NVLink domain, which are in a row; 1 = no NVLink */
    uint32_t tensor;       /**< ranks of a tensor group */
    uint32_t expert;       /**< tensor groups of an expert group */
};

/** Ranks first, first + stride, …: count of them. */
struct collective_group {
    uint32_t first, stride, count;
};

/** How many groups of a kind there are. */
uint32_t collective_groups(const struct collective_layout *layout, enum parallel_group kind);

/** The number of a rank's group of a kind, below collective_groups. */
uint32_t collective_group_of(const struct collective_layout *layout, enum parallel_group kind, uint32_t rank);

/** A group by its number. */
struct collective_group collective_group(const struct collective_layout *layout, enum parallel_group kind,
                                         uint32_t number);

/** Rank of a member. */
static inline uint32_t collective_rank(const struct collective_group *group, uint32_t member) {
    return group->first + member * group->stride;
}

/** Number of a rank among the members of its group. */
static inline uint32_t collective_member(const struct collective_group *group, uint32_t rank) {
    return (rank - group->first) / group->stride;
}

/** Rings of a group; 1 within one domain, where all links lead to the same chips. */
uint32_t collective_rings(const struct collective_group *group, uint32_t domain_ranks);

/** The member that a member passes on to in a ring. */
uint32_t collective_next(const struct collective_group *group, uint32_t domain_ranks, uint32_t ring, uint32_t member);

/** Members in the NVLink domain of a member, itself among them. */
uint32_t collective_near(const struct collective_group *group, uint32_t domain_ranks, uint32_t member);

/** Rings of so many that enter the domain of a member, and so come over the fabric, at this member: 0 or 1. */
uint32_t collective_entries(const struct collective_group *group, uint32_t domain_ranks, uint32_t rings,
                            uint32_t member);

/** Steps of each ring; 0 for an all-to-all, which has none. */
uint32_t collective_steps(enum parallel_operation operation, uint32_t count);

/** Bytes of each message of an operation on a buffer of so many bytes: rounded up, at least 1. */
uint64_t collective_message_bytes(enum parallel_operation operation, uint64_t bytes, uint32_t count, uint32_t rings);

#endif
