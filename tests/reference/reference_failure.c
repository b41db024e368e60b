// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_failure.h"

#include "base/hash.h"
#include "base/rate.h"
#include "fabric/failure.h"

enum { PHASE_LINK = 0 };

static const struct failure_list *list_of(const struct reference_world *world) {
    static const struct failure_list nothing = {0};
    return world->parameters->failures != NULL ? world->parameters->failures : &nothing;
}

bool reference_failure_any(const struct reference_world *world) {
    return list_of(world)->count > 0;
}

bool reference_failure_down_within(const struct reference_world *world, uint32_t link, uint64_t from_ps,
                                   uint64_t until_ps) {
    const struct failure_list *list = list_of(world);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (failure->kind == FAILURE_DOWN && failure->link == link && failure->from_ps < until_ps &&
            failure->until_ps > from_ps) {
            return true;
        }
    }
    return false;
}

bool reference_failure_down(const struct reference_world *world, uint32_t link, uint64_t time_ps) {
    return reference_failure_down_within(world, link, time_ps, time_ps + 1);
}

static bool holds(const struct failure *failure, enum failure_kind kind, uint32_t link, uint64_t time_ps) {
    return failure->kind == kind && failure->link == link && failure->from_ps <= time_ps && time_ps < failure->until_ps;
}

uint64_t reference_failure_ps_per_byte(const struct reference_world *world, uint32_t link, uint64_t time_ps) {
    const struct failure_list *list = list_of(world);
    uint64_t slowest = world->fabric->links[link].ps_per_byte;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (holds(failure, FAILURE_SLOW, link, time_ps) && failure->ps_per_byte > slowest) {
            slowest = failure->ps_per_byte;
        }
    }
    return slowest;
}

bool reference_failure_receives(const struct reference_world *world, uint32_t link) {
    const struct failure_list *list = list_of(world);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->failures[i].kind == FAILURE_RECEIVE && list->failures[i].link == link) {
            return true;
        }
    }
    return false;
}

uint64_t reference_failure_receive_ps_per_byte(const struct reference_world *world, uint32_t link, uint64_t time_ps) {
    const struct failure_list *list = list_of(world);
    uint64_t slowest = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (holds(failure, FAILURE_RECEIVE, link, time_ps) && failure->ps_per_byte > slowest) {
            slowest = failure->ps_per_byte;
        }
    }
    return slowest;
}

uint64_t reference_failure_receive_next_ps(const struct reference_world *world, uint32_t link, uint64_t time_ps) {
    const struct failure_list *list = list_of(world);
    uint64_t next_ps = TIME_NEVER;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (failure->kind == FAILURE_RECEIVE && failure->link == link) {
            next_ps = failure->from_ps > time_ps && failure->from_ps < next_ps ? failure->from_ps : next_ps;
            next_ps = failure->until_ps > time_ps && failure->until_ps < next_ps ? failure->until_ps : next_ps;
        }
    }
    return next_ps;
}

uint64_t reference_failure_release_ps(const struct reference_world *world, uint32_t endpoint, uint64_t time_ps) {
    const struct failure_list *list = list_of(world);
    const uint32_t link = world->fabric->devices[endpoint].first_port;
    for (uint32_t i = 0; i < list->count; i++) {
        if (holds(&list->failures[i], FAILURE_SEND, link, time_ps)) {
            return reference_failure_release_ps(world, endpoint, list->failures[i].until_ps);
        }
    }
    return time_ps;
}

static uint64_t worst_loss(const struct reference_world *world, uint32_t link) {
    const struct failure_list *list = list_of(world);
    uint64_t worst = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (holds(failure, FAILURE_LOSSY, link, world->now_ps) && failure->loss_fxp32 > worst) {
            worst = failure->loss_fxp32;
        }
    }
    return worst;
}

bool reference_failure_loses(const struct reference_world *world, uint32_t link, uint64_t end_ps) {
    if (reference_failure_down_within(world, link, world->now_ps, end_ps)) {
        return true;
    }
    const uint64_t loss = worst_loss(world, link);
    const uint64_t stream = hash_stream(world->parameters->seed, HASH_PURPOSE_LOSS, link, 0);
    return loss > 0 && hash_draw(stream, world->now_ps) >> 32 < loss;
}

/* ---- which way ---- */

enum { AS_BUILT = -1, AFTER_LINKS = 1 << 20 /* places of links are ports */ };

/** The time whose cables tables go by. */
static int64_t time_of_tables(const struct reference_world *world) {
    const uint64_t convergence_ps = list_of(world)->convergence_ps;
    return world->now_ps >= convergence_ps ? (int64_t)(world->now_ps - convergence_ps) : AS_BUILT;
}

