// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_affinity.h"

#include "base/error.h"
#include "base/memory.h"
#include "workload/placement_eplb.h"

#include <math.h>
#include <stdlib.h>

enum { PASSES = 20 };

static const double allowed_load = 1.05; /* ÷ mean load of a part */

/* The graph, and its cut so far. */
struct cut {
    const struct placement_shape *shape;
    float *pairs;        /* [experts × experts] */
    uint32_t *expert_of; /* [items] */
    double *weight;      /* [items] load */
    uint32_t *part_of;   /* [items] */
    double *bond;        /* [items × parts] edges of an item into a part */
    double *part_load;   /* [parts] */
    uint32_t *filled;    /* [parts] */
    uint32_t parts, capacity;
    double limit;
};

static float edge(const struct cut *cut, uint32_t one, uint32_t other) {
    return cut->pairs[(size_t)cut->expert_of[one] * cut->shape->experts + cut->expert_of[other]];
}

static void cut_open(struct cut *cut, const struct placement_history *history, const struct placement_shape *shape) {
    const uint32_t domains = shape->ranks / shape->domain_ranks, items = shape->replicas;
    double *load = placement_history_load(history), sum = 0, heaviest = 0;
    uint32_t *replicas_of = memory_allocate(shape->experts, sizeof *replicas_of);
    *cut = (struct cut){.shape = shape, .pairs = placement_history_pairs(history)};
    cut->parts = domains > 1 ? domains : shape->ranks;
    cut->capacity = items / cut->parts;
    cut->expert_of = memory_allocate(items, sizeof *cut->expert_of);
    cut->weight = memory_allocate(items, sizeof *cut->weight);
    cut->part_of = memory_allocate(items, sizeof *cut->part_of);
    cut->bond = memory_allocate((size_t)items * cut->parts, sizeof *cut->bond);
    cut->part_load = memory_allocate(cut->parts, sizeof *cut->part_load);
    cut->filled = memory_allocate(cut->parts, sizeof *cut->filled);
    placement_eplb_replicate(load, shape->experts, items, cut->expert_of, replicas_of);
    for (uint32_t item = 0; item < items; item++) {
        cut->weight[item] = load[cut->expert_of[item]] / replicas_of[cut->expert_of[item]];
        sum += cut->weight[item];
    }
    for (size_t i = 0; i < (size_t)shape->experts * shape->experts; i++) {
        heaviest = fmax(heaviest, cut->pairs[i]);
    }
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        cut->pairs[(size_t)expert * shape->experts + expert] = (float)(-(heaviest + 1) * cut->capacity);
    }
    cut->limit = allowed_load * sum / cut->parts;
    free(load);
    free(replicas_of);
}

static void cut_close(struct cut *cut) {
    free(cut->pairs);
    free(cut->expert_of);
    free(cut->weight);
    free(cut->part_of);
    free(cut->bond);
    free(cut->part_load);
    free(cut->filled);
}

/* An item joins a part (sign 1) or leaves it (-1): bonds of all items with that part. */
static void bind(struct cut *cut, uint32_t item, uint32_t part, int sign) {
    for (uint32_t other = 0; other < cut->shape->replicas; other++) {
        if (other != item) {
            cut->bond[(size_t)other * cut->parts + part] += sign * (double)edge(cut, other, item);
        }
    }
    cut->part_load[part] += sign * cut->weight[item];
}

/* Of the parts with room: those that stay within the limit first, then the strongest bond, then the lightest. */
static uint32_t best_part(const struct cut *cut, uint32_t item) {
    uint32_t best = cut->parts;
    bool best_fits = false;
    for (uint32_t part = 0; part < cut->parts; part++) {
        if (cut->filled[part] == cut->capacity) {
            continue;
        }
        const bool fits = cut->part_load[part] + cut->weight[item] <= cut->limit;
        const double *bond = cut->bond + (size_t)item * cut->parts;
        const bool lighter = best < cut->parts && cut->part_load[part] < cut->part_load[best];
        if (best == cut->parts || (fits && !best_fits) || (!fits && !best_fits && lighter) ||
            (fits && best_fits && (bond[part] > bond[best] || (bond[part] == bond[best] && lighter)))) {
            best = part;
            best_fits = fits;
        }
    }
    return best;
}

