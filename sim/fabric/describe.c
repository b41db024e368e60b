// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/describe.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/rate.h"

#include <stdlib.h>
#include <string.h>

static void widen(uint64_t *lowest, uint64_t *highest, uint64_t value, bool first) {
    if (first || value < *lowest) {
        *lowest = value;
    }
    if (first || value > *highest) {
        *highest = value;
    }
}

/** Counts a cable by its link upwards. */
static void add_cable(struct describe_cables *cables, const struct fabric_link *up, const struct fabric_link *down) {
    const bool first = cables->count == 0;
    widen(&cables->lowest_bits_per_s, &cables->highest_bits_per_s, up->rate_bits_per_s, first);
    widen(&cables->lowest_bits_per_s, &cables->highest_bits_per_s, down->rate_bits_per_s, false);
    widen(&cables->lowest_up_ps, &cables->highest_up_ps, up->latency_ps, first);
    widen(&cables->lowest_down_ps, &cables->highest_down_ps, down->latency_ps, first);
    cables->count++;
}

/** Devices are numbered upwards (endpoints, leaves, spines, super-spines; chips last), so a link to a higher number leads up. */
static bool leads_up(const struct fabric_link *link) {
    return link->tail_device < link->head_device;
}

static void count_cables(const struct fabric *fabric, struct describe_facts *facts) {
    for (uint32_t number = 0; number < fabric->n_links; number++) {
        const struct fabric_link *link = &fabric->links[number];
        if (!leads_up(link)) {
            continue;
        }
        const struct fabric_link *down = &fabric->links[link->reverse];
        if (link->kind == FABRIC_NVLINK) {
            add_cable(&facts->nvlink, link, down);
        } else if (fabric->devices[link->tail_device].kind == FABRIC_ENDPOINT) {
            add_cable(&facts->host, link, down);
            facts->nic_bits_per_s += link->rate_bits_per_s;
        } else if (fabric->devices[link->tail_device].tier == FABRIC_TIER_LEAF) {
            add_cable(&facts->uplink, link, down);
        } else {
            add_cable(&facts->super_uplink, link, down);
            facts->super_uplink_bits_per_s += link->rate_bits_per_s;
        }
    }
}

/** What hangs below a switch and above it, in the direction upwards. */
struct switch_rates {
    uint64_t below_bits_per_s, above_bits_per_s;
};

static struct switch_rates rates_of(const struct fabric *fabric, uint32_t ordinal) {
    const struct fabric_device *device = &fabric->devices[fabric->switch_devices[ordinal]];
    struct switch_rates rates = {0, 0};
    for (uint32_t port = 0; port < device->n_ports; port++) {
        const struct fabric_link *link = &fabric->links[device->first_port + port];
        if (leads_up(link)) {
            rates.above_bits_per_s += link->rate_bits_per_s;
        } else {
            rates.below_bits_per_s += fabric->links[link->reverse].rate_bits_per_s;
        }
    }
    return rates;
}

static void add_oversubscription(double *lowest, double *highest, const struct switch_rates *rates) {
    if (rates->above_bits_per_s == 0 || rates->below_bits_per_s == 0) {
        return;
    }
    const double ratio = (double)rates->below_bits_per_s / (double)rates->above_bits_per_s;
    if (*lowest == 0 || ratio < *lowest) {
        *lowest = ratio;
    }
    if (ratio > *highest) {
        *highest = ratio;
    }
}

/** Leaves and spines. Bisection: what the leaves of a pod bring up, no more than leaves the pod where there are several. */
static void measure_tiers(const struct fabric *fabric, struct describe_facts *facts) {
    struct switch_rates *pods = memory_allocate(fabric->n_pods, sizeof(*pods));
    for (uint32_t ordinal = 0; ordinal < fabric->n_leaves; ordinal++) {
        const struct switch_rates rates = rates_of(fabric, ordinal);
        pods[fabric->devices[fabric->switch_devices[ordinal]].pod].below_bits_per_s +=
            fabric->plane_leaves > 1 ? number_smaller(rates.above_bits_per_s, rates.below_bits_per_s)
                                     : rates.below_bits_per_s;
        facts->uplink_bits_per_s += rates.above_bits_per_s;
        add_oversubscription(&facts->lowest_oversubscription, &facts->highest_oversubscription, &rates);
    }
    for (uint32_t spine = 0; spine < fabric->n_spines; spine++) {
        const struct switch_rates rates = rates_of(fabric, fabric->n_leaves + spine);
        pods[fabric->devices[fabric->switch_devices[fabric->n_leaves + spine]].pod].above_bits_per_s +=
            rates.above_bits_per_s;
        add_oversubscription(&facts->lowest_spine_oversubscription, &facts->highest_spine_oversubscription, &rates);
    }
    uint64_t brought_up = 0;
    for (uint32_t pod = 0; pod < fabric->n_pods; pod++) {
        brought_up += fabric->n_pods > 1 ? number_smaller(pods[pod].above_bits_per_s, pods[pod].below_bits_per_s)
                                         : pods[pod].below_bits_per_s;
    }
    facts->bisection_bits_per_s = brought_up / 2;
    free(pods);
}

/** Looks at one endpoint of every leaf only: those of one leaf are equally far. */
static void find_farthest(const struct fabric *fabric, struct describe_facts *facts) {
    bool *seen = memory_allocate(fabric->plane_leaves, sizeof(*seen));
    for (uint32_t endpoint = 1; endpoint < fabric->n_endpoints; endpoint++) {
        const uint32_t leaf = fabric->endpoints[endpoint].leaf;
        struct describe_path path;
        if (leaf == FABRIC_NONE || seen[leaf]) {
            continue;
        }
        seen[leaf] = true;
        if (describe_path(fabric, 0, endpoint, FABRIC_ETHERNET, 1, &path) &&
            path.n_hops - 1 > facts->farthest_switches) {
            facts->farthest_switches = path.n_hops - 1;
        }
    }
    free(seen);
}

