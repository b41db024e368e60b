// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/failure_plan.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/failure_tables.h"
#include "fabric/failure_weights.h"

#include <stdlib.h>
#include <string.h>

#define NO_WIRE UINT32_MAX

/** The states of a link that fails, ascending; the first begins at 0. */
struct wire {
    uint32_t link;
    uint32_t first, count; /* in plan.states */
};

struct failure_plan {
    const struct fabric *fabric;
    uint64_t exclusion_ps;
    uint32_t *wire_of; /* [link] or NO_WIRE */
    struct wire *wires;
    uint32_t n_wires;
    struct failure_state *states;
    uint32_t n_states, state_capacity;
    struct failure_change *changes; /* by (device, time, port) */
    uint32_t n_changes;
    uint64_t *times; /* of changes, each once */
    uint32_t n_times;
    uint64_t convergence_ps;
    uint32_t *first_change; /* [device]; one more at the end */
    struct failure_tables *tables;
    struct failure_weights *weights; /* NULL: ports are not weighed */
};

/* ---- states of links ---- */

static int by_link_and_time(const void *a, const void *b) {
    const struct failure *one = a, *other = b;
    if (one->link != other->link) {
        return one->link < other->link ? -1 : 1;
    }
    return one->from_ps < other->from_ps ? -1 : one->from_ps > other->from_ps;
}

static int by_time(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static void add_state(struct failure_plan *plan, const struct failure_state *state, struct wire *wire) {
    const struct failure_state *last = wire->count > 0 ? &plan->states[wire->first + wire->count - 1] : NULL;
    if (last != NULL && last->down == state->down && last->ps_per_byte == state->ps_per_byte &&
        last->loss_fxp32 == state->loss_fxp32 && last->receive_ps_per_byte == state->receive_ps_per_byte &&
        last->holds == state->holds) {
        return;
    }
    if (plan->n_states == plan->state_capacity) {
        plan->state_capacity = plan->state_capacity ? 2 * plan->state_capacity : 16;
        plan->states = memory_resize(plan->states, plan->state_capacity, sizeof(*plan->states));
    }
    plan->states[plan->n_states++] = *state;
    wire->count++;
}

/* What the failures that have begun and not ended make of a link. Forgets those that have ended. */
static struct failure_state state_of(const struct failure **active, uint32_t *n_active, uint64_t whole_ps_per_byte,
                                     uint64_t time_ps) {
    struct failure_state state = {.from_ps = time_ps, .ps_per_byte = whole_ps_per_byte};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n_active; i++) {
        const struct failure *failure = active[i];
        if (failure->until_ps <= time_ps) {
            continue;
        }
        active[kept++] = failure;
        state.down |= failure->kind == FAILURE_DOWN;
        state.holds |= failure->kind == FAILURE_SEND;
        if (failure->kind == FAILURE_SLOW && failure->ps_per_byte > state.ps_per_byte) {
            state.ps_per_byte = failure->ps_per_byte;
        }
        if (failure->kind == FAILURE_LOSSY && failure->loss_fxp32 > state.loss_fxp32) {
            state.loss_fxp32 = failure->loss_fxp32;
        }
        if (failure->kind == FAILURE_RECEIVE && failure->ps_per_byte > state.receive_ps_per_byte) {
            state.receive_ps_per_byte = failure->ps_per_byte;
        }
    }
    *n_active = kept;
    return state;
}

/* The states of a link from its failures, which are in order of their beginning. */
static void add_wire(struct failure_plan *plan, const struct failure *failures, uint32_t count) {
    struct wire *wire = &plan->wires[plan->n_wires];
    const uint64_t whole = plan->fabric->links[failures->link].ps_per_byte;
    uint64_t *times = memory_allocate(2 * (size_t)count + 1, sizeof(*times)); // the first: 0
    const struct failure **active = memory_allocate(count, sizeof(*active));
    uint32_t n_active = 0, begun = 0;
    *wire = (struct wire){.link = failures->link, .first = plan->n_states};
    for (uint32_t i = 0; i < count; i++) {
        times[1 + 2 * i] = failures[i].from_ps;
        times[2 + 2 * i] = failures[i].until_ps;
    }
    qsort(times, 2 * (size_t)count + 1, sizeof(*times), by_time);
    for (uint32_t i = 0; i < 2 * count + 1 && times[i] != TIME_NEVER; i++) {
        while (begun < count && failures[begun].from_ps <= times[i]) {
            active[n_active++] = &failures[begun++];
        }
        const struct failure_state state = state_of(active, &n_active, whole, times[i]);
        add_state(plan, &state, wire);
    }
    free(times);
    free(active);
    plan->wire_of[failures->link] = plan->n_wires++;
}

