// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_fabric.h"

#include "dice.h"
#include "fabric/irregular.h"

#define GBPS UINT64_C(1000000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    DOMAINS = 3,
    GPUS = 4,
    GPUS_MOST = 8,
    CHIPS = 3,
    LEAVES = 3,
    SPINES = 3,
    PODS = 2,
    SPINES_A_POD = 2,
    SUPER_SPINES = 2
};

enum topic {
    TOPIC_SHAPE = 100,
    TOPIC_CABLES,
    TOPIC_LINKS,
    TOPIC_CUT_THROUGH,
    TOPIC_TIERS,
    TOPIC_ONE_LEAF,
    TOPIC_PLANES
};

/** Counts and plugging lists of one fabric. */
struct shape {
    uint32_t n_domains, gpus[DOMAINS];
    uint32_t n_chips, links_per_chip[CHIPS];
    uint32_t n_leaves, leaves[DOMAINS * GPUS_MOST];
    uint32_t n_spines, parallel[LEAVES * PODS * SPINES_A_POD];
    uint32_t n_pods, leaf_pod[LEAVES], spine_pod[PODS * SPINES_A_POD];
    uint32_t n_super_spines, super_links[PODS * SPINES_A_POD * SUPER_SPINES];
};
_Static_assert((int)SPINES <= PODS * SPINES_A_POD, "two tiers have more spines than three");

/** More than one mostly: only then there are several ways. */
static uint32_t draw_leaves(struct dice *dice) {
    return dice_chance(dice, 20) ? 1 : 2 + dice_below(dice, LEAVES - 1);
}

static void draw_shape(struct shape *shape, struct dice *dice) {
    shape->n_domains = 1 + dice_below(dice, DOMAINS);
    for (uint32_t i = 0; i < shape->n_domains; i++) {
        shape->gpus[i] = 1 + dice_below(dice, GPUS);
    }
    shape->gpus[0] += shape->gpus[0] == 1; /* two endpoints at least */
    shape->n_chips = dice_chance(dice, 60) ? 1 + dice_below(dice, CHIPS) : 0;
    for (uint32_t i = 0; i < shape->n_chips; i++) {
        shape->links_per_chip[i] = 1 + dice_below(dice, 2);
    }
    shape->n_leaves = shape->n_chips > 0 && dice_chance(dice, 10) ? 0 : draw_leaves(dice);
    for (uint32_t i = 0; i < DOMAINS * GPUS; i++) {
        const bool plugged = shape->n_leaves > 0 && (i < 2 || dice_chance(dice, 92));
        shape->leaves[i] = plugged ? dice_below(dice, shape->n_leaves) : FABRIC_NONE;
    }
    shape->n_spines = shape->n_leaves > 1 ? 1 + dice_below(dice, SPINES) : 0;
    for (uint32_t i = 0; i < shape->n_leaves * shape->n_spines; i++) {
        shape->parallel[i] = 1 + dice_below(dice, 2);
    }
}

/** Now and then all are plugged into one leaf, and many: only then much arrives there at one time. */
static void draw_one_leaf(struct shape *shape, struct dice *dice) {
    if (!dice_chance(dice, 8)) {
        return;
    }
    shape->n_domains = DOMAINS;
    for (uint32_t i = 0; i < DOMAINS; i++) {
        shape->gpus[i] = GPUS_MOST - dice_below(dice, 3);
    }
    for (uint32_t i = 0; i < DOMAINS * GPUS_MOST; i++) {
        shape->leaves[i] = 0;
    }
    shape->n_leaves = 1;
    shape->n_spines = 0;
}

/** Cables between spines and super-spines; where every pod has a spine for every super-spine, perhaps in planes: only the first to the first, … */
static void draw_super_links(struct shape *shape, struct dice *dice) {
    const bool planes = shape->n_spines == PODS * SPINES_A_POD && shape->n_super_spines == SPINES_A_POD;
    const bool apart = dice_chance(dice, 50) && planes;
    for (uint32_t spine = 0; spine < shape->n_spines; spine++) {
        for (uint32_t super = 0; super < shape->n_super_spines; super++) {
            const uint32_t cables = 1 + dice_below(dice, 2);
            shape->super_links[spine * shape->n_super_spines + super] =
                apart && spine % SPINES_A_POD != super ? 0 : cables;
        }
    }
}

