// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Expert Parallelism Load Balancer: DeepSeek's algorithm for replicas and their places, after its published description
 * (github.com/deepseek-ai/EPLB d52c72d, README; redundant experts: DeepSeek-V3, arXiv 2412.19437, 3.4).
 *
 * Three steps. Balanced packing: things go, heaviest first, each to the lightest pack that is not full; all packs hold equally many.
 * Replication: every expert has one replica; as long as replicas are left, the expert with the largest load a replica gets one more.
 * Hierarchical: groups of experts are packed onto nodes by load, the experts of a node are replicated within it, the replicas are packed onto
 * its ranks by load a replica. Global: the same with one group and one node. DeepSeek takes hierarchical where nodes divide groups, else global.
 * Equal loads go by their numbers. Things as many as packs stay in their order.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_EPLB_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_EPLB_H

#include <stdint.h>

/** What is to be placed on what. */
struct placement_eplb_shape {
    uint32_t experts;
    uint32_t replicas; /**< of all experts; >= experts, a multiple of ranks */
    uint32_t groups;   /**< of consecutive experts; divides experts */
    uint32_t nodes;    /**< of consecutive ranks; divides ranks. Not dividing groups: global */
    uint32_t ranks;
};

/** Fills expert_of_slot[replicas]: slots in order of ranks, replicas ÷ ranks on each. load[experts]: any unit, >= 0. */
void placement_eplb(const double *load, const struct placement_eplb_shape *shape, uint32_t *expert_of_slot);

/** Numbers of things, the heaviest first, equals by their numbers: order[count]. */
void placement_eplb_order(const double *weight, uint32_t count, uint32_t *order);

/** Balanced packing alone: pack_of[count] and, in order of arrival, place_of[count] within the pack. packs divides count. */
void placement_eplb_pack(const double *weight, uint32_t count, uint32_t packs, uint32_t *pack_of, uint32_t *place_of);

/** Replication alone: fills expert_of[replicas]: first every expert once, then the additional replicas; and replicas_of[experts]. */
void placement_eplb_replicate(const double *load, uint32_t experts, uint32_t replicas, uint32_t *expert_of,
                              uint32_t *replicas_of);

#endif