static void add_wires(struct failure_plan *plan, const struct failure_list *list) {
    struct failure *sorted = memory_allocate(list->count, sizeof(*sorted));
    plan->wires = memory_allocate(list->count, sizeof(*plan->wires));
    if (list->count > 0) {
        memcpy(sorted, list->failures, list->count * sizeof(*sorted));
        qsort(sorted, list->count, sizeof(*sorted), by_link_and_time);
    }
    for (uint32_t first = 0, end = 0; first < list->count; first = end) {
        REQUIRE(sorted[first].link < plan->fabric->n_links, "there is no link %u", sorted[first].link);
        while (end < list->count && sorted[end].link == sorted[first].link) {
            REQUIRE(plan->fabric->links[sorted[end].link].kind == FABRIC_ETHERNET || sorted[end].kind == FAILURE_SLOW ||
                        sorted[end].kind == FAILURE_SEND,
                    "link %u can be slow, but not fail otherwise", sorted[end].link);
            REQUIRE(sorted[end].from_ps < sorted[end].until_ps, "a failure of link %u has no time", sorted[end].link);
            end++;
        }
        add_wire(plan, &sorted[first], end - first);
    }
    free(sorted);
}

/* ---- what devices see ---- */

/* One change more for every moment at which a link begins or ceases to be down. Returns their number. */
static uint32_t list_changes(const struct failure_plan *plan, struct failure_change *changes) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < plan->n_wires; w++) {
        const struct wire *wire = &plan->wires[w];
        bool down = false;
        for (uint32_t s = wire->first; s < wire->first + wire->count; s++) {
            if (plan->states[s].down != down) {
                down = !down;
                changes[n++] =
                    (struct failure_change){.time_ps = plan->states[s].from_ps, .link = wire->link, .down = down};
            }
        }
    }
    return n;
}

static int by_time_and_link(const void *a, const void *b) {
    const struct failure_change *one = a, *other = b;
    if (one->time_ps != other->time_ps) {
        return one->time_ps < other->time_ps ? -1 : 1;
    }
    return one->link < other->link ? -1 : one->link > other->link;
}

/* Deals the changes, which are in order of time, out to the devices that the links leave. */
static void deal_changes(struct failure_plan *plan, const struct failure_change *by_time_alone) {
    const struct fabric *fabric = plan->fabric;
    plan->changes = memory_allocate(plan->n_changes, sizeof(*plan->changes));
    plan->first_change = memory_allocate(fabric->n_devices + 1, sizeof(*plan->first_change));
    for (uint32_t i = 0; i < plan->n_changes; i++) {
        plan->first_change[fabric->links[by_time_alone[i].link].tail_device + 1]++;
    }
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        plan->first_change[d + 1] += plan->first_change[d];
    }
    uint32_t *next = memory_allocate(fabric->n_devices, sizeof(*next));
    memcpy(next, plan->first_change, fabric->n_devices * sizeof(*next));
    for (uint32_t i = 0; i < plan->n_changes; i++) {
        plan->changes[next[fabric->links[by_time_alone[i].link].tail_device]++] = by_time_alone[i];
    }
    free(next);
}