/** Of some fabrics with several leaves: pods that super-spines join. */
static void draw_tiers(struct shape *shape, struct dice *dice) {
    if (!dice_chance(dice, 30) || shape->n_leaves < PODS) {
        return;
    }
    shape->n_pods = PODS;
    shape->n_spines = 0;
    for (uint32_t pod = 0; pod < PODS; pod++) {
        for (uint32_t spines = 1 + dice_below(dice, SPINES_A_POD); spines > 0; spines--) {
            shape->spine_pod[shape->n_spines++] = pod;
        }
    }
    for (uint32_t leaf = 0; leaf < shape->n_leaves; leaf++) {
        shape->leaf_pod[leaf] = leaf % PODS;
        for (uint32_t spine = 0; spine < shape->n_spines; spine++) {
            const uint32_t cables = 1 + dice_below(dice, 2);
            shape->parallel[leaf * shape->n_spines + spine] = shape->spine_pod[spine] == leaf % PODS ? cables : 0;
        }
    }
    shape->n_super_spines = 1 + dice_below(dice, SUPER_SPINES);
    draw_super_links(shape, dice);
}

static struct irregular_figures draw_figures(struct dice *dice) {
    static const uint64_t rates[] = {50 * GBPS, 100 * GBPS, 200 * GBPS, 400 * GBPS, 800 * GBPS, 333 * GBPS, 1234567890};
    static const uint64_t latencies[] = {100000, 300000, 500000, 500000, 1000000, 123457, 1999999};
    return (struct irregular_figures){.rate_bits_per_s = dice_pick(dice, rates, dice_chance(dice, 90) ? 6 : 7),
                                      .latency_ps = dice_pick(dice, latencies, COUNT(latencies))};
}

static struct irregular_cable draw_cable(struct dice *dice, bool equal_links) {
    static const struct irregular_figures usual = {.rate_bits_per_s = 400 * GBPS, .latency_ps = 500000};
    const struct irregular_figures up = draw_figures(dice), down = draw_figures(dice);
    const uint32_t mood = dice_below(dice, 3);
    if (equal_links || mood == 0) {
        return (struct irregular_cable){.up = usual, .down = usual};
    }
    return (struct irregular_cable){.up = up, .down = mood == 1 ? up : down};
}

static void vary_links(struct fabric *fabric, struct dice *dice) {
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        const struct irregular_figures figures = draw_figures(dice);
        if (dice_chance(dice, 25)) {
            irregular_set_link(fabric, link, &figures);
        }
    }
}

static void vary_cut_through(struct fabric *fabric, struct dice *dice) {
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
        if (fabric->devices[device].kind == FABRIC_SWITCH) {
            irregular_set_cut_through(fabric, device, dice_chance(dice, 60));
        }
    }
}

/** NICs of several planes, where there is Ethernet. */
static uint32_t draw_planes(struct dice *dice, const struct shape *shape) {
    return shape->n_leaves == 0 || dice_chance(dice, 70) ? 1 : dice_chance(dice, 50) ? 2 : 4;
}

struct fabric *random_fabric_create(uint64_t number, bool equal_links, bool store_and_forward) {
    struct shape shape = {0};
    struct dice shapes = dice_of(number, TOPIC_SHAPE), cables = dice_of(number, TOPIC_CABLES);
    struct dice links = dice_of(number, TOPIC_LINKS), cut_through = dice_of(number, TOPIC_CUT_THROUGH);
    struct dice tiers = dice_of(number, TOPIC_TIERS), one_leaf = dice_of(number, TOPIC_ONE_LEAF);
    struct dice planes = dice_of(number, TOPIC_PLANES);
    draw_shape(&shape, &shapes);
    draw_one_leaf(&shape, &one_leaf);
    draw_tiers(&shape, &tiers);
    const struct irregular_description description = {.n_domains = shape.n_domains,
                                                      .domain_gpus = shape.gpus,
                                                      .n_chips = shape.n_chips,
                                                      .links_per_chip = shape.links_per_chip,
                                                      .n_planes = draw_planes(&planes, &shape),
                                                      .n_leaves = shape.n_leaves,
                                                      .endpoint_leaf = shape.leaves,
                                                      .n_spines = shape.n_spines,
                                                      .parallel_links = shape.parallel,
                                                      .n_super_spines = shape.n_super_spines,
                                                      .n_pods = shape.n_pods,
                                                      .leaf_pod = shape.leaf_pod,
                                                      .spine_pod = shape.spine_pod,
                                                      .super_links = shape.super_links,
                                                      .nvlink = draw_cable(&cables, equal_links),
                                                      .host = draw_cable(&cables, equal_links),
                                                      .uplink = draw_cable(&cables, equal_links),
                                                      .super_uplink = draw_cable(&tiers, equal_links)};
    struct fabric *fabric = irregular_build(&description);
    if (dice_chance(&links, 40) && !equal_links) {
        vary_links(fabric, &links);
    }
    if (!store_and_forward) {
        vary_cut_through(fabric, &cut_through);
    }
    return fabric;
}
