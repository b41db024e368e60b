// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/irregular.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"

#include <stdlib.h>

enum { PORT_LIMIT = UINT16_MAX }; /* struct fabric_route counts ports in 16 bits */

static bool domain_has_nvlink(const struct irregular_description *description, uint32_t domain) {
    return description->n_chips > 0 && description->domain_gpus[domain] > 1;
}

static uint32_t links_per_gpu(const struct irregular_description *description) {
    uint32_t links = 0;
    for (uint32_t chip = 0; chip < description->n_chips; chip++) {
        links += description->links_per_chip[chip];
    }
    return links;
}

static uint32_t leaf_pod(const struct irregular_description *description, uint32_t leaf) {
    return description->n_pods > 1 ? description->leaf_pod[leaf] : 0;
}

static uint32_t spine_pod(const struct irregular_description *description, uint32_t spine) {
    return description->n_pods > 1 ? description->spine_pod[spine] : 0;
}

/** Cables that leave a switch upwards: the sum of its row in a table of [lower × upper]. */
static uint32_t uplinks_of(const uint32_t *links, uint32_t n_upper, uint32_t lower) {
    uint32_t uplinks = 0;
    for (uint32_t upper = 0; upper < n_upper; upper++) {
        uplinks += links[(uint64_t)lower * n_upper + upper];
    }
    return uplinks;
}

/** Cables that reach a switch from below: the sum of its column. */
static uint32_t downlinks_of(const uint32_t *links, uint32_t n_lower, uint32_t n_upper, uint32_t upper) {
    uint32_t downlinks = 0;
    for (uint32_t lower = 0; lower < n_lower; lower++) {
        downlinks += links[(uint64_t)lower * n_upper + upper];
    }
    return downlinks;
}

static void count_devices(struct fabric *fabric, const struct irregular_description *description) {
    for (uint32_t domain = 0; domain < description->n_domains; domain++) {
        REQUIRE(description->domain_gpus[domain] > 0, "domain %u has no GPU", domain);
        fabric->n_endpoints += description->domain_gpus[domain];
        if (domain_has_nvlink(description, domain)) {
            fabric->n_domains++;
            fabric->n_chips += description->n_chips;
        }
    }
    fabric->n_planes = description->n_planes > 1 ? description->n_planes : 1;
    fabric->plane_leaves = description->n_leaves;
    fabric->n_leaves = fabric->n_planes * description->n_leaves;
    fabric->n_spines = fabric->n_planes * description->n_spines;
    fabric->n_super_spines = fabric->n_planes * description->n_super_spines;
    fabric->n_pods = description->n_pods > 1 ? description->n_pods : 1;
    REQUIRE(fabric->n_pods == 1 || fabric->n_super_spines > 0, "nothing joins %u pods", fabric->n_pods);
    fabric->n_switches = fabric->n_leaves + fabric->n_spines + fabric->n_super_spines;
    fabric->n_devices = fabric->n_endpoints + fabric->n_switches + fabric->n_chips;
}

static void allocate(struct fabric *fabric) {
    fabric->devices = memory_allocate(fabric->n_devices, sizeof(*fabric->devices));
    fabric->endpoints = memory_allocate(fabric->n_endpoints, sizeof(*fabric->endpoints));
    fabric->domains = memory_allocate(fabric->n_domains, sizeof(*fabric->domains));
    fabric->switch_devices = memory_allocate(fabric->n_switches, sizeof(*fabric->switch_devices));
    fabric->routes = memory_allocate((uint64_t)fabric->n_switches * fabric->plane_leaves, sizeof(*fabric->routes));
}

/** Endpoint number `endpoint`, GPU `index` of a domain (an NVLink domain if nvlink_domain is not FABRIC_NONE). Ports are counted here, plugged later. */
static void fill_endpoint(struct fabric *fabric, const struct irregular_description *description, uint32_t endpoint,
                          uint32_t index, uint32_t rack, uint32_t nvlink_domain) {
    const uint32_t leaf = description->n_leaves > 0 ? description->endpoint_leaf[endpoint] : FABRIC_NONE;
    REQUIRE(leaf == FABRIC_NONE || leaf < description->n_leaves, "endpoint %u has no leaf %u", endpoint, leaf);
    const bool has_nvlink = nvlink_domain != FABRIC_NONE;
    struct fabric_endpoint *place = &fabric->endpoints[endpoint];
    *place = (struct fabric_endpoint){
        .n_nics = leaf != FABRIC_NONE ? fabric->n_planes : 0,
        .n_nvlinks = has_nvlink ? links_per_gpu(description) : 0,
        .domain = nvlink_domain,
        .index_in_domain = has_nvlink ? index : 0,
        .leaf = leaf,
        .leaf_port = FABRIC_NONE,
    };
    fabric->devices[endpoint] = (struct fabric_device){
        .kind = FABRIC_ENDPOINT,
        .ordinal = endpoint,
        .n_ports = place->n_nics + place->n_nvlinks,
        .domain = nvlink_domain,
        .rack = rack,
        .rail = leaf != FABRIC_NONE && description->leaf_rail != NULL ? description->leaf_rail[leaf] : FABRIC_NONE,
        .pod = FABRIC_NONE,
    };
}