static void add_changes(struct failure_plan *plan, uint64_t convergence_ps) {
    struct failure_change *changes = memory_allocate(plan->n_states, sizeof(*changes));
    plan->n_changes = list_changes(plan, changes);
    if (plan->n_changes > 0) {
        qsort(changes, plan->n_changes, sizeof(*changes), by_time_and_link);
    }
    for (uint32_t i = 0; i < plan->n_changes; i++) {
        const uint32_t back = plan->fabric->links[changes[i].link].reverse;
        const struct failure_state state = failure_plan_state(plan, back, changes[i].time_ps);
        REQUIRE(state.down == changes[i].down, "link %u is down on its own", changes[i].link);
    }
    deal_changes(plan, changes);
    plan->convergence_ps = convergence_ps;
    plan->times = memory_allocate(plan->n_changes, sizeof(*plan->times));
    for (uint32_t i = 0; i < plan->n_changes; i++) {
        if (i == 0 || changes[i].time_ps != changes[i - 1].time_ps) {
            plan->times[plan->n_times++] = changes[i].time_ps;
        }
    }
    plan->tables = failure_tables_create(plan->fabric, changes, plan->n_changes, convergence_ps);
    free(changes);
}

struct failure_plan *failure_plan_create(const struct fabric *fabric, const struct failure_list *list) {
    struct failure_plan *plan = memory_allocate(1, sizeof(*plan));
    plan->fabric = fabric;
    plan->exclusion_ps = list->exclusion_ps;
    plan->wire_of = memory_allocate(fabric->n_links, sizeof(*plan->wire_of));
    memset(plan->wire_of, 0xff, fabric->n_links * sizeof(*plan->wire_of)); // NO_WIRE
    add_wires(plan, list);
    add_changes(plan, list->convergence_ps);
    return plan;
}

void failure_plan_free(struct failure_plan *plan) {
    if (plan == NULL) {
        return;
    }
    failure_tables_free(plan->tables);
    failure_weights_free(plan->weights);
    free(plan->wire_of);
    free(plan->wires);
    free(plan->states);
    free(plan->changes);
    free(plan->times);
    free(plan->first_change);
    free(plan);
}

static bool is_between_switches(const struct fabric *fabric, uint32_t link) {
    return fabric->devices[fabric->links[link].tail_device].kind == FABRIC_SWITCH &&
           fabric->devices[fabric->links[link].head_device].kind == FABRIC_SWITCH;
}

void failure_plan_weigh(struct failure_plan *plan) {
    uint32_t *links = memory_allocate(plan->n_wires + 1, sizeof(*links));
    uint64_t *times = memory_allocate(plan->n_states + 1, sizeof(*times)); // the first: 0
    uint32_t n_links = 0, n_found = 1, n_times = 1;
    for (uint32_t w = 0; w < plan->n_wires; w++) {
        const struct wire *wire = &plan->wires[w];
        if (!is_between_switches(plan->fabric, wire->link)) {
            continue;
        }
        links[n_links++] = wire->link;
        for (uint32_t s = wire->first; s < wire->first + wire->count; s++) {
            times[n_found++] = plan->states[s].from_ps;
        }
    }
    qsort(times, n_found, sizeof(*times), by_time);
    for (uint32_t t = 1; t < n_found; t++) {
        if (times[t] != times[n_times - 1]) {
            times[n_times++] = times[t];
        }
    }
    const struct failure_weights_history history = {links, n_links, times, n_times};
    plan->weights = failure_weights_create(plan, plan->fabric, &history, plan->convergence_ps);
    free(links);
    free(times);
}

/* ---- looking up ---- */

bool failure_plan_fails(const struct failure_plan *plan, uint32_t link) {
    return plan->wire_of[link] != NO_WIRE;
}