static void grow(struct cut *cut) {
    const uint32_t items = cut->shape->replicas;
    uint32_t *order = memory_allocate(items, sizeof *order);
    placement_eplb_order(cut->weight, items, order);
    for (uint32_t i = 0; i < items; i++) {
        const uint32_t item = order[i], part = best_part(cut, item);
        cut->part_of[item] = part;
        cut->filled[part]++;
        bind(cut, item, part, 1);
    }
    free(order);
}

/* Would exchanging two items make the cut lighter, and no part heavier than is allowed or than it was? */
static bool exchange_helps(const struct cut *cut, uint32_t one, uint32_t other) {
    const uint32_t from = cut->part_of[one], to = cut->part_of[other];
    const double *bond_one = cut->bond + (size_t)one * cut->parts, *bond_other = cut->bond + (size_t)other * cut->parts;
    const double gain =
        bond_one[to] - bond_one[from] + bond_other[from] - bond_other[to] - 2 * (double)edge(cut, one, other);
    if (gain <= 1e-6) {
        return false;
    }
    const double moved = cut->weight[one] - cut->weight[other];
    const double before = fmax(cut->part_load[from], cut->part_load[to]);
    return fmax(cut->part_load[from] - moved, cut->part_load[to] + moved) <= fmax(cut->limit, before);
}

static void exchange(struct cut *cut, uint32_t one, uint32_t other) {
    const uint32_t from = cut->part_of[one], to = cut->part_of[other];
    bind(cut, one, from, -1);
    bind(cut, other, to, -1);
    bind(cut, one, to, 1);
    bind(cut, other, from, 1);
    cut->part_of[one] = to;
    cut->part_of[other] = from;
}

static void refine(struct cut *cut) {
    bool changed = true;
    for (int pass = 0; pass < PASSES && changed; pass++) {
        changed = false;
        for (uint32_t one = 0; one < cut->shape->replicas; one++) {
            for (uint32_t other = one + 1; other < cut->shape->replicas; other++) {
                if (cut->part_of[one] != cut->part_of[other] && exchange_helps(cut, one, other)) {
                    exchange(cut, one, other);
                    changed = true;
                }
            }
        }
    }
}

/* Packs the items of a part onto its ranks. */
static void fill_part(const struct cut *cut, uint32_t part, uint32_t *expert_of_slot) {
    const uint32_t ranks = cut->shape->ranks / cut->parts, slots = cut->shape->replicas / cut->shape->ranks;
    double *weight = memory_allocate(cut->capacity, sizeof *weight);
    uint32_t *expert = memory_allocate(cut->capacity, sizeof *expert);
    uint32_t *rank_of = memory_allocate(cut->capacity, sizeof *rank_of);
    uint32_t *place_of = memory_allocate(cut->capacity, sizeof *place_of);
    uint32_t count = 0;
    for (uint32_t item = 0; item < cut->shape->replicas; item++) {
        if (cut->part_of[item] == part) {
            weight[count] = cut->weight[item];
            expert[count++] = cut->expert_of[item];
        }
    }
    placement_eplb_pack(weight, count, ranks, rank_of, place_of);
    for (uint32_t i = 0; i < count; i++) {
        expert_of_slot[(part * ranks + rank_of[i]) * slots + place_of[i]] = expert[i];
    }
    free(weight);
    free(expert);
    free(rank_of);
    free(place_of);
}

void placement_affinity(const struct placement_history *history, const struct placement_shape *shape,
                        uint32_t *expert_of_slot) {
    REQUIRE(shape->experts <= PLACEMENT_AFFINITY_LARGEST_EXPERTS, "%u experts are too many", shape->experts);
    struct cut cut;
    cut_open(&cut, history, shape);
    grow(&cut);
    refine(&cut);
    for (uint32_t part = 0; part < cut.parts; part++) {
        fill_part(&cut, part, expert_of_slot);
    }
    cut_close(&cut);
}