/** Chips of a domain, from device number first on. */
static void fill_chips(struct fabric *fabric, const struct irregular_description *description, uint32_t first,
                       uint32_t rack, uint32_t domain) {
    for (uint32_t chip = 0; chip < description->n_chips; chip++) {
        REQUIRE(description->links_per_chip[chip] > 0, "no link to chip %u", chip);
        fabric->devices[first + chip] = (struct fabric_device){
            .kind = FABRIC_NVSWITCH,
            .ordinal = domain * description->n_chips + chip,
            .n_ports = description->domain_gpus[rack] * description->links_per_chip[chip],
            .tier_index = chip,
            .domain = domain,
            .rack = rack,
            .rail = FABRIC_NONE,
            .pod = FABRIC_NONE,
        };
    }
}

static void fill_domains(struct fabric *fabric, const struct irregular_description *description) {
    uint32_t endpoint = 0, domain = 0;
    uint32_t chip = fabric->n_endpoints + fabric->n_switches;
    for (uint32_t rack = 0; rack < description->n_domains; rack++) {
        const uint32_t gpus = description->domain_gpus[rack];
        const bool has_nvlink = domain_has_nvlink(description, rack);
        for (uint32_t index = 0; index < gpus; index++) {
            fill_endpoint(fabric, description, endpoint + index, index, rack, has_nvlink ? domain : FABRIC_NONE);
        }
        if (has_nvlink) {
            fill_chips(fabric, description, chip, rack, domain);
            fabric->domains[domain] = (struct fabric_domain){
                .first_endpoint = endpoint, .n_endpoints = gpus, .first_chip = chip, .n_chips = description->n_chips};
            domain++;
            chip += description->n_chips;
        }
        endpoint += gpus;
    }
}

/** What is the same for all switches; ports that the description does not list come later. */
static struct fabric_device *fill_switch(struct fabric *fabric, uint32_t ordinal, enum fabric_tier tier, uint32_t plane,
                                         uint32_t tier_index, uint32_t n_ports) {
    const uint32_t device = fabric->n_endpoints + ordinal;
    fabric->switch_devices[ordinal] = device;
    fabric->devices[device] = (struct fabric_device){
        .kind = FABRIC_SWITCH,
        .ordinal = ordinal,
        .n_ports = n_ports,
        .tier = tier,
        .tier_index = tier_index,
        .domain = FABRIC_NONE,
        .rack = FABRIC_NONE,
        .rail = FABRIC_NONE,
        .pod = FABRIC_NONE,
        .plane = plane,
    };
    return &fabric->devices[device];
}

/** Ordinals of the first leaf, spine and super-spine of a plane. */
static uint32_t first_leaf(const struct fabric *fabric, uint32_t plane) {
    return plane * fabric->plane_leaves;
}

static uint32_t first_spine(const struct fabric *fabric, uint32_t plane) {
    return fabric->n_leaves + plane * (fabric->n_spines / fabric->n_planes);
}

static uint32_t first_super_spine(const struct fabric *fabric, uint32_t plane) {
    return fabric->n_leaves + fabric->n_spines + plane * (fabric->n_super_spines / fabric->n_planes);
}

