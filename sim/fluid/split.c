// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/split.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Failures of the fluid model do not change: any time after the tables have followed them is as good as another. */
#define SETTLED_PS (UINT64_C(1) << 62)

struct split {
    const struct fabric *fabric;
    const struct failure_plan *failures;
    bool even;          /* ports are used evenly, whatever they can carry */
    double *capacities; /* of links, while it finds parts */
    uint32_t *limit_of; /* [link]; NULL: each stands alone */
    uint32_t first_up, first_down, first_pod_up, first_pod_down;
    double *reach;   /* [switch] bytes a picosecond that it can bring to the leaf; negative: not asked yet */
    double *toward;  /* [switch] bytes a picosecond of the cables to it from the switch that is looked at */
    double *arrives; /* [switch] part of the bytes that come by */
    uint32_t *queue; /* switches in the order of their distance */
    struct split_part *parts;
    uint32_t n_parts, parts_capacity;
};

struct failure_ports split_ports(const struct fabric *fabric, const struct failure_plan *failures, uint32_t device,
                                 uint32_t leaf) {
    const uint32_t ordinal = fabric->devices[device].ordinal;
    if (failures) {
        return failure_plan_ports(failures, failure_plan_tables(failures, SETTLED_PS), ordinal, leaf);
    }
    const struct fabric_route route = fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + leaf];
    return (struct failure_ports){.first_port = route.first_port, .count = route.count};
}

static uint32_t port_number(const struct failure_ports *ports, uint32_t index) {
    return ports->ports ? ports->ports[index] : ports->first_port + index;
}

struct split *split_create(const struct fabric *fabric, const struct failure_plan *failures, enum path_kind kind,
                           double *capacities) {
    struct split *split = memory_allocate(1, sizeof(*split));
    split->fabric = fabric;
    split->failures = failures;
    split->even = kind == PATH_SPRAY_RANDOM || kind == PATH_SPRAY_ROUND_ROBIN;
    split->capacities = capacities;
    split->reach = memory_allocate(fabric->n_switches, sizeof(*split->reach));
    split->toward = memory_allocate(fabric->n_switches, sizeof(*split->toward));
    split->arrives = memory_allocate(fabric->n_switches, sizeof(*split->arrives));
    split->queue = memory_allocate(fabric->n_switches, sizeof(*split->queue));
    return split;
}

void split_free(struct split *split) {
    if (split) {
        free(split->limit_of);
        free(split->reach);
        free(split->toward);
        free(split->arrives);
        free(split->queue);
        free(split->parts);
        free(split);
    }
}

/* ---- links that are always used alike ---- */

static bool is_between_switches(const struct fabric *fabric, const struct fabric_link *link) {
    return fabric->devices[link->tail_device].kind == FABRIC_SWITCH &&
           fabric->devices[link->head_device].kind == FABRIC_SWITCH;
}

/* Whether a switch has as many links of one rate to each switch above that it reaches at all. */
static bool is_even_switch(const struct split *split, uint32_t device, uint32_t *cables) {
    const struct fabric *fabric = split->fabric;
    const uint32_t first = fabric->devices[device].first_port, n = fabric->devices[device].n_ports;
    uint32_t above = FABRIC_NONE;
    bool even = true;
    for (uint32_t p = first; p < first + n; p++) {
        const struct fabric_link *link = &fabric->links[p];
        if (is_between_switches(fabric, link) && link->head_device > device) {
            above = above == FABRIC_NONE ? p : above;
            even = even && split->capacities[p] == split->capacities[above] &&
                   split->capacities[link->reverse] == split->capacities[fabric->links[above].reverse];
            cables[link->head_device]++;
        }
    }
    for (uint32_t p = first; p < first + n; p++) {
        const struct fabric_link *link = &fabric->links[p];
        if (is_between_switches(fabric, link) && link->head_device > device) {
            even = even && cables[link->head_device] == cables[fabric->links[above].head_device];
        }
    }
    for (uint32_t p = first; p < first + n; p++) {
        cables[fabric->links[p].head_device] = 0;
    }
    return even;
}

