// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/failure_tables.h"

#include "base/memory.h"
#include "base/rate.h"

#include <stdlib.h>
#include <string.h>

/** From a time on, these tables hold. */
struct epoch {
    uint64_t from_ps;
    uint32_t number;
};

/** One set of cables that are down, and the tables that it makes. */
struct situation {
    uint64_t *down;  /* a bit a cable */
    uint32_t *lists; /* [ordinal × leaves of a plane + leaf] where its list begins in the pool; 0 = the whole range */
};

struct failure_tables {
    const struct fabric *fabric;
    uint32_t *cable_of; /* [link] number of its cable among those that fail, from 1; 0 = it does not */
    uint32_t n_cables, words;
    struct epoch *epochs; /* ascending */
    uint32_t n_epochs;
    struct situation *situations; /* of number 1, 2, … */
    uint32_t n_situations, situation_capacity;
    uint16_t *pool; /* lists: count, ports */
    uint32_t pool_size, pool_capacity;
};

static bool is_between_switches(const struct fabric *fabric, uint32_t link) {
    return fabric->devices[fabric->links[link].tail_device].kind == FABRIC_SWITCH &&
           fabric->devices[fabric->links[link].head_device].kind == FABRIC_SWITCH;
}

static void number_cables(struct failure_tables *tables, const struct failure_change *changes, uint32_t n_changes) {
    const struct fabric *fabric = tables->fabric;
    tables->cable_of = memory_allocate(fabric->n_links, sizeof(*tables->cable_of));
    for (uint32_t i = 0; i < n_changes; i++) {
        const uint32_t link = changes[i].link;
        if (is_between_switches(fabric, link) && tables->cable_of[link] == 0) {
            tables->cable_of[link] = tables->cable_of[fabric->links[link].reverse] = ++tables->n_cables;
        }
    }
    tables->words = tables->n_cables / 64 + 1;
}

/* ---- the tables of one situation ---- */

/** Scratch while tables are made. */
struct maker {
    struct failure_tables *tables;
    const struct situation *situation;
    uint32_t leaf;       /* number in each plane */
    uint8_t *reaches;    /* [ordinal] 0 = not asked yet, 1 = no, 2 = yes */
    uint32_t *last_list; /* [ordinal] the list made last for it */
};

static bool is_down(const struct maker *maker, uint32_t link) {
    const uint32_t cable = maker->tables->cable_of[link];
    return cable > 0 && maker->situation->down[cable / 64] >> (cable % 64) & 1;
}

/* Whether a switch is the leaf, of any plane. */
static bool is_leaf(const struct maker *maker, uint32_t ordinal) {
    const struct fabric *fabric = maker->tables->fabric;
    return fabric_own_leaf(fabric, fabric->switch_devices[ordinal]) == maker->leaf;
}

static bool reaches(struct maker *maker, uint32_t ordinal);

/* Whether a link leads to the leaf, at once or over what it leads to. */
static bool counts(struct maker *maker, uint32_t link) {
    const struct fabric *fabric = maker->tables->fabric;
    return !is_down(maker, link) && reaches(maker, fabric->devices[fabric->links[link].head_device].ordinal);
}

/* The ways lead down or up and then down: asking goes three tiers deep at most. */
static bool reaches(struct maker *maker, uint32_t ordinal) {
    const struct fabric *fabric = maker->tables->fabric;
    if (is_leaf(maker, ordinal)) {
        return true;
    }
    if (maker->reaches[ordinal] == 0) {
        const struct fabric_route route = fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + maker->leaf];
        const uint32_t first = fabric->devices[fabric->switch_devices[ordinal]].first_port + route.first_port;
        maker->reaches[ordinal] = 1;
        for (uint32_t i = 0; i < route.count && maker->reaches[ordinal] == 1; i++) {
            maker->reaches[ordinal] = counts(maker, first + i) ? 2 : 1;
        }
    }
    return maker->reaches[ordinal] == 2;
}

static void reserve_pool(struct failure_tables *tables, uint32_t more) {
    while (tables->pool_size + more > tables->pool_capacity) {
        tables->pool_capacity = tables->pool_capacity ? 2 * tables->pool_capacity : 256;
        tables->pool = memory_resize(tables->pool, tables->pool_capacity, sizeof(*tables->pool));
    }
}

/* Keeps the list that was just put at the end of the pool, unless it is the one before. Returns where it is. */
static uint32_t keep_list(struct maker *maker, uint32_t ordinal, uint32_t length) {
    struct failure_tables *tables = maker->tables;
    const uint32_t last = maker->last_list[ordinal];
    const uint16_t *list = &tables->pool[tables->pool_size];
    if (last != 0 && memcmp(&tables->pool[last], list, length * sizeof(*list)) == 0) {
        return last;
    }
    maker->last_list[ordinal] = tables->pool_size;
    tables->pool_size += length;
    return maker->last_list[ordinal];
}

/* The list of a switch for the leaf. */
static uint32_t make_list(struct maker *maker, uint32_t ordinal) {
    struct failure_tables *tables = maker->tables;
    const struct fabric *fabric = tables->fabric;
    const struct fabric_route route = fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + maker->leaf];
    const uint32_t first = fabric->devices[fabric->switch_devices[ordinal]].first_port + route.first_port;
    reserve_pool(tables, 1 + route.count);
    uint16_t *list = &tables->pool[tables->pool_size];
    uint16_t n = 0;
    for (uint32_t i = 0; i < route.count; i++) {
        if (counts(maker, first + i)) {
            list[1 + n++] = (uint16_t)(route.first_port + i);
        }
    }
    list[0] = n;
    return n == route.count ? 0 : keep_list(maker, ordinal, 1u + n);
}