static struct fabric_route route_between(const struct fabric *fabric, uint32_t device, uint32_t leaf) {
    return fabric->routes[(uint64_t)fabric->devices[device].ordinal * fabric->plane_leaves + leaf];
}

/** Whether a switch is a leaf of this number in its plane. */
static bool is_leaf(const struct fabric *fabric, uint32_t device, uint32_t leaf) {
    const struct fabric_device *place = &fabric->devices[device];
    return place->kind == FABRIC_SWITCH && place->tier == FABRIC_TIER_LEAF && place->tier_index == leaf;
}

/** Whether a port counts among the ways to a leaf. */
static bool port_counts(const struct reference_world *world, uint32_t device, uint32_t port, uint32_t leaf,
                        int64_t at_ps) {
    const uint32_t link = reference_world_link(world, device, (uint16_t)port);
    const uint32_t next = world->fabric->links[link].head_device;
    if (at_ps != AS_BUILT && reference_failure_down(world, link, (uint64_t)at_ps)) {
        return false;
    }
    if (is_leaf(world->fabric, next, leaf)) {
        return true;
    }
    const struct fabric_route route = route_between(world->fabric, next, leaf);
    for (uint32_t i = 0; i < route.count; i++) {
        if (port_counts(world, next, route.first_port + i, leaf, at_ps)) {
            return true;
        }
    }
    return false;
}

static uint16_t without_excluded(const struct reference_world *world, uint32_t device, uint16_t *ports,
                                 uint16_t count) {
    const uint64_t exclusion_ps = list_of(world)->exclusion_ps;
    uint16_t left = 0;
    for (uint16_t pass = 0; pass < 2; pass++) { /* counts, and if any is left, removes */
        uint16_t n = 0;
        for (uint16_t i = 0; i < count; i++) {
            const uint32_t link = reference_world_link(world, device, ports[i]);
            if (world->now_ps >= exclusion_ps && reference_failure_down(world, link, world->now_ps - exclusion_ps)) {
                continue;
            }
            if (pass == 1) {
                ports[n] = ports[i];
            }
            n++;
        }
        left = n;
        if (left == 0) {
            return count;
        }
    }
    return left;
}

uint16_t reference_failure_candidates(const struct reference_world *world, uint32_t device, uint32_t endpoint,
                                      bool excludes, uint16_t *ports, bool *avoided) {
    const struct fabric_endpoint *to = &world->fabric->endpoints[endpoint];
    *avoided = false;
    if (is_leaf(world->fabric, device, to->leaf)) {
        ports[0] = (uint16_t)to->leaf_port;
        return 1;
    }
    const struct fabric_route route = route_between(world->fabric, device, to->leaf);
    uint16_t count = 0;
    for (uint32_t i = 0; i < route.count; i++) {
        if (port_counts(world, device, route.first_port + i, to->leaf, time_of_tables(world))) {
            ports[count++] = (uint16_t)(route.first_port + i);
        }
    }
    count = excludes ? without_excluded(world, device, ports, count) : count;
    *avoided = count < route.count;
    return count;
}

/** What a link carries, in Mb/s; one that is slower than 1 Mb/s counts as 1. */
static uint64_t carries(const struct reference_world *world, uint32_t link, int64_t at_ps) {
    if (at_ps != AS_BUILT && reference_failure_down(world, link, (uint64_t)at_ps)) {
        return 0;
    }
    const uint64_t ps_per_byte = at_ps == AS_BUILT ? world->fabric->links[link].ps_per_byte
                                                   : reference_failure_ps_per_byte(world, link, (uint64_t)at_ps);
    const uint64_t one_megabit = UINT64_C(8000000) << RATE_FRACTION_BITS;
    return ps_per_byte > one_megabit ? 1 : one_megabit / ps_per_byte;
}

/** What gets through to a leaf by a port, in Mb/s. */
static uint64_t capacity(const struct reference_world *world, uint32_t device, uint32_t port, uint32_t leaf,
                         int64_t at_ps) {
    const uint32_t link = reference_world_link(world, device, (uint16_t)port);
    const uint32_t next = world->fabric->links[link].head_device;
    const uint64_t own = carries(world, link, at_ps);
    uint64_t behind = 0, all = 0;
    if (own == 0 || is_leaf(world->fabric, next, leaf)) {
        return own;
    }
    const struct fabric_route from = route_between(world->fabric, device, leaf);
    for (uint32_t i = 0; i < from.count; i++) {
        const uint32_t other = reference_world_link(world, device, (uint16_t)(from.first_port + i));
        all += world->fabric->links[other].head_device == next ? carries(world, other, at_ps) : 0;
    }
    const struct fabric_route route = route_between(world->fabric, next, leaf);
    for (uint32_t i = 0; i < route.count; i++) {
        behind += capacity(world, next, route.first_port + i, leaf, at_ps);
    }
    const uint64_t part = behind * own / all + (behind * own % all > 0);
    return part < own ? part : own;
}

