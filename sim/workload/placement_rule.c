// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_rule.h"

#include "base/error.h"
#include "base/memory.h"
#include "workload/placement_affinity.h"
#include "workload/placement_eplb.h"

#include <stdlib.h>

/* The rank of an expert, by its number alone. */
static uint32_t rank_by_number(enum experiment_placement_kind kind, const struct placement_shape *shape,
                               uint32_t expert) {
    const uint32_t domains = shape->ranks / shape->domain_ranks, of_domain = shape->experts / domains;
    switch (kind) {
    case EXPERIMENT_PLACEMENT_CONTIGUOUS:
        return expert / (shape->experts / shape->ranks);
    case EXPERIMENT_PLACEMENT_ROUND_ROBIN:
        return expert % shape->ranks;
    case EXPERIMENT_PLACEMENT_DOMAIN_PACKED:
        return expert / of_domain * shape->domain_ranks + expert % of_domain % shape->domain_ranks;
    case EXPERIMENT_PLACEMENT_SPREAD:
        return expert % domains * shape->domain_ranks + expert / domains % shape->domain_ranks;
    default:
        BUG("placement %d is not by number", (int)kind);
    }
}

/* Unequal parts of domains: a domain gets as many experts as its ranks have places, in a row (domain_packed) or in turn with the others. */
struct dealing {
    uint32_t *first, *taken; /* [domains + 1], [domains]: ranks of a domain, in rank; experts that it has */
    uint32_t *rank;          /* [ranks] domain by domain */
    uint32_t slots, domain;
};

static void dealing_open(struct dealing *dealing, const struct placement_shape *shape) {
    const struct placement_layout *layout = shape->layout;
    *dealing = (struct dealing){.slots = shape->experts / shape->ranks};
    dealing->first = memory_allocate((size_t)layout->domains + 1, sizeof *dealing->first);
    dealing->taken = memory_allocate(layout->domains, sizeof *dealing->taken);
    dealing->rank = memory_allocate(shape->ranks, sizeof *dealing->rank);
    for (uint32_t domain = 0, n = 0; domain < layout->domains; domain++) {
        for (uint32_t rank = 0; rank < shape->ranks; rank++) {
            if (layout->domain[rank] == domain) {
                dealing->rank[n++] = rank;
            }
        }
        dealing->first[domain + 1] = n;
    }
}

static uint32_t deal(struct dealing *dealing, const struct placement_layout *layout, bool in_turn) {
    uint32_t ranks = dealing->first[dealing->domain + 1] - dealing->first[dealing->domain];
    while (dealing->taken[dealing->domain] == ranks * dealing->slots) {
        dealing->domain = (dealing->domain + 1) % layout->domains;
        ranks = dealing->first[dealing->domain + 1] - dealing->first[dealing->domain];
    }
    const uint32_t place = dealing->taken[dealing->domain]++ % ranks;
    const uint32_t rank = dealing->rank[dealing->first[dealing->domain] + place];
    dealing->domain = in_turn ? (dealing->domain + 1) % layout->domains : dealing->domain;
    return rank;
}

static void deal_all(enum experiment_placement_kind kind, const struct placement_shape *shape, uint32_t *rank_of) {
    struct dealing dealing;
    dealing_open(&dealing, shape);
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        rank_of[expert] = deal(&dealing, shape->layout, kind == EXPERIMENT_PLACEMENT_SPREAD);
    }
    free(dealing.first);
    free(dealing.taken);
    free(dealing.rank);
}

static struct placement *by_number(enum experiment_placement_kind kind, const struct placement_shape *shape) {
    REQUIRE(shape->replicas == shape->experts && shape->experts % shape->ranks == 0, "%u replicas of %u experts on %u",
            shape->replicas, shape->experts, shape->ranks);
    uint32_t *expert_of = memory_allocate(shape->experts, sizeof *expert_of);
    uint32_t *rank_of = memory_allocate(shape->experts, sizeof *rank_of);
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        expert_of[expert] = expert;
        rank_of[expert] = rank_by_number(kind, shape, expert);
    }
    if (shape->layout && (kind == EXPERIMENT_PLACEMENT_DOMAIN_PACKED || kind == EXPERIMENT_PLACEMENT_SPREAD)) {
        deal_all(kind, shape, rank_of);
    }
    struct placement *placement = placement_create(shape->experts, shape->ranks, shape->experts, expert_of, rank_of);
    free(expert_of);
    free(rank_of);
    return placement;
}

struct placement *placement_rule(enum experiment_placement_kind kind, const struct placement_shape *shape,
                                 const struct placement_history *history) {
    const bool eplb = kind == EXPERIMENT_PLACEMENT_EPLB || kind == EXPERIMENT_PLACEMENT_EPLB_GLOBAL;
    if (!eplb && kind != EXPERIMENT_PLACEMENT_AFFINITY) {
        return by_number(kind, shape);
    }
    const bool global = kind == EXPERIMENT_PLACEMENT_EPLB_GLOBAL;
    const struct placement_eplb_shape balanced = {.experts = shape->experts,
                                                  .replicas = shape->replicas,
                                                  .groups = global ? 1 : shape->groups,
                                                  .nodes = global ? 1 : shape->ranks / shape->domain_ranks,
                                                  .ranks = shape->ranks};
    uint32_t *expert_of_slot = memory_allocate(shape->replicas, sizeof *expert_of_slot);
    if (eplb) {
        double *load = placement_history_load(history);
        placement_eplb(load, &balanced, expert_of_slot);
        free(load);
    } else {
        placement_affinity(history, shape, expert_of_slot);
    }
    struct placement *placement = placement_create_slots(shape->experts, shape->ranks, shape->replicas, expert_of_slot);
    free(expert_of_slot);
    return placement;
}
