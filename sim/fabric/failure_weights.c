// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/failure_weights.h"

#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT64_MAX

/** From a time on, the weights of this situation hold. */
struct epoch {
    uint64_t from_ps;
    uint32_t situation;
};

/** Rates of the links whose state changes, and the weights that they make. */
struct situation {
    uint32_t *rates; /* [n_links] Mb/s; 0 = down */
    uint32_t *lists; /* [ordinal × leaves of a plane + leaf] where its list begins in the pool; 0 = all ports alike */
};

struct failure_weights {
    const struct fabric *fabric;
    uint32_t *place_of; /* [link] its place in `rates`, from 1; 0 = it does not change */
    uint32_t n_links;
    struct epoch *epochs; /* ascending, the first from 0 on: as built */
    uint32_t n_epochs;
    struct situation *situations;
    uint32_t n_situations;
    uint32_t *pool; /* lists: count, weights */
    uint32_t pool_size, pool_capacity;
};

/* ---- the weights of one situation ---- */

/** Scratch while weights are made. */
struct maker {
    struct failure_weights *weights;
    const struct situation *situation;
    uint32_t leaf;      /* number in each plane */
    uint64_t *capacity; /* [ordinal] towards the leaf, Mb/s; UNKNOWN = not asked yet */
    uint64_t *carried;  /* [ordinal] of the switch at hand: what its links to this one carry; 0 where none is at hand */
    uint32_t *last_list; /* [ordinal] the list made last for it */
};

static uint32_t rate_of(const struct maker *maker, uint32_t link) {
    const uint32_t place = maker->weights->place_of[link];
    return place > 0 ? maker->situation->rates[place - 1]
                     : failure_plan_weight(maker->weights->fabric->links[link].ps_per_byte);
}

static bool is_leaf(const struct maker *maker, uint32_t ordinal) {
    const struct fabric *fabric = maker->weights->fabric;
    return fabric_own_leaf(fabric, fabric->switch_devices[ordinal]) == maker->leaf;
}

static uint64_t capacity_of(struct maker *maker, uint32_t ordinal);

/* The first link of a switch (ordinal) towards the leaf; *count: how many there are. */
static uint32_t route_of(const struct maker *maker, uint32_t ordinal, uint32_t *count) {
    const struct fabric *fabric = maker->weights->fabric;
    const struct fabric_route route = fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + maker->leaf];
    *count = route.count;
    return fabric->devices[fabric->switch_devices[ordinal]].first_port + route.first_port;
}

static uint32_t head_of(const struct maker *maker, uint32_t link) {
    const struct fabric *fabric = maker->weights->fabric;
    return fabric->devices[fabric->links[link].head_device].ordinal;
}

/* Takes a switch in hand: its links can be weighed until it is put down. What is behind them is asked for before: it takes others in hand. */
static void take_in_hand(struct maker *maker, uint32_t ordinal) {
    uint32_t count;
    const uint32_t first = route_of(maker, ordinal, &count);
    for (uint32_t link = first; link < first + count; link++) {
        if (!is_leaf(maker, head_of(maker, link))) {
            capacity_of(maker, head_of(maker, link));
        }
    }
    for (uint32_t link = first; link < first + count; link++) {
        maker->carried[head_of(maker, link)] += rate_of(maker, link);
    }
}

static void put_down(struct maker *maker, uint32_t ordinal) {
    uint32_t count;
    const uint32_t first = route_of(maker, ordinal, &count);
    for (uint32_t link = first; link < first + count; link++) {
        maker->carried[head_of(maker, link)] = 0;
    }
}

/* What gets through to the leaf by a link of the switch at hand: parallel links share what is behind them. */
static uint32_t weight_of(struct maker *maker, uint32_t link) {
    const uint32_t head = head_of(maker, link), own = rate_of(maker, link);
    if (own == 0 || is_leaf(maker, head)) {
        return own;
    }
    const uint64_t behind = number_divide_up(capacity_of(maker, head) * own, maker->carried[head]);
    return (uint32_t)number_smaller(behind, own);
}

