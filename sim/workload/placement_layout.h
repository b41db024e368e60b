// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where the ranks of an expert-parallel group sit: which share an NVLink domain, and at which place of it.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_LAYOUT_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/** A group. Owns its arrays; ends with placement_layout_fini. */
struct placement_layout {
    uint32_t ranks;
    uint32_t domains;  /**< that it has ranks of, numbered in the order of their first ranks */
    uint32_t places;   /**< of a domain, whoever has them */
    uint32_t *domain;  /**< [ranks] */
    uint32_t *place;   /**< [ranks] of its domain */
    uint32_t *rank_at; /**< [domains × places] or UINT32_MAX: not of the group */
};

/** From the number in the cluster of each rank; domain_gpus: places of a domain. */
void placement_layout_init(struct placement_layout *layout, const uint32_t *gpu, uint32_t ranks, uint32_t domain_gpus);

/** Ranks in whole domains one after the other: rank r at place r mod domain_ranks of domain r / domain_ranks. */
void placement_layout_init_whole(struct placement_layout *layout, uint32_t ranks, uint32_t domain_ranks);

/** Do two groups share domains in the same way, whichever domains and places these are? */
bool placement_layout_alike(const struct placement_layout *one, const struct placement_layout *other);

/** Frees what it holds. */
void placement_layout_fini(struct placement_layout *layout);

#endif
