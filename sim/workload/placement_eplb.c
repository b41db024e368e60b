// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_eplb.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

struct weighted {
    double weight;
    uint32_t number;
};

static int heaviest_first(const void *left_pointer, const void *right_pointer) {
    const struct weighted *left = left_pointer, *right = right_pointer;
    if (left->weight != right->weight) {
        return left->weight > right->weight ? -1 : 1;
    }
    return (left->number > right->number) - (left->number < right->number);
}

void placement_eplb_order(const double *weight, uint32_t count, uint32_t *order) {
    struct weighted *sorted = memory_allocate(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (struct weighted){weight[i], i};
    }
    qsort(sorted, count, sizeof *sorted, heaviest_first);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = sorted[i].number;
    }
    free(sorted);
}

/* The lightest pack with room; the first of several. */
static uint32_t lightest(const double *load, const uint32_t *filled, uint32_t packs, uint32_t capacity) {
    uint32_t best = packs;
    for (uint32_t pack = 0; pack < packs; pack++) {
        if (filled[pack] < capacity && (best == packs || load[pack] < load[best])) {
            best = pack;
        }
    }
    REQUIRE(best < packs, "%u packs of %u are full", packs, capacity);
    return best;
}

static void pack_heaviest_first(const double *weight, uint32_t count, uint32_t packs, uint32_t *pack_of,
                                uint32_t *place_of) {
    double *load = memory_allocate(packs, sizeof *load);
    uint32_t *filled = memory_allocate(packs, sizeof *filled);
    uint32_t *order = memory_allocate(count, sizeof *order);
    placement_eplb_order(weight, count, order);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t pack = lightest(load, filled, packs, count / packs);
        pack_of[order[i]] = pack;
        place_of[order[i]] = filled[pack]++;
        load[pack] += weight[order[i]];
    }
    free(order);
    free(load);
    free(filled);
}

void placement_eplb_pack(const double *weight, uint32_t count, uint32_t packs, uint32_t *pack_of, uint32_t *place_of) {
    REQUIRE(packs > 0 && count % packs == 0, "%u things in %u packs", count, packs);
    for (uint32_t i = 0; i < count; i++) {
        pack_of[i] = i;
        place_of[i] = 0;
    }
    if (count > packs) {
        pack_heaviest_first(weight, count, packs, pack_of, place_of);
    }
}

void placement_eplb_replicate(const double *load, uint32_t experts, uint32_t replicas, uint32_t *expert_of,
                              uint32_t *replicas_of) {
    REQUIRE(replicas >= experts, "%u replicas of %u experts", replicas, experts);
    for (uint32_t expert = 0; expert < experts; expert++) {
        expert_of[expert] = expert;
        replicas_of[expert] = 1;
    }
    for (uint32_t replica = experts; replica < replicas; replica++) {
        uint32_t heaviest = 0;
        for (uint32_t expert = 1; expert < experts; expert++) {
            if (load[expert] / replicas_of[expert] > load[heaviest] / replicas_of[heaviest]) {
                heaviest = expert;
            }
        }
        expert_of[replica] = heaviest;
        replicas_of[heaviest]++;
    }
}

/* Experts of each node, in the order of its groups' arrival: expert_at[node × experts of a node + i]. */
static void pack_groups(const double *load, const struct placement_eplb_shape *shape, uint32_t nodes,
                        uint32_t *expert_at) {
    const uint32_t size = shape->experts / shape->groups, experts_of_node = shape->experts / nodes;
    double *group_load = memory_allocate(shape->groups, sizeof *group_load);
    uint32_t *node_of = memory_allocate(shape->groups, sizeof *node_of);
    uint32_t *place_of = memory_allocate(shape->groups, sizeof *place_of);
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        group_load[expert / size] += load[expert];
    }
    placement_eplb_pack(group_load, shape->groups, nodes, node_of, place_of);
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        const uint32_t group = expert / size;
        expert_at[node_of[group] * experts_of_node + place_of[group] * size + expert % size] = expert;
    }
    free(group_load);
    free(node_of);
    free(place_of);
}

/* Replicates the experts of a node and packs the replicas onto its ranks. */
static void place_node(const double *load, const uint32_t *expert_at, uint32_t experts, uint32_t replicas,
                       uint32_t ranks, uint32_t *expert_of_slot) {
    double *node_load = memory_allocate(experts, sizeof *node_load);
    double *weight = memory_allocate(replicas, sizeof *weight);
    uint32_t *replicas_of = memory_allocate(experts, sizeof *replicas_of);
    uint32_t *index_of = memory_allocate(replicas, sizeof *index_of); /* of a replica's expert within the node */
    uint32_t *rank_of = memory_allocate(replicas, sizeof *rank_of);
    uint32_t *place_of = memory_allocate(replicas, sizeof *place_of);
    for (uint32_t i = 0; i < experts; i++) {
        node_load[i] = load[expert_at[i]];
    }
    placement_eplb_replicate(node_load, experts, replicas, index_of, replicas_of);
    for (uint32_t replica = 0; replica < replicas; replica++) {
        weight[replica] = node_load[index_of[replica]] / replicas_of[index_of[replica]];
    }
    placement_eplb_pack(weight, replicas, ranks, rank_of, place_of);
    for (uint32_t replica = 0; replica < replicas; replica++) {
        expert_of_slot[rank_of[replica] * (replicas / ranks) + place_of[replica]] = expert_at[index_of[replica]];
    }
    free(node_load);
    free(weight);
    free(replicas_of);
    free(index_of);
    free(rank_of);
    free(place_of);
}

void placement_eplb(const double *load, const struct placement_eplb_shape *shape, uint32_t *expert_of_slot) {
    const bool hierarchical = shape->groups % shape->nodes == 0;
    const uint32_t nodes = hierarchical ? shape->nodes : 1;
    const struct placement_eplb_shape used = {shape->experts, shape->replicas, hierarchical ? shape->groups : 1, nodes,
                                              shape->ranks};
    REQUIRE(used.experts % used.groups == 0 && used.ranks % nodes == 0 && used.replicas % used.ranks == 0,
            "%u experts in %u groups, %u replicas on %u ranks of %u nodes", used.experts, used.groups, used.replicas,
            used.ranks, nodes);
    uint32_t *expert_at = memory_allocate(used.experts, sizeof *expert_at);
    pack_groups(load, &used, nodes, expert_at);
    for (uint32_t node = 0; node < nodes; node++) {
        place_node(load, expert_at + (size_t)node * (used.experts / nodes), used.experts / nodes, used.replicas / nodes,
                   used.ranks / nodes, expert_of_slot + (size_t)node * (used.replicas / nodes));
    }
    free(expert_at);
}