/* The ways lead down or up and then down: asking goes three tiers deep at most. */
static uint64_t capacity_of(struct maker *maker, uint32_t ordinal) {
    if (maker->capacity[ordinal] == UNKNOWN) {
        uint64_t sum = 0;
        uint32_t count;
        const uint32_t first = route_of(maker, ordinal, &count);
        take_in_hand(maker, ordinal);
        for (uint32_t i = 0; i < count; i++) {
            sum += weight_of(maker, first + i);
        }
        put_down(maker, ordinal);
        maker->capacity[ordinal] = sum;
    }
    return maker->capacity[ordinal];
}

/* Whether what counts of a list weighs the same. */
static bool all_alike(const uint32_t *list, uint32_t count) {
    uint32_t weight = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] != 0 && weight != 0 && list[i] != weight) {
            return false;
        }
        weight = list[i] != 0 ? list[i] : weight;
    }
    return true;
}

static void reserve_pool(struct failure_weights *weights, uint32_t more) {
    while (weights->pool_size + more > weights->pool_capacity) {
        weights->pool_capacity = weights->pool_capacity ? 2 * weights->pool_capacity : 256;
        weights->pool = memory_resize(weights->pool, weights->pool_capacity, sizeof(*weights->pool));
    }
}

/* The list of a switch for the leaf; the one before is used again where it is the same. */
static uint32_t make_list(struct maker *maker, uint32_t ordinal) {
    struct failure_weights *weights = maker->weights;
    uint32_t count;
    const uint32_t first = route_of(maker, ordinal, &count);
    reserve_pool(weights, 1 + count);
    uint32_t *list = &weights->pool[weights->pool_size];
    list[0] = count;
    take_in_hand(maker, ordinal);
    for (uint32_t i = 0; i < count; i++) {
        list[1 + i] = weight_of(maker, first + i);
    }
    put_down(maker, ordinal);
    if (all_alike(&list[1], count)) {
        return 0;
    }
    const uint32_t last = maker->last_list[ordinal];
    if (last != 0 && memcmp(&weights->pool[last], list, (1 + count) * sizeof(*list)) == 0) {
        return last;
    }
    maker->last_list[ordinal] = weights->pool_size;
    weights->pool_size += 1 + count;
    return maker->last_list[ordinal];
}

static void make_lists(struct failure_weights *weights, struct situation *situation) {
    const struct fabric *fabric = weights->fabric;
    struct maker maker = {.weights = weights, .situation = situation};
    situation->lists = memory_allocate((uint64_t)fabric->n_switches * fabric->plane_leaves, sizeof(*situation->lists));
    maker.capacity = memory_allocate(fabric->n_switches, sizeof(*maker.capacity));
    maker.carried = memory_allocate(fabric->n_switches, sizeof(*maker.carried));
    maker.last_list = memory_allocate(fabric->n_switches, sizeof(*maker.last_list));
    for (maker.leaf = 0; maker.leaf < fabric->plane_leaves; maker.leaf++) {
        memset(maker.capacity, 0xff, fabric->n_switches * sizeof(*maker.capacity)); // UNKNOWN
        for (uint32_t ordinal = 0; ordinal < fabric->n_switches; ordinal++) {
            if (!is_leaf(&maker, ordinal)) {
                situation->lists[(uint64_t)ordinal * fabric->plane_leaves + maker.leaf] = make_list(&maker, ordinal);
            }
        }
    }
    free(maker.capacity);
    free(maker.carried);
    free(maker.last_list);
}

/* ---- situations over time ---- */

/* Number of the situation with these rates, which becomes its own: a known one, or made now. */
static uint32_t situation_of(struct failure_weights *weights, uint32_t *rates) {
    for (uint32_t i = weights->n_situations; i > 0; i--) { // flaps come back to what was just before
        if (memcmp(weights->situations[i - 1].rates, rates, weights->n_links * sizeof(*rates)) == 0) {
            free(rates);
            return i - 1;
        }
    }
    struct situation *situation = &weights->situations[weights->n_situations];
    situation->rates = rates;
    make_lists(weights, situation);
    return weights->n_situations++;
}