static bool is_even(const struct split *split) {
    uint32_t *cables = memory_allocate(split->fabric->n_devices, sizeof(*cables));
    bool even = split->failures == NULL;
    for (uint32_t s = 0; even && s < split->fabric->n_switches; s++) {
        even = is_even_switch(split, split->fabric->switch_devices[s], cables);
    }
    free(cables);
    return even;
}

static uint32_t shared_limit(const struct split *split, const struct fabric_link *link) {
    const struct fabric *fabric = split->fabric;
    const struct fabric_device *tail = &fabric->devices[link->tail_device], *head = &fabric->devices[link->head_device];
    if (tail->tier == FABRIC_TIER_LEAF) {
        return split->first_up + tail->ordinal;
    }
    if (head->tier == FABRIC_TIER_LEAF) {
        return split->first_down + head->ordinal;
    }
    return head->tier == FABRIC_TIER_SUPERSPINE ? split->first_pod_up + tail->plane * fabric->n_pods + tail->pod
                                                : split->first_pod_down + head->plane * fabric->n_pods + head->pod;
}

double *split_add_limits(struct split *split, double *capacities, uint32_t *n_limits) {
    const struct fabric *fabric = split->fabric;
    if (!is_even(split)) {
        return capacities;
    }
    const uint32_t pods = fabric->n_planes * fabric->n_pods;
    split->first_up = fabric->n_links;
    split->first_down = split->first_up + fabric->n_leaves;
    split->first_pod_up = split->first_down + fabric->n_leaves;
    split->first_pod_down = split->first_pod_up + pods;
    *n_limits = split->first_pod_down + pods;
    capacities = memory_resize(capacities, *n_limits, sizeof(*capacities));
    memset(&capacities[fabric->n_links], 0, (*n_limits - fabric->n_links) * sizeof(*capacities));
    split->limit_of = memory_allocate(fabric->n_links, sizeof(*split->limit_of));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        split->limit_of[l] = l;
        if (link->kind == FABRIC_ETHERNET && is_between_switches(fabric, link)) {
            split->limit_of[l] = shared_limit(split, link);
            capacities[split->limit_of[l]] += capacities[l];
        }
    }
    split->capacities = capacities;
    return capacities;
}

uint32_t split_limit(const struct split *split, uint32_t link) {
    return split->limit_of ? split->limit_of[link] : link;
}

/* ---- parts ---- */

static void add_part(struct split *split, uint32_t limit, double share) {
    if (split->n_parts == split->parts_capacity) {
        split->parts_capacity = split->parts_capacity ? 2 * split->parts_capacity : 64;
        split->parts = memory_resize(split->parts, split->parts_capacity, sizeof(*split->parts));
    }
    split->parts[split->n_parts++] = (struct split_part){.limit = limit, .share = share};
}

static double *toward_of(struct split *split, uint32_t link) {
    return &split->toward[split->fabric->devices[split->fabric->links[link].head_device].ordinal];
}

/* Notes what all cables of a switch to each of the switches after it can carry together. */
static void add_cables(struct split *split, uint32_t device, const struct failure_ports *ports) {
    const uint32_t first = split->fabric->devices[device].first_port;
    for (uint32_t i = 0; i < ports->count; i++) {
        *toward_of(split, first + port_number(ports, i)) = 0;
    }
    for (uint32_t i = 0; i < ports->count; i++) {
        *toward_of(split, first + port_number(ports, i)) += split->capacities[first + port_number(ports, i)];
    }
}

static double reach_of(struct split *split, uint32_t device, uint32_t leaf);

/* What a cable can bring to a leaf: its part of the less of all cables to the next switch and of what that one can bring. After add_cables. */
static double part_of(struct split *split, uint32_t link, uint32_t leaf) {
    const double toward = *toward_of(split, link);
    const double reach = reach_of(split, split->fabric->links[link].head_device, leaf);
    return toward > reach ? split->capacities[link] * (reach / toward) : split->capacities[link];
}

