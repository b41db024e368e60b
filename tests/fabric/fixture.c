// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixture.h"

#include "base/rate.h"

#include <stdlib.h>

#define GIGA UINT64_C(1000000000)

static struct topology_switch switch_of(uint32_t ports, uint64_t rate, bool cut_through) {
    struct topology_switch kind = {.model = "SN5600",
                                   .ports = ports,
                                   .port_rate_bits_per_s = rate,
                                   .latency_ps = 600000,
                                   .cut_through = cut_through,
                                   .power_typical_watts = 1700,
                                   .power_maximum_watts = 2300};
    return kind;
}

struct topology fixture_racks(void) {
    struct topology topology = {.name = "racks", .racks = 4, .gpus_used = 64, .path = "racks.yaml"};
    topology.nvlink = (struct topology_nvlink){.gpus = 72,
                                               .chips = 18,
                                               .links_per_gpu = 18,
                                               .link_rate_bits_per_s = 400 * GIGA,
                                               .usable_fraction = 0.8,
                                               .latency_up_ps = 300000,
                                               .latency_down_ps = 310000,
                                               .record_bytes = 4096};
    topology.nic = (struct topology_nic){.planes = 1,
                                         .rate_bits_per_s = 400 * GIGA,
                                         .usable_fraction = 1.0,
                                         .latency_ps = 500000,
                                         .payload_bytes = 4096,
                                         .header_bytes = 82};
    topology.leaf = switch_of(128, 400 * GIGA, true);
    topology.spine = switch_of(128, 400 * GIGA, true);
    topology.fabric = (struct topology_fabric){.wiring = TOPOLOGY_WIRING_RACK,
                                               .leaf_downlinks = 64,
                                               .leaf_uplinks = 64,
                                               .spines = 2,
                                               .host_cable_m = 3,
                                               .spine_cable_m = 30,
                                               .cable_latency_ps_per_m = 5000};
    return topology;
}

struct topology fixture_large(void) {
    struct topology topology = fixture_racks();
    topology.racks = 128;
    topology.fabric.spines = 64;
    return topology;
}

struct topology fixture_rails(void) {
    struct topology topology = fixture_racks();
    topology.racks = 16;
    topology.gpus_used = 8;
    topology.nvlink.gpus = 8;
    topology.nvlink.chips = 4;
    topology.fabric.wiring = TOPOLOGY_WIRING_RAIL;
    topology.fabric.rails = 4;
    topology.fabric.leaf_downlinks = 16;
    topology.fabric.leaf_uplinks = 16;
    topology.fabric.spines = 4;
    return topology;
}

struct topology fixture_hosts(void) {
    struct topology topology = fixture_racks();
    topology.racks = 48;
    topology.gpus_used = 1;
    topology.nvlink = (struct topology_nvlink){.gpus = 1};
    topology.nic.rate_bits_per_s = 100 * GIGA;
    topology.leaf = switch_of(32, 100 * GIGA, false);
    topology.spine = switch_of(32, 100 * GIGA, false);
    topology.fabric.leaf_downlinks = 16;
    topology.fabric.leaf_uplinks = 8;
    topology.fabric.spines = 4;
    topology.fabric.link_latency_ps = 500000;
    return topology;
}

struct topology fixture_pods(void) {
    struct topology topology = fixture_hosts();
    topology.racks = 20;
    topology.fabric.leaf_downlinks = 4;
    topology.fabric.leaf_uplinks = 4;
    topology.fabric.spines = 2;
    topology.fabric.pod_racks = 8;
    topology.fabric.spine_uplinks = 4;
    topology.fabric.super_spines = 4;
    topology.fabric.super_spine_groups = 2;
    return topology;
}

/** Switches between every switch and a leaf: a search from the leaf on, wave by wave. FABRIC_NONE where there is no way. */
static void find_distances(const struct fabric *fabric, uint32_t leaf, uint32_t *distance) {
    bool more = true;
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        distance[i] = i == leaf ? 0 : FABRIC_NONE;
    }
    for (uint32_t wave = 0; more; wave++) {
        more = false;
        for (uint32_t number = 0; number < fabric->n_links; number++) {
            const struct fabric_device *tail = &fabric->devices[fabric->links[number].tail_device];
            const struct fabric_device *head = &fabric->devices[fabric->links[number].head_device];
            if (tail->kind == FABRIC_SWITCH && head->kind == FABRIC_SWITCH && distance[head->ordinal] == wave &&
                distance[tail->ordinal] == FABRIC_NONE) {
                distance[tail->ordinal] = wave + 1;
                more = true;
            }
        }
    }
}

/** Ports of one switch towards a leaf. */
static void check_route(const struct fabric *fabric, uint32_t ordinal, uint32_t leaf, const uint32_t *distance) {
    const struct fabric_device *device = &fabric->devices[fabric->switch_devices[ordinal]];
    const struct fabric_route route =
        fabric->routes[(uint64_t)ordinal * fabric->plane_leaves + leaf % fabric->plane_leaves];
    for (uint32_t port = 0; port < device->n_ports; port++) {
        const struct fabric_device *head = &fabric->devices[fabric->links[device->first_port + port].head_device];
        const bool nearer = ordinal != leaf && head->kind == FABRIC_SWITCH && distance[ordinal] != FABRIC_NONE &&
                            distance[head->ordinal] + 1 == distance[ordinal];
        const bool listed = port >= route.first_port && port < (uint32_t)route.first_port + route.count;
        FIXTURE_EXPECT(nearer == listed);
    }
}