static void add_epoch(struct failure_weights *weights, uint64_t from_ps, uint32_t *rates) {
    weights->epochs[weights->n_epochs++] =
        (struct epoch){.from_ps = from_ps, .situation = situation_of(weights, rates)};
}

static void follow(struct failure_weights *weights, const struct failure_plan *plan,
                   const struct failure_weights_history *history, uint64_t convergence_ps) {
    weights->epochs = memory_allocate(history->n_times + 1, sizeof(*weights->epochs));
    weights->situations = memory_allocate(history->n_times + 1, sizeof(*weights->situations));
    uint32_t *built = memory_allocate(history->n_links + 1, sizeof(*built));
    for (uint32_t i = 0; i < history->n_links; i++) {
        built[i] = failure_plan_weight(weights->fabric->links[history->links[i]].ps_per_byte);
    }
    add_epoch(weights, 0, built);
    for (uint32_t t = 0; t < history->n_times; t++) {
        uint64_t from_ps;
        if (__builtin_add_overflow(history->times[t], convergence_ps, &from_ps)) {
            break;
        }
        uint32_t *rates = memory_allocate(history->n_links + 1, sizeof(*rates));
        for (uint32_t i = 0; i < history->n_links; i++) {
            const struct failure_state state = failure_plan_state(plan, history->links[i], history->times[t]);
            rates[i] = state.down ? 0 : failure_plan_weight(state.ps_per_byte);
        }
        add_epoch(weights, from_ps, rates);
    }
}

struct failure_weights *failure_weights_create(const struct failure_plan *plan, const struct fabric *fabric,
                                               const struct failure_weights_history *history, uint64_t convergence_ps) {
    struct failure_weights *weights = memory_allocate(1, sizeof(*weights));
    weights->fabric = fabric;
    weights->n_links = history->n_links;
    weights->pool_size = 1; // a list at 0 stands for none
    weights->place_of = memory_allocate(fabric->n_links, sizeof(*weights->place_of));
    for (uint32_t i = 0; i < history->n_links; i++) {
        weights->place_of[history->links[i]] = i + 1;
    }
    follow(weights, plan, history, convergence_ps);
    return weights;
}

void failure_weights_free(struct failure_weights *weights) {
    if (weights == NULL) {
        return;
    }
    for (uint32_t i = 0; i < weights->n_situations; i++) {
        free(weights->situations[i].rates);
        free(weights->situations[i].lists);
    }
    free(weights->situations);
    free(weights->place_of);
    free(weights->epochs);
    free(weights->pool);
    free(weights);
}

const uint32_t *failure_weights_at(const struct failure_weights *weights, uint64_t time_ps, uint32_t ordinal,
                                   uint32_t leaf) {
    uint32_t low = 0, high = weights->n_epochs; // low has begun, high has not
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (weights->epochs[middle].from_ps <= time_ps) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const struct situation *situation = &weights->situations[weights->epochs[low].situation];
    const uint32_t list = situation->lists[(uint64_t)ordinal * weights->fabric->plane_leaves + leaf];
    return list > 0 ? &weights->pool[list + 1] : NULL;
}

size_t failure_weights_bytes(const struct failure_weights *weights) {
    if (weights == NULL) {
        return 0;
    }
    const struct fabric *fabric = weights->fabric;
    const size_t each = (weights->n_links + (size_t)fabric->n_switches * fabric->plane_leaves) * sizeof(uint32_t);
    return sizeof(*weights) + fabric->n_links * sizeof(*weights->place_of) + weights->n_epochs * sizeof(struct epoch) +
           weights->n_situations * (sizeof(struct situation) + each) + weights->pool_capacity * sizeof(*weights->pool);
}
