// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static struct placement *allocate(uint32_t experts, uint32_t ranks, uint32_t replicas) {
    struct placement *placement = memory_allocate(1, sizeof *placement);
    *placement = (struct placement){.experts = experts, .ranks = ranks, .replicas = replicas};
    placement->first = memory_allocate((size_t)experts + 1, sizeof *placement->first);
    placement->rank = memory_allocate(replicas, sizeof *placement->rank);
    return placement;
}

static void find_largest_slots(struct placement *placement) {
    uint32_t *slots = memory_allocate(placement->ranks, sizeof *slots);
    for (uint32_t i = 0; i < placement->replicas; i++) {
        const uint32_t count = ++slots[placement->rank[i]];
        placement->largest_slots = count > placement->largest_slots ? count : placement->largest_slots;
    }
    free(slots);
}

static int by_number(const void *left_pointer, const void *right_pointer) {
    const uint32_t left = *(const uint32_t *)left_pointer, right = *(const uint32_t *)right_pointer;
    return (left > right) - (left < right);
}

struct placement *placement_create(uint32_t experts, uint32_t ranks, uint32_t replicas, const uint32_t *expert_of,
                                   const uint32_t *rank_of) {
    struct placement *placement = allocate(experts, ranks, replicas);
    for (uint32_t i = 0; i < replicas; i++) {
        REQUIRE(expert_of[i] < experts && rank_of[i] < ranks, "replica of expert %u on rank %u", expert_of[i],
                rank_of[i]);
        placement->first[expert_of[i] + 1]++;
    }
    for (uint32_t expert = 0; expert < experts; expert++) {
        REQUIRE(placement->first[expert + 1] > 0, "expert %u is nowhere", expert);
        placement->first[expert + 1] += placement->first[expert];
    }
    uint32_t *next = memory_allocate(experts, sizeof *next);
    memcpy(next, placement->first, experts * sizeof *next);
    for (uint32_t i = 0; i < replicas; i++) {
        placement->rank[next[expert_of[i]]++] = rank_of[i];
    }
    free(next);
    for (uint32_t expert = 0; expert < experts; expert++) {
        qsort(placement->rank + placement->first[expert], placement_replicas_of(placement, expert),
              sizeof *placement->rank, by_number);
    }
    find_largest_slots(placement);
    return placement;
}

struct placement *placement_create_slots(uint32_t experts, uint32_t ranks, uint32_t replicas,
                                         const uint32_t *expert_of_slot) {
    REQUIRE(replicas % ranks == 0, "%u replicas on %u ranks", replicas, ranks);
    uint32_t *rank_of = memory_allocate(replicas, sizeof *rank_of);
    for (uint32_t slot = 0; slot < replicas; slot++) {
        rank_of[slot] = slot / (replicas / ranks);
    }
    struct placement *placement = placement_create(experts, ranks, replicas, expert_of_slot, rank_of);
    free(rank_of);
    return placement;
}

struct placement *placement_copy(const struct placement *placement) {
    struct placement *copy = allocate(placement->experts, placement->ranks, placement->replicas);
    copy->largest_slots = placement->largest_slots;
    memcpy(copy->first, placement->first, ((size_t)placement->experts + 1) * sizeof *copy->first);
    memcpy(copy->rank, placement->rank, placement->replicas * sizeof *copy->rank);
    return copy;
}

void placement_free(struct placement *placement) {
    if (placement) {
        free(placement->first);
        free(placement->rank);
        free(placement);
    }
}

uint32_t placement_slots_of(const struct placement *placement, uint32_t rank) {
    uint32_t slots = 0;
    for (uint32_t i = 0; i < placement->replicas; i++) {
        slots += placement->rank[i] == rank;
    }
    return slots;
}

void placement_spread_load(const struct placement *placement, const double *load, double *rank_load) {
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
            rank_load[placement->rank[i]] += load[expert] / placement_replicas_of(placement, expert);
        }
    }
}

double placement_imbalance(const double *rank_load, uint32_t ranks) {
    double largest = 0, sum = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        largest = rank_load[rank] > largest ? rank_load[rank] : largest;
        sum += rank_load[rank];
    }
    return sum > 0 ? largest * ranks / sum : 1;
}

uint64_t placement_digest(const struct placement *placement) {
    uint64_t digest = hash_mix(((uint64_t)placement->experts << 32) + placement->ranks);
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
            digest = hash_mix(digest + ((uint64_t)expert << 32) + placement->rank[i] + 1);
        }
    }
    return digest ? digest : 1;
}