/* Index of the state of a wire at a time. */
static uint32_t find_state(const struct failure_plan *plan, const struct wire *wire, uint64_t time_ps) {
    uint32_t low = wire->first, high = wire->first + wire->count; // low holds, high does not
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (plan->states[middle].from_ps <= time_ps) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

struct failure_state failure_plan_state(const struct failure_plan *plan, uint32_t link, uint64_t time_ps) {
    if (!failure_plan_fails(plan, link)) {
        return (struct failure_state){.ps_per_byte = plan->fabric->links[link].ps_per_byte};
    }
    return plan->states[find_state(plan, &plan->wires[plan->wire_of[link]], time_ps)];
}

bool failure_plan_receives(const struct failure_plan *plan, uint32_t link) {
    if (!failure_plan_fails(plan, link)) {
        return false;
    }
    const struct wire *wire = &plan->wires[plan->wire_of[link]];
    for (uint32_t s = wire->first; s < wire->first + wire->count; s++) {
        if (plan->states[s].receive_ps_per_byte != 0) {
            return true;
        }
    }
    return false;
}

bool failure_plan_holds(const struct failure_plan *plan, uint32_t link) {
    if (!failure_plan_fails(plan, link)) {
        return false;
    }
    const struct wire *wire = &plan->wires[plan->wire_of[link]];
    for (uint32_t s = wire->first; s < wire->first + wire->count; s++) {
        if (plan->states[s].holds) {
            return true;
        }
    }
    return false;
}

uint64_t failure_plan_release_ps(const struct failure_plan *plan, uint32_t link, uint64_t time_ps) {
    while (time_ps != TIME_NEVER && failure_plan_state(plan, link, time_ps).holds) {
        time_ps = failure_plan_next_ps(plan, link, time_ps);
    }
    return time_ps;
}

uint64_t failure_plan_next_ps(const struct failure_plan *plan, uint32_t link, uint64_t time_ps) {
    if (!failure_plan_fails(plan, link)) {
        return TIME_NEVER;
    }
    const struct wire *wire = &plan->wires[plan->wire_of[link]];
    const uint32_t next = find_state(plan, wire, time_ps) + 1;
    return next < wire->first + wire->count ? plan->states[next].from_ps : TIME_NEVER;
}

bool failure_plan_is_down(const struct failure_plan *plan, uint32_t link, uint64_t from_ps, uint64_t until_ps) {
    if (!failure_plan_fails(plan, link)) {
        return false;
    }
    const struct wire *wire = &plan->wires[plan->wire_of[link]];
    uint32_t s = find_state(plan, wire, from_ps);
    do {
        if (plan->states[s].down) {
            return true;
        }
        s++;
    } while (s < wire->first + wire->count && plan->states[s].from_ps < until_ps);
    return false;
}

const struct failure_change *failure_plan_changes(const struct failure_plan *plan, uint32_t device, uint32_t *count) {
    const uint32_t first = plan->first_change[device];
    *count = plan->first_change[device + 1] - first;
    return &plan->changes[first];
}

uint32_t failure_plan_tables(const struct failure_plan *plan, uint64_t time_ps) {
    return failure_tables_at(plan->tables, time_ps);
}

struct failure_ports failure_plan_ports(const struct failure_plan *plan, uint32_t tables, uint32_t ordinal,
                                        uint32_t leaf) {
    return failure_tables_ports(plan->tables, tables, ordinal, leaf);
}

const uint32_t *failure_plan_weights(const struct failure_plan *plan, uint64_t time_ps, uint32_t ordinal,
                                     uint32_t leaf) {
    return plan->weights != NULL ? failure_weights_at(plan->weights, time_ps, ordinal, leaf) : NULL;
}

const uint64_t *failure_plan_times(const struct failure_plan *plan, uint32_t *count) {
    *count = plan->n_times;
    return plan->times;
}

bool failure_plan_reaches(const struct failure_plan *plan, uint32_t ordinal, uint32_t leaf, uint64_t time_ps) {
    uint64_t known_ps; /* when tables know of it */
    if (__builtin_add_overflow(time_ps, plan->convergence_ps, &known_ps)) {
        return true;
    }
    return failure_plan_ports(plan, failure_plan_tables(plan, known_ps), ordinal, leaf).count > 0;
}

uint64_t failure_plan_exclusion_ps(const struct failure_plan *plan) {
    return plan->exclusion_ps;
}

size_t failure_plan_bytes(const struct failure_plan *plan) {
    return sizeof(*plan) + plan->fabric->n_links * sizeof(*plan->wire_of) + plan->n_wires * sizeof(*plan->wires) +
           plan->state_capacity * sizeof(*plan->states) +
           plan->n_changes * (sizeof(*plan->changes) + sizeof(*plan->times)) +
           (plan->fabric->n_devices + 1) * sizeof(*plan->first_change) + failure_tables_bytes(plan->tables) +
           failure_weights_bytes(plan->weights);
}