void reference_failure_weights(const struct reference_world *world, uint32_t device, uint32_t endpoint,
                               uint32_t *weights) {
    const uint32_t leaf = world->fabric->endpoints[endpoint].leaf;
    if (is_leaf(world->fabric, device, leaf)) {
        return;
    }
    const struct fabric_route route = route_between(world->fabric, device, leaf);
    for (uint32_t i = 0; i < route.count; i++) {
        weights[i] = (uint32_t)capacity(world, device, route.first_port + i, leaf, time_of_tables(world));
    }
}

/** Whether there was a way from one endpoint to another over a plane. */
static bool led(const struct reference_world *world, uint32_t source, uint32_t destination, uint16_t plane,
                uint64_t at_ps) {
    const struct fabric *fabric = world->fabric;
    const uint32_t first = reference_world_link(world, source, plane);
    const uint32_t leaf = fabric->links[first].head_device, far = fabric->endpoints[destination].leaf;
    if (reference_failure_down(world, first, at_ps) ||
        reference_failure_down(world, reference_world_link(world, destination, plane), at_ps)) {
        return false;
    }
    if (is_leaf(fabric, leaf, far)) {
        return true;
    }
    const struct fabric_route route = route_between(fabric, leaf, far);
    for (uint32_t i = 0; i < route.count; i++) {
        if (port_counts(world, leaf, route.first_port + i, far, (int64_t)at_ps)) {
            return true;
        }
    }
    return false;
}

bool reference_failure_left_out(const struct reference_world *world, uint32_t source, uint32_t destination,
                                uint16_t plane) {
    const uint64_t after_ps = world->parameters->nic.plane_failover_ps;
    if (world->parameters->failures == NULL) {
        return false;
    }
    bool any = false, own = false;
    for (uint16_t p = 0; p < world->fabric->n_planes && world->now_ps >= after_ps; p++) {
        const bool leads = led(world, source, destination, p, world->now_ps - after_ps);
        any |= leads;
        own |= leads && p == plane;
    }
    return any && !own;
}

/* ---- steps ---- */

/** A link begins or ceases to be down at a time: one step, unless it goes on as before. */
static void schedule_change(struct reference_world *world, uint32_t link, uint64_t time_ps) {
    const bool before = time_ps > 0 && reference_failure_down(world, link, time_ps - 1);
    const bool down = reference_failure_down(world, link, time_ps);
    if (before == down) {
        return;
    }
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = time_ps,
                                                               .device = world->fabric->links[link].tail_device,
                                                               .phase = PHASE_LINK,
                                                               .place = world->fabric->links[link].tail_port,
                                                               .kind = down ? REFERENCE_STEP_DOWN : REFERENCE_STEP_UP,
                                                               .port = (uint16_t)world->fabric->links[link].tail_port});
    for (uint32_t e = 0; e < world->fabric->n_endpoints && world->fabric->n_planes > 1; e++) {
        if (world->fabric->endpoints[e].n_nics > 0) {
            const uint64_t look_ps = time_ps + world->parameters->nic.plane_failover_ps;
            reference_heap_push(&world->heap, &(struct reference_step){.time_ps = look_ps,
                                                                       .device = e,
                                                                       .phase = PHASE_LINK,
                                                                       .place = AFTER_LINKS,
                                                                       .kind = REFERENCE_STEP_FAILOVER});
        }
    }
}

/** Whether an earlier failure of the list has a boundary of the same link at this time. */
static bool is_listed_before(const struct failure_list *list, uint32_t index, uint64_t time_ps) {
    for (uint32_t i = 0; i < index; i++) {
        const struct failure *failure = &list->failures[i];
        if (failure->kind == FAILURE_DOWN && failure->link == list->failures[index].link &&
            (failure->from_ps == time_ps || failure->until_ps == time_ps)) {
            return true;
        }
    }
    return false;
}

void reference_failure_schedule(struct reference_world *world) {
    const struct failure_list *list = list_of(world);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        const uint64_t times_ps[] = {failure->from_ps, failure->until_ps};
        for (int t = 0; t < 2 && failure->kind == FAILURE_DOWN; t++) {
            if (times_ps[t] != TIME_NEVER && !is_listed_before(list, i, times_ps[t])) {
                schedule_change(world, failure->link, times_ps[t]);
            }
        }
    }
}