static void make_lists(struct failure_tables *tables, struct situation *situation) {
    const struct fabric *fabric = tables->fabric;
    struct maker maker = {.tables = tables, .situation = situation};
    situation->lists = memory_allocate((uint64_t)fabric->n_switches * fabric->plane_leaves, sizeof(*situation->lists));
    maker.reaches = memory_allocate(fabric->n_switches, sizeof(*maker.reaches));
    maker.last_list = memory_allocate(fabric->n_switches, sizeof(*maker.last_list));
    for (maker.leaf = 0; maker.leaf < fabric->plane_leaves; maker.leaf++) {
        memset(maker.reaches, 0, fabric->n_switches * sizeof(*maker.reaches));
        for (uint32_t ordinal = 0; ordinal < fabric->n_switches; ordinal++) {
            if (!is_leaf(&maker, ordinal)) {
                situation->lists[(uint64_t)ordinal * fabric->plane_leaves + maker.leaf] = make_list(&maker, ordinal);
            }
        }
    }
    free(maker.reaches);
    free(maker.last_list);
}

/* ---- situations over time ---- */

static bool is_empty(const uint64_t *set, uint32_t words) {
    for (uint32_t w = 0; w < words; w++) {
        if (set[w] != 0) {
            return false;
        }
    }
    return true;
}

/* Number of the tables for these cables: known ones, or made now. */
static uint32_t number_of(struct failure_tables *tables, const uint64_t *down) {
    const size_t bytes = tables->words * sizeof(*down);
    if (is_empty(down, tables->words)) {
        return 0;
    }
    for (uint32_t i = tables->n_situations; i > 0; i--) { // flaps come back to what was just before
        if (memcmp(tables->situations[i - 1].down, down, bytes) == 0) {
            return i;
        }
    }
    if (tables->n_situations == tables->situation_capacity) {
        tables->situation_capacity = tables->situation_capacity ? 2 * tables->situation_capacity : 4;
        tables->situations = memory_resize(tables->situations, tables->situation_capacity, sizeof(*tables->situations));
    }
    struct situation *situation = &tables->situations[tables->n_situations++];
    situation->down = memory_allocate(tables->words, sizeof(*situation->down));
    memcpy(situation->down, down, bytes);
    make_lists(tables, situation);
    return tables->n_situations;
}

static void follow(struct failure_tables *tables, const struct failure_change *changes, uint32_t n_changes,
                   uint64_t convergence_ps) {
    uint64_t *down = memory_allocate(tables->words, sizeof(*down));
    tables->epochs = memory_allocate(n_changes, sizeof(*tables->epochs));
    for (uint32_t i = 0; i < n_changes; i++) {
        const uint32_t cable = tables->cable_of[changes[i].link];
        const uint64_t bit = UINT64_C(1) << (cable % 64);
        if (cable > 0) {
            down[cable / 64] = changes[i].down ? down[cable / 64] | bit : down[cable / 64] & ~bit;
        }
        if (i + 1 < n_changes && changes[i + 1].time_ps == changes[i].time_ps) {
            continue;
        }
        uint64_t from_ps;
        if (__builtin_add_overflow(changes[i].time_ps, convergence_ps, &from_ps)) {
            break;
        }
        tables->epochs[tables->n_epochs++] = (struct epoch){.from_ps = from_ps, .number = number_of(tables, down)};
    }
    free(down);
}

struct failure_tables *failure_tables_create(const struct fabric *fabric, const struct failure_change *changes,
                                             uint32_t n_changes, uint64_t convergence_ps) {
    struct failure_tables *tables = memory_allocate(1, sizeof(*tables));
    tables->fabric = fabric;
    tables->pool_size = 1; // a list at 0 stands for none
    number_cables(tables, changes, n_changes);
    follow(tables, changes, n_changes, convergence_ps);
    return tables;
}

void failure_tables_free(struct failure_tables *tables) {
    if (tables == NULL) {
        return;
    }
    for (uint32_t i = 0; i < tables->n_situations; i++) {
        free(tables->situations[i].down);
        free(tables->situations[i].lists);
    }
    free(tables->situations);
    free(tables->cable_of);
    free(tables->epochs);
    free(tables->pool);
    free(tables);
}

uint32_t failure_tables_at(const struct failure_tables *tables, uint64_t time_ps) {
    uint32_t low = 0, high = tables->n_epochs; // epochs before low have begun, those from high on have not
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (tables->epochs[middle].from_ps <= time_ps) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? tables->epochs[low - 1].number : 0;
}

struct failure_ports failure_tables_ports(const struct failure_tables *tables, uint32_t number, uint32_t ordinal,
                                          uint32_t leaf) {
    const uint64_t place = (uint64_t)ordinal * tables->fabric->plane_leaves + leaf;
    const struct fabric_route route = tables->fabric->routes[place];
    const uint32_t list = number > 0 ? tables->situations[number - 1].lists[place] : 0;
    if (list == 0) {
        return (struct failure_ports){.first_port = route.first_port, .count = route.count};
    }
    return (struct failure_ports){
        .first_port = route.first_port, .count = tables->pool[list], .ports = &tables->pool[list + 1]};
}

size_t failure_tables_bytes(const struct failure_tables *tables) {
    const struct fabric *fabric = tables->fabric;
    const size_t each = tables->words * sizeof(uint64_t) + (size_t)fabric->n_switches * fabric->plane_leaves * 4;
    return sizeof(*tables) + fabric->n_links * sizeof(*tables->cable_of) + tables->n_epochs * sizeof(struct epoch) +
           tables->n_situations * each + tables->pool_capacity * sizeof(*tables->pool);
}