static void fill_switches(struct fabric *fabric, const struct irregular_description *description, uint32_t plane) {
    const uint32_t leaves = description->n_leaves, spines = description->n_spines, supers = description->n_super_spines;
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        const uint32_t ports = uplinks_of(description->parallel_links, spines, leaf);
        struct fabric_device *device =
            fill_switch(fabric, first_leaf(fabric, plane) + leaf, FABRIC_TIER_LEAF, plane, leaf, ports);
        device->pod = leaf_pod(description, leaf);
        device->rail = description->leaf_rail != NULL ? description->leaf_rail[leaf] : FABRIC_NONE;
        device->cut_through = description->leaf_cut_through;
    }
    for (uint32_t spine = 0; spine < spines; spine++) {
        const uint32_t ports = downlinks_of(description->parallel_links, leaves, spines, spine) +
                               uplinks_of(description->super_links, supers, spine);
        struct fabric_device *device =
            fill_switch(fabric, first_spine(fabric, plane) + spine, FABRIC_TIER_SPINE, plane, spine, ports);
        device->pod = spine_pod(description, spine);
        device->cut_through = description->spine_cut_through;
        REQUIRE(spine == 0 || device->pod >= device[-1].pod, "spine %u is not in order of pods", spine);
    }
    for (uint32_t super = 0; super < supers; super++) {
        const uint32_t ports = downlinks_of(description->super_links, spines, supers, super);
        fill_switch(fabric, first_super_spine(fabric, plane) + super, FABRIC_TIER_SUPERSPINE, plane, super, ports)
            ->cut_through = description->super_spine_cut_through;
    }
}

/** Gives each leaf of a plane the ports of its endpoints, and the rack that all of them are in if it is one. */
static void fill_leaf_endpoints(struct fabric *fabric, uint32_t plane) {
    for (uint32_t endpoint = fabric->n_endpoints; endpoint-- > 0;) {
        const uint32_t leaf = fabric->endpoints[endpoint].leaf;
        if (leaf != FABRIC_NONE) {
            const uint32_t device = fabric->switch_devices[first_leaf(fabric, plane) + leaf];
            fabric->devices[device].n_ports++;
            fabric->devices[device].rack = fabric->devices[endpoint].rack;
        }
    }
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        const uint32_t number = fabric->endpoints[endpoint].leaf;
        if (number != FABRIC_NONE) {
            struct fabric_device *leaf = &fabric->devices[fabric->switch_devices[first_leaf(fabric, plane) + number]];
            leaf->rack = leaf->rack == fabric->devices[endpoint].rack ? leaf->rack : FABRIC_NONE;
        }
    }
}

static void number_ports(struct fabric *fabric) {
    uint64_t ports = 0;
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
        REQUIRE(fabric->devices[device].n_ports <= PORT_LIMIT, "device %u has %u ports", device,
                fabric->devices[device].n_ports);
        fabric->devices[device].first_port = (uint32_t)ports;
        ports += fabric->devices[device].n_ports;
        REQUIRE(ports < FABRIC_NONE, "more ports than can be numbered");
    }
    fabric->n_links = (uint32_t)ports;
    fabric->links = memory_allocate(fabric->n_links, sizeof(*fabric->links));
}

static void set_figures(struct fabric_link *link, const struct irregular_figures *figures) {
    REQUIRE(figures->rate_bits_per_s >= UINT64_C(8000000) && figures->rate_bits_per_s <= UINT64_C(1) << 43,
            "a link of %llu b/s", (unsigned long long)figures->rate_bits_per_s);
    REQUIRE(figures->latency_ps > 0 && figures->propagation_ps <= figures->latency_ps, "a link of latency %llu ps",
            (unsigned long long)figures->latency_ps);
    link->rate_bits_per_s = figures->rate_bits_per_s;
    link->ps_per_byte = rate_ps_per_byte(figures->rate_bits_per_s);
    link->latency_ps = figures->latency_ps;
    link->propagation_ps = figures->propagation_ps;
}

/** Plugs cables one after the other: each takes the next free port at either end. */
struct plugging {
    struct fabric *fabric;
    uint32_t *next; /* [n_devices] next free port of a device */
    uint32_t plane; /* that is being plugged */
};

/** One cable from the lower device up to the upper one. */
static void plug(struct plugging *plugging, enum fabric_link_kind kind, const struct irregular_cable *cable,
                 uint32_t lower, uint32_t upper) {
    struct fabric *fabric = plugging->fabric;
    const uint32_t lower_port = plugging->next[lower]++;
    const uint32_t upper_port = plugging->next[upper]++;
    const uint32_t up = fabric->devices[lower].first_port + lower_port;
    const uint32_t down = fabric->devices[upper].first_port + upper_port;
    fabric->links[up] = (struct fabric_link){.kind = kind,
                                             .tail_device = lower,
                                             .tail_port = lower_port,
                                             .head_device = upper,
                                             .head_port = upper_port,
                                             .reverse = down};
    fabric->links[down] = (struct fabric_link){.kind = kind,
                                               .tail_device = upper,
                                               .tail_port = upper_port,
                                               .head_device = lower,
                                               .head_port = lower_port,
                                               .reverse = up};
    set_figures(&fabric->links[up], &cable->up);
    set_figures(&fabric->links[down], &cable->down);
}