void fixture_check_routes(const struct fabric *fabric) {
    uint32_t *distance = calloc(fabric->n_switches, sizeof(*distance));
    for (uint32_t leaf = 0; leaf < fabric->n_leaves; leaf++) {
        find_distances(fabric, leaf, distance);
        for (uint32_t ordinal = 0; ordinal < fabric->n_switches; ordinal++) {
            if (fabric->devices[fabric->switch_devices[ordinal]].plane != leaf / fabric->plane_leaves) {
                FIXTURE_EXPECT(distance[ordinal] == FABRIC_NONE); /* planes never meet */
                continue;
            }
            check_route(fabric, ordinal, leaf, distance);
        }
    }
    free(distance);
}

static void check_links(const struct fabric *fabric) {
    uint64_t smallest = TIME_NEVER;
    for (uint32_t number = 0; number < fabric->n_links; number++) {
        const struct fabric_link *link = &fabric->links[number];
        const struct fabric_link *back = &fabric->links[link->reverse];
        FIXTURE_EXPECT(fabric->devices[link->tail_device].first_port + link->tail_port == number);
        FIXTURE_EXPECT(back->reverse == number);
        FIXTURE_EXPECT(link->reverse != number);
        FIXTURE_EXPECT(back->tail_device == link->head_device);
        FIXTURE_EXPECT(back->tail_port == link->head_port);
        FIXTURE_EXPECT(back->head_device == link->tail_device);
        FIXTURE_EXPECT(back->head_port == link->tail_port);
        FIXTURE_EXPECT(back->kind == link->kind);
        FIXTURE_EXPECT(link->ps_per_byte == rate_ps_per_byte(link->rate_bits_per_s));
        FIXTURE_EXPECT(link->propagation_ps <= link->latency_ps);
        smallest = link->latency_ps < smallest ? link->latency_ps : smallest;
    }
    FIXTURE_EXPECT(fabric->smallest_latency_ps == smallest);
}

static void check_devices(const struct fabric *fabric) {
    uint32_t port = 0;
    for (uint32_t number = 0; number < fabric->n_devices; number++) {
        const struct fabric_device *device = &fabric->devices[number];
        const uint32_t n_below = device->kind == FABRIC_ENDPOINT ? 0
                                 : device->kind == FABRIC_SWITCH ? fabric->n_endpoints
                                                                 : fabric->n_endpoints + fabric->n_switches;
        FIXTURE_EXPECT(device->first_port == port);
        FIXTURE_EXPECT(device->ordinal == number - n_below);
        port += device->n_ports;
    }
    FIXTURE_EXPECT(port == fabric->n_links);
    FIXTURE_EXPECT(fabric->n_devices == fabric->n_endpoints + fabric->n_switches + fabric->n_chips);
}

/** The NIC first and plugged into the leaf that says so, NVLinks after it in chip order, where the chip's route leads back. */
static void check_endpoint(const struct fabric *fabric, uint32_t endpoint) {
    const struct fabric_endpoint *place = &fabric->endpoints[endpoint];
    const struct fabric_link *links = &fabric->links[fabric->devices[endpoint].first_port];
    FIXTURE_EXPECT(fabric->devices[endpoint].n_ports == place->n_nics + place->n_nvlinks);
    if (place->n_nics > 0) {
        FIXTURE_EXPECT(links[0].kind == FABRIC_ETHERNET);
        FIXTURE_EXPECT(links[0].head_device == fabric->switch_devices[place->leaf]);
        FIXTURE_EXPECT(links[0].head_port == place->leaf_port);
        const struct fabric_route own = fabric_route_to(fabric, links[0].head_device, endpoint);
        FIXTURE_EXPECT(own.count == 1);
        FIXTURE_EXPECT(own.first_port == place->leaf_port);
    }
    for (uint32_t port = place->n_nics; port < place->n_nics + place->n_nvlinks; port++) {
        const struct fabric_route back = fabric_chip_route_to(fabric, links[port].head_device, endpoint);
        FIXTURE_EXPECT(links[port].kind == FABRIC_NVLINK);
        FIXTURE_EXPECT(port == place->n_nics || links[port].head_device >= links[port - 1].head_device);
        FIXTURE_EXPECT(links[port].head_port >= back.first_port);
        FIXTURE_EXPECT(links[port].head_port < (uint32_t)back.first_port + back.count);
        FIXTURE_EXPECT(fabric->devices[links[port].head_device].domain == place->domain);
    }
}

void fixture_check_graph(const struct fabric *fabric) {
    check_devices(fabric);
    check_links(fabric);
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        check_endpoint(fabric, endpoint);
    }
    for (uint32_t number = 0; number < fabric->n_domains; number++) {
        const struct fabric_domain *domain = &fabric->domains[number];
        for (uint32_t i = 0; i < domain->n_endpoints; i++) {
            FIXTURE_EXPECT(fabric->endpoints[domain->first_endpoint + i].domain == number);
            FIXTURE_EXPECT(fabric->endpoints[domain->first_endpoint + i].index_in_domain == i);
        }
    }
}

unsigned fixture_follow(const struct fabric *fabric, uint32_t source, uint32_t destination, unsigned pick,
                        unsigned limit) {
    unsigned switches = 0;
    uint32_t device = fabric->links[fabric->devices[source].first_port].head_device;
    while (device != destination) {
        FIXTURE_EXPECT(fabric->devices[device].kind == FABRIC_SWITCH);
        FIXTURE_EXPECT(switches < limit);
        const struct fabric_route route = fabric_route_to(fabric, device, destination);
        FIXTURE_EXPECT(route.count > 0);
        const uint32_t port = route.first_port + pick % route.count;
        FIXTURE_EXPECT(port < fabric->devices[device].n_ports);
        device = fabric->links[fabric->devices[device].first_port + port].head_device;
        switches++;
    }
    return switches;
}