/* What a switch can bring to a leaf over all its ports. */
static double reach_of(struct split *split, uint32_t device, uint32_t leaf) {
    const struct fabric *fabric = split->fabric;
    if (fabric_own_leaf(fabric, device) == leaf) {
        return INFINITY;
    }
    double *reach = &split->reach[fabric->devices[device].ordinal];
    if (*reach < 0) {
        const struct failure_ports ports = split_ports(fabric, split->failures, device, leaf);
        const uint32_t first = fabric->devices[device].first_port;
        double sum = 0;
        for (uint32_t i = 0; i < ports.count; i++) {
            reach_of(split, fabric->links[first + port_number(&ports, i)].head_device,
                     leaf); // which notes other cables
        }
        add_cables(split, device, &ports);
        for (uint32_t i = 0; i < ports.count; i++) {
            sum += part_of(split, first + port_number(&ports, i), leaf);
        }
        *reach = sum;
    }
    return *reach;
}

/* The part of a switch's bytes for a leaf that a port takes. */
static double port_share(struct split *split, uint32_t device, uint32_t link, uint32_t count, uint32_t leaf) {
    const double all = reach_of(split, device, leaf);
    return split->even || all == 0 ? 1.0 / count : part_of(split, link, leaf) / all;
}

/* Sends what a switch has got on to the switches after it, which join the queue when they get their first. */
static uint32_t spread(struct split *split, uint32_t device, uint32_t leaf, uint32_t n_queue) {
    const struct fabric *fabric = split->fabric;
    const struct failure_ports ports = split_ports(fabric, split->failures, device, leaf);
    const double arrives = split->arrives[fabric->devices[device].ordinal];
    reach_of(split, device, leaf);
    add_cables(split, device, &ports);
    for (uint32_t i = 0; i < ports.count; i++) {
        const uint32_t link = fabric->devices[device].first_port + port_number(&ports, i);
        const double share = arrives * port_share(split, device, link, ports.count, leaf);
        double *next = &split->arrives[fabric->devices[fabric->links[link].head_device].ordinal];
        if (share == 0) {
            continue;
        }
        if (*next == 0) {
            split->queue[n_queue++] = fabric->links[link].head_device;
        }
        *next += share;
        add_part(split, link, share);
    }
    return n_queue;
}

static bool find_links(struct split *split, uint32_t plane, uint32_t from, uint32_t to) {
    const struct fabric *fabric = split->fabric;
    uint32_t n_queue = 1;
    for (uint32_t s = 0; s < fabric->n_switches; s++) {
        split->reach[s] = -1;
        split->arrives[s] = 0;
    }
    split->queue[0] = fabric->switch_devices[fabric_leaf_ordinal(fabric, plane, from)];
    split->arrives[fabric->devices[split->queue[0]].ordinal] = 1;
    for (uint32_t q = 0; q < n_queue; q++) {
        if (fabric_own_leaf(fabric, split->queue[q]) == to) {
            continue;
        }
        const uint32_t before = split->n_parts;
        n_queue = spread(split, split->queue[q], to, n_queue);
        if (split->n_parts == before) {
            return false;
        }
    }
    return true;
}

bool split_find(struct split *split, uint32_t plane, uint32_t from, uint32_t to) {
    const struct fabric *fabric = split->fabric;
    const uint32_t first = fabric_leaf_ordinal(fabric, plane, from), last = fabric_leaf_ordinal(fabric, plane, to);
    const struct fabric_device *leaf = &fabric->devices[fabric->switch_devices[first]];
    const uint32_t to_pod = fabric->devices[fabric->switch_devices[last]].pod;
    split->n_parts = 0;
    if (split->limit_of == NULL) {
        return find_links(split, plane, from, to);
    }
    if (fabric->routes[(uint64_t)first * fabric->plane_leaves + to].count == 0) {
        return false;
    }
    add_part(split, split->first_up + first, 1);
    if (leaf->pod != to_pod) {
        add_part(split, split->first_pod_up + plane * fabric->n_pods + leaf->pod, 1);
        add_part(split, split->first_pod_down + plane * fabric->n_pods + to_pod, 1);
    }
    add_part(split, split->first_down + last, 1);
    return true;
}

const struct split_part *split_parts(const struct split *split, uint32_t *count) {
    *count = split->n_parts;
    return split->parts;
}