static void plug_hosts(struct plugging *plugging, const struct irregular_description *description) {
    struct fabric *fabric = plugging->fabric;
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        struct fabric_endpoint *place = &fabric->endpoints[endpoint];
        if (place->leaf != FABRIC_NONE) {
            const uint32_t leaf = fabric->switch_devices[first_leaf(fabric, plugging->plane) + place->leaf];
            place->leaf_port = plugging->next[leaf];
            plug(plugging, FABRIC_ETHERNET, &description->host, endpoint, leaf);
        }
    }
}

static void plug_nvlinks(struct plugging *plugging, const struct irregular_description *description) {
    struct fabric *fabric = plugging->fabric;
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        if (fabric->endpoints[endpoint].domain == FABRIC_NONE) {
            continue;
        }
        const struct fabric_domain *domain = &fabric->domains[fabric->endpoints[endpoint].domain];
        for (uint32_t chip = 0; chip < domain->n_chips; chip++) {
            for (uint32_t i = 0; i < description->links_per_chip[chip]; i++) {
                plug(plugging, FABRIC_NVLINK, &description->nvlink, endpoint, domain->first_chip + chip);
            }
        }
    }
}

/** Plugs parallel cables between two switches; the upper end's ports are returned. */
static struct fabric_route plug_group(struct plugging *plugging, const struct irregular_cable *cable, uint32_t lower,
                                      uint32_t upper, uint32_t count) {
    const struct fabric_route down = {.first_port = (uint16_t)plugging->next[upper], .count = (uint16_t)count};
    for (uint32_t i = 0; i < count; i++) {
        plug(plugging, FABRIC_ETHERNET, cable, lower, upper);
    }
    return down;
}

/** Plugs all cables of one leaf, spine by spine, and notes which ports of each spine lead to the leaf. */
static void plug_leaf(struct plugging *plugging, const struct irregular_description *description, uint32_t leaf) {
    struct fabric *fabric = plugging->fabric;
    const uint32_t lower = fabric->switch_devices[first_leaf(fabric, plugging->plane) + leaf];
    for (uint32_t spine = 0; spine < description->n_spines; spine++) {
        const uint32_t count = description->parallel_links[(uint64_t)leaf * description->n_spines + spine];
        const bool together = leaf_pod(description, leaf) == spine_pod(description, spine);
        REQUIRE((count > 0) == together, "leaf %u has %u cables to spine %u", leaf, count, spine);
        const uint32_t ordinal = first_spine(fabric, plugging->plane) + spine;
        if (together) {
            fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + leaf] =
                plug_group(plugging, &description->uplink, lower, fabric->switch_devices[ordinal], count);
        }
    }
}

/** Leads a switch to leaves of its plane through these ports: those of a pod (inside), or those of all other pods. */
static void set_routes(struct fabric *fabric, uint32_t ordinal, uint32_t pod, bool inside, struct fabric_route route) {
    struct fabric_route *routes = &fabric->routes[(uint64_t)ordinal * fabric->plane_leaves];
    for (uint32_t leaf = 0; leaf < fabric->plane_leaves; leaf++) {
        if ((fabric->devices[fabric->switch_devices[leaf]].pod == pod) == inside) {
            routes[leaf] = route;
        }
    }
}

/** Ports of a device from `first` to the last that is plugged. */
static struct fabric_route ports_from(const struct plugging *plugging, uint32_t device, uint32_t first) {
    return (struct fabric_route){.first_port = (uint16_t)first, .count = (uint16_t)(plugging->next[device] - first)};
}

/** From a leaf all its uplinks lead to every other leaf, of its own pod or another. */
static void plug_uplinks(struct plugging *plugging, const struct irregular_description *description) {
    struct fabric *fabric = plugging->fabric;
    for (uint32_t leaf = 0; leaf < fabric->plane_leaves; leaf++) {
        const uint32_t ordinal = first_leaf(fabric, plugging->plane) + leaf;
        const uint32_t device = fabric->switch_devices[ordinal], first = plugging->next[device];
        plug_leaf(plugging, description, leaf);
        const struct fabric_route up = ports_from(plugging, device, first);
        set_routes(fabric, ordinal, FABRIC_NONE, false, up);
        fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + leaf] = (struct fabric_route){0};
    }
}