void describe_measure(const struct fabric *fabric, struct describe_facts *facts) {
    *facts = (struct describe_facts){
        .n_pods = fabric->n_pods,
        .n_leaves = fabric->n_leaves,
        .n_spines = fabric->n_spines,
        .n_super_spines = fabric->n_super_spines,
        .n_chips = fabric->n_chips,
    };
    count_cables(fabric, facts);
    measure_tiers(fabric, facts);
    find_farthest(fabric, facts);
}

/** First port out of a device towards the destination, FABRIC_NONE if there is none. in_port: port of that device by which the packet came; first_port: of the source. */
static uint32_t port_towards(const struct fabric *fabric, uint32_t device, uint32_t in_port, uint32_t destination,
                             uint32_t first_port) {
    struct fabric_route route;
    switch (fabric->devices[device].kind) {
    case FABRIC_ENDPOINT:
        return first_port;
    case FABRIC_SWITCH:
        route = fabric_route_to(fabric, device, destination);
        return route.count > 0 ? route.first_port : FABRIC_NONE;
    case FABRIC_NVSWITCH:
        route = fabric_chip_route_to(fabric, device, destination);
        return route.first_port + in_port % route.count;
    }
    return FABRIC_NONE;
}

/** Lists the links of the way. */
static bool find_links(const struct fabric *fabric, uint32_t source, uint32_t destination, uint32_t first_port,
                       struct describe_path *path) {
    uint32_t device = source, in_port = 0;
    while (device != destination) {
        const uint32_t port = port_towards(fabric, device, in_port, destination, first_port);
        if (port == FABRIC_NONE) {
            return false;
        }
        REQUIRE(path->n_hops < DESCRIBE_HOPS, "the way from %u to %u has no end", source, destination);
        const uint32_t link = fabric->devices[device].first_port + port;
        path->hops[path->n_hops++].link = link;
        device = fabric->links[link].head_device;
        in_port = fabric->links[link].head_port;
    }
    return true;
}

/** When the packet may start on the out link, given when it started on the in link: sim/device/README.md, "Queue". */
static uint64_t ready_ps(const struct fabric *fabric, const struct describe_hop *in, const struct fabric_link *out,
                         uint64_t size_bytes) {
    const struct fabric_link *link = &fabric->links[in->link];
    if (!fabric->devices[link->head_device].cut_through) {
        return in->arrival_ps;
    }
    const uint64_t last_bit = in->arrival_ps + rate_time_ps(link->ps_per_byte, size_bytes);
    const uint64_t out_time = rate_time_ps(out->ps_per_byte, size_bytes);
    return last_bit > in->arrival_ps + out_time ? last_bit - out_time : in->arrival_ps;
}

static void time_hops(const struct fabric *fabric, uint64_t size_bytes, struct describe_path *path) {
    for (uint32_t i = 0; i < path->n_hops; i++) {
        struct describe_hop *hop = &path->hops[i];
        const struct fabric_link *link = &fabric->links[hop->link];
        uint32_t carry = 0;
        hop->start_ps = i == 0 ? 0 : ready_ps(fabric, &path->hops[i - 1], link, size_bytes);
        hop->end_ps = hop->start_ps + rate_next_ps(link->ps_per_byte, size_bytes, &carry);
        const bool first_bit = fabric->devices[link->head_device].cut_through;
        hop->arrival_ps = (first_bit ? hop->start_ps : hop->end_ps) + link->latency_ps;
        path->latency_ps = hop->arrival_ps;
    }
}

static bool joined(const struct fabric *fabric, uint32_t source, uint32_t destination, enum fabric_link_kind kind) {
    const struct fabric_endpoint *from = &fabric->endpoints[source], *to = &fabric->endpoints[destination];
    if (kind == FABRIC_NVLINK) {
        return from->domain != FABRIC_NONE && from->domain == to->domain;
    }
    return from->leaf != FABRIC_NONE && to->leaf != FABRIC_NONE;
}

static bool describe(const struct fabric *fabric, uint32_t source, uint32_t destination, enum fabric_link_kind kind,
                     uint32_t first_port, uint64_t size_bytes, struct describe_path *path) {
    REQUIRE(source < fabric->n_endpoints && destination < fabric->n_endpoints, "no GPU %u or %u", source, destination);
    REQUIRE(size_bytes > 0 && size_bytes <= UINT64_C(65536), "a packet of %llu bytes", (unsigned long long)size_bytes);
    memset(path, 0, sizeof(*path));
    if (source == destination || !joined(fabric, source, destination, kind) ||
        !find_links(fabric, source, destination, first_port, path)) {
        return false;
    }
    time_hops(fabric, size_bytes, path);
    return true;
}

bool describe_path(const struct fabric *fabric, uint32_t source, uint32_t destination, enum fabric_link_kind kind,
                   uint64_t size_bytes, struct describe_path *path) {
    REQUIRE(source < fabric->n_endpoints, "no GPU %u", source);
    return describe(fabric, source, destination, kind, kind == FABRIC_NVLINK ? fabric->endpoints[source].n_nics : 0,
                    size_bytes, path);
}

bool describe_path_of_plane(const struct fabric *fabric, uint32_t source, uint32_t destination, uint32_t plane,
                            uint64_t size_bytes, struct describe_path *path) {
    REQUIRE(plane < fabric->n_planes, "no plane %u", plane);
    return describe(fabric, source, destination, FABRIC_ETHERNET, plane, size_bytes, path);
}