/** Plugs all cables of one super-spine, spine by spine: its ports to the spines of a pod lead to all leaves of the pod. */
static void plug_super_spine(struct plugging *plugging, const struct irregular_description *description,
                             uint32_t super) {
    struct fabric *fabric = plugging->fabric;
    const uint32_t ordinal = first_super_spine(fabric, plugging->plane) + super;
    const uint32_t upper = fabric->switch_devices[ordinal];
    uint32_t spine = 0;
    for (uint32_t pod = 0; pod < fabric->n_pods; pod++) {
        const uint32_t first = plugging->next[upper];
        for (; spine < description->n_spines && spine_pod(description, spine) == pod; spine++) {
            plug_group(plugging, &description->super_uplink,
                       fabric->switch_devices[first_spine(fabric, plugging->plane) + spine], upper,
                       description->super_links[(uint64_t)spine * description->n_super_spines + super]);
        }
        const struct fabric_route down = ports_from(plugging, upper, first);
        REQUIRE(down.count > 0, "super-spine %u does not reach pod %u", super, pod);
        set_routes(fabric, ordinal, pod, true, down);
    }
}

/** From a spine all its uplinks lead to every leaf of another pod. */
static void plug_super_uplinks(struct plugging *plugging, const struct irregular_description *description) {
    struct fabric *fabric = plugging->fabric;
    const uint32_t *devices = &fabric->switch_devices[first_spine(fabric, plugging->plane)];
    uint32_t *first = memory_allocate(description->n_spines, sizeof(*first));
    for (uint32_t spine = 0; spine < description->n_spines; spine++) {
        first[spine] = plugging->next[devices[spine]];
    }
    for (uint32_t super = 0; super < description->n_super_spines; super++) {
        plug_super_spine(plugging, description, super);
    }
    for (uint32_t spine = 0; spine < description->n_spines && description->n_super_spines > 0; spine++) {
        const struct fabric_route up = ports_from(plugging, devices[spine], first[spine]);
        REQUIRE(up.count > 0, "spine %u reaches no super-spine", spine);
        set_routes(fabric, fabric->devices[devices[spine]].ordinal, spine_pod(description, spine), false, up);
    }
    free(first);
}

static void find_smallest_latency(struct fabric *fabric) {
    fabric->smallest_latency_ps = TIME_NEVER;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        if (fabric->links[link].latency_ps < fabric->smallest_latency_ps) {
            fabric->smallest_latency_ps = fabric->links[link].latency_ps;
        }
    }
}

/** Plugs everything: NIC ports of all planes before NVLinks, which come after them on the endpoints. */
static void plug_all(struct fabric *fabric, const struct irregular_description *description) {
    struct plugging plugging = {.fabric = fabric, .next = memory_allocate(fabric->n_devices, sizeof(uint32_t))};
    for (plugging.plane = 0; plugging.plane < fabric->n_planes; plugging.plane++) {
        plug_hosts(&plugging, description);
    }
    plug_nvlinks(&plugging, description);
    for (plugging.plane = 0; plugging.plane < fabric->n_planes; plugging.plane++) {
        plug_uplinks(&plugging, description);
        plug_super_uplinks(&plugging, description);
    }
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
        REQUIRE(plugging.next[device] == fabric->devices[device].n_ports, "device %u has open ports", device);
    }
    free(plugging.next);
}

struct fabric *irregular_build(const struct irregular_description *description) {
    struct fabric *fabric = memory_allocate(1, sizeof(*fabric));
    count_devices(fabric, description);
    allocate(fabric);
    fill_domains(fabric, description);
    for (uint32_t plane = 0; plane < fabric->n_planes; plane++) {
        fill_switches(fabric, description, plane);
        fill_leaf_endpoints(fabric, plane);
    }
    number_ports(fabric);
    plug_all(fabric, description);
    find_smallest_latency(fabric);
    return fabric;
}

void irregular_set_link(struct fabric *fabric, uint32_t link, const struct irregular_figures *figures) {
    REQUIRE(link < fabric->n_links, "no link %u", link);
    set_figures(&fabric->links[link], figures);
    find_smallest_latency(fabric);
}

void irregular_set_cut_through(struct fabric *fabric, uint32_t device, bool cut_through) {
    REQUIRE(device < fabric->n_devices && fabric->devices[device].kind == FABRIC_SWITCH, "device %u is no switch",
            device);
    fabric->devices[device].cut_through = cut_through;
}
