// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/builder.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "fabric/irregular.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RATE_LOWEST UINT64_C(8000000)            /* what base/rate.h can represent */
#define RATE_HIGHEST (UINT64_C(1) << 43)         /* likewise */
#define LATENCY_LIMIT_PS UINT64_C(1000000000000) /* one second: longer is a slip of units */

/** Counts that follow from a topology, before anything is allocated. */
struct shape {
    uint64_t endpoints;
    uint64_t leaves;
    uint64_t leaves_per_rail; /* rail wiring */
    uint32_t parallel;        /* cables of a leaf to each spine */
};

/** Records a contradiction in the topology's file. Returns false. */
#define REFUSE(error, topology, id, ...)                                                                               \
    (error_set(error, EXIT_CODE_CONFIGURATION, id, __VA_ARGS__), name_file(error, topology))

static bool name_file(struct error *error, const struct topology *topology) {
    if (error != NULL) {
        _Static_assert(sizeof(error->file) >= sizeof(topology->path), "a topology's path fits an error");
        memcpy(error->file, topology->path, sizeof(topology->path));
    }
    return false;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t divide_up(uint64_t dividend, uint64_t divisor) {
    return (dividend + divisor - 1) / divisor;
}

static bool has_rails(const struct topology *topology) {
    return topology->fabric.wiring == TOPOLOGY_WIRING_RAIL && topology->fabric.spines > 0;
}

static bool has_nvlink(const struct topology *topology) {
    return topology->nvlink.gpus > 1 && topology->gpus_used > 1;
}

static bool check_domains(const struct topology *topology, struct error *error) {
    const struct topology_nvlink *nvlink = &topology->nvlink;
    if (topology->racks == 0 || topology->gpus_used == 0) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE, "a cluster needs at least one rack and one GPU of it");
    }
    if (topology->gpus_used > nvlink->gpus) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                      "%" PRIu32 " GPUs of each NVLink domain are to be used, but it has %" PRIu32, topology->gpus_used,
                      nvlink->gpus);
    }
    if (!has_nvlink(topology)) {
        return true;
    }
    if (nvlink->chips == 0 || nvlink->links_per_gpu < nvlink->chips) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_NVLINK,
                      "%" PRIu32 " NVLinks of a GPU cannot reach each of %" PRIu32 " NVSwitch chips",
                      nvlink->links_per_gpu, nvlink->chips);
    }
    const uint64_t per_chip = divide_up(nvlink->links_per_gpu, nvlink->chips);
    if (per_chip * topology->gpus_used > BUILDER_PORT_LIMIT || nvlink->links_per_gpu >= BUILDER_PORT_LIMIT) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_NVLINK,
                      "an NVSwitch chip or GPU would have more than %d ports", BUILDER_PORT_LIMIT);
    }
    return true;
}

static bool check_leaf(const struct topology *topology, struct error *error) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t uplinks = fabric->spines > 0 ? fabric->leaf_uplinks : 0;
    if (fabric->leaf_downlinks == 0) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS, "a leaf needs at least one downlink");
    }
    if (fabric->leaf_downlinks + uplinks > smaller(topology->leaf.ports, BUILDER_PORT_LIMIT)) {
        REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS,
               "%" PRIu32 " downlinks and %" PRIu64 " uplinks do not fit the %" PRIu32 " ports of a leaf",
               fabric->leaf_downlinks, uplinks, topology->leaf.ports);
        error_hint(error, "downlinks + uplinks may be at most %" PRIu64,
                   smaller(topology->leaf.ports, BUILDER_PORT_LIMIT));
        return false;
    }
    if (fabric->spines > 0 && (uplinks == 0 || uplinks % fabric->spines != 0)) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                      "%" PRIu64 " uplinks of a leaf cannot be spread evenly over %" PRIu32 " spines", uplinks,
                      fabric->spines);
    }
    return true;
}

static bool check_rails(const struct topology *topology, struct error *error) {
    const uint32_t rails = topology->fabric.rails;
    if (!has_rails(topology)) {
        return true;
    }
    if (rails == 0 || topology->gpus_used % rails != 0) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_RAILS,
                      "%" PRIu32 " rails do not divide the %" PRIu32 " GPUs used of each NVLink domain", rails,
                      topology->gpus_used);
    }
    return true;
}

/** Counts endpoints and leaves. Downlinks and rails have been checked. */
static struct shape measure(const struct topology *topology) {
    const struct topology_fabric *fabric = &topology->fabric;
    struct shape shape = {.endpoints = (uint64_t)topology->racks * topology->gpus_used};
    if (fabric->spines > 0) {
        shape.parallel = fabric->leaf_uplinks / fabric->spines;
    }
    if (has_rails(topology)) {
        shape.leaves_per_rail = divide_up(shape.endpoints / fabric->rails, fabric->leaf_downlinks);
        shape.leaves = shape.leaves_per_rail * fabric->rails;
    } else {
        shape.leaves = divide_up(shape.endpoints, fabric->leaf_downlinks);
    }
    return shape;
}

static bool check_switches(const struct topology *topology, const struct shape *shape, struct error *error) {
    const uint32_t spines = topology->fabric.spines;
    if (spines == 0 && shape->leaves > 1) {
        REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
               "%" PRIu64 " GPUs do not fit one leaf of %" PRIu32 " downlinks, and there are no spines",
               shape->endpoints, topology->fabric.leaf_downlinks);
        error_hint(error, "give spines, or use at most %" PRIu32 " GPUs", topology->fabric.leaf_downlinks);
        return false;
    }
    if (shape->leaves + spines > BUILDER_SWITCH_LIMIT) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                      "%" PRIu64 " leaves and %" PRIu32 " spines are more than %d switches", shape->leaves, spines,
                      BUILDER_SWITCH_LIMIT);
    }
    if (spines > 0 && shape->leaves * shape->parallel > smaller(topology->spine.ports, BUILDER_PORT_LIMIT)) {
        REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS,
               "%" PRIu64 " leaves with %" PRIu32 " links to each spine do not fit the %" PRIu32 " ports of a spine",
               shape->leaves, shape->parallel, topology->spine.ports);
        error_hint(error, "at most %" PRIu64 " leaves fit; use more spines or switches with more ports",
                   smaller(topology->spine.ports, BUILDER_PORT_LIMIT) / shape->parallel);
        return false;
    }
    return true;
}

/** Shares of a rate that is usable: a NaN is refused too. */
static bool check_fractions(const struct topology *topology, struct error *error) {
    const double nic = topology->nic.usable_fraction, nvlink = topology->nvlink.usable_fraction;
    if (!(nic > 0 && nic <= 1) || (has_nvlink(topology) && !(nvlink > 0 && nvlink <= 1))) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_RATE, "a usable fraction must be more than 0 and at most 1");
    }
    return true;
}

/** All ports together, and all devices, must be numbers of 32 bits. */
static bool check_size(const struct topology *topology, const struct shape *shape, struct error *error) {
    const uint64_t nvlinks = has_nvlink(topology) ? 2 * (uint64_t)topology->nvlink.links_per_gpu : 0;
    const uint64_t uplinks = 2 * shape->leaves * shape->parallel * topology->fabric.spines;
    /* endpoints < 2^64 and nvlinks < 2^18: only the product can overflow */
    if (shape->endpoints >= FABRIC_NONE || shape->endpoints * (nvlinks + 2) + uplinks >= FABRIC_NONE) {
        return REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE, "%" PRIu64 " GPUs have more links than can be numbered",
                      shape->endpoints);
    }
    return true;
}

/** Refuses figures outside what the engine's arithmetic can represent. */
static bool check_figures(const struct topology *topology, const char *what, const struct irregular_figures *figures,
                          struct error *error) {
    if (figures->rate_bits_per_s < RATE_LOWEST || figures->rate_bits_per_s > RATE_HIGHEST) {
        REFUSE(error, topology, ERROR_ID_CONFLICT_RATE, "the link %s would run at %" PRIu64 " b/s", what,
               figures->rate_bits_per_s);
        error_hint(error, "8 Mb/s to 8796 Gb/s can be simulated");
        return false;
    }
    if (figures->latency_ps == 0 || figures->latency_ps > LATENCY_LIMIT_PS) {
        REFUSE(error, topology, ERROR_ID_CONFLICT_RATE, "the link %s would have a latency of %" PRIu64 " ps", what,
               figures->latency_ps);
        error_hint(error, "more than 0 and at most 1 s can be simulated");
        return false;
    }
    return true;
}

static bool check_cable(const struct topology *topology, const char *up, const char *down,
                        const struct irregular_cable *cable, struct error *error) {
    return check_figures(topology, up, &cable->up, error) && check_figures(topology, down, &cable->down, error);
}

static bool check_cables(const struct topology *topology, const struct irregular_description *description,
                         struct error *error) {
    if (!check_cable(topology, "from NIC to leaf", "from leaf to NIC", &description->host, error)) {
        return false;
    }
    if (description->n_spines > 0 &&
        !check_cable(topology, "from leaf to spine", "from spine to leaf", &description->uplink, error)) {
        return false;
    }
    return description->n_chips == 0 ||
           check_cable(topology, "from GPU to NVSwitch", "from NVSwitch to GPU", &description->nvlink, error);
}

/** rate × fraction to the nearest b/s. */
static uint64_t usable(uint64_t rate_bits_per_s, double fraction) {
    return (uint64_t)((double)rate_bits_per_s * fraction + 0.5);
}

/** One direction of an Ethernet cable: fixed_ps is the latency of the devices that it counts. A product past 64 bits saturates and is refused later. */
static struct irregular_figures ethernet_figures(const struct topology_fabric *fabric, uint64_t rate_bits_per_s,
                                                 uint64_t metres, uint64_t fixed_ps) {
    struct irregular_figures figures = {.rate_bits_per_s = rate_bits_per_s};
    if (fabric->link_latency_ps > 0) {
        figures.latency_ps = fabric->link_latency_ps;
        figures.propagation_ps = fabric->link_latency_ps;
        return figures;
    }
    if (__builtin_mul_overflow(metres, fabric->cable_latency_ps_per_m, &figures.propagation_ps) ||
        __builtin_add_overflow(figures.propagation_ps, fixed_ps, &figures.latency_ps)) {
        figures.latency_ps = UINT64_MAX;
    }
    return figures;
}

static void fill_cables(const struct topology *topology, struct irregular_description *description) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t nic_rate = usable(topology->nic.rate_bits_per_s, topology->nic.usable_fraction);
    const uint64_t host_rate = smaller(nic_rate, topology->leaf.port_rate_bits_per_s);
    const uint64_t uplink_rate = smaller(topology->leaf.port_rate_bits_per_s, topology->spine.port_rate_bits_per_s);
    const double nvlink_fraction = has_nvlink(topology) ? topology->nvlink.usable_fraction : 0;
    const uint64_t nvlink_rate = usable(topology->nvlink.link_rate_bits_per_s, nvlink_fraction);
    const uint64_t nic_ps = topology->nic.latency_ps;
    const uint64_t leaf_ps = topology->leaf.latency_ps;
    description->host.up = ethernet_figures(fabric, host_rate, fabric->host_cable_m, nic_ps + leaf_ps);
    description->host.down = ethernet_figures(fabric, host_rate, fabric->host_cable_m, nic_ps);
    description->uplink.up = ethernet_figures(fabric, uplink_rate, fabric->spine_cable_m, topology->spine.latency_ps);
    description->uplink.down = ethernet_figures(fabric, uplink_rate, fabric->spine_cable_m, leaf_ps);
    description->nvlink.up =
        (struct irregular_figures){.rate_bits_per_s = nvlink_rate, .latency_ps = topology->nvlink.latency_up_ps};
    description->nvlink.down =
        (struct irregular_figures){.rate_bits_per_s = nvlink_rate, .latency_ps = topology->nvlink.latency_down_ps};
}

/** Everything about a topology that needs no list. */
static bool describe_figures(const struct topology *topology, const struct shape *shape,
                             struct irregular_description *description, struct error *error) {
    *description = (struct irregular_description){
        .n_domains = topology->racks,
        .n_chips = has_nvlink(topology) ? topology->nvlink.chips : 0,
        .n_leaves = (uint32_t)shape->leaves,
        .n_spines = topology->fabric.spines,
        .leaf_cut_through = topology->leaf.cut_through,
        .spine_cut_through = topology->spine.cut_through,
    };
    fill_cables(topology, description);
    return check_cables(topology, description, error);
}

/** The same number for all members of a list. */
static uint32_t *list_of(uint64_t count, uint32_t value) {
    uint32_t *list = memory_allocate(count, sizeof(*list));
    for (uint64_t i = 0; i < count; i++) {
        list[i] = value;
    }
    return list;
}

/**
 * Links of a GPU to each chip: evenly, and what is left over one each to the outermost chips in turn (18 over 4 chips: 5, 4, 4, 5
 * as on HGX H100; commonly stated, but no primary source was found).
 */
static uint32_t *list_links_per_chip(const struct topology_nvlink *nvlink) {
    uint32_t *links = list_of(nvlink->chips, nvlink->links_per_gpu / nvlink->chips);
    const uint32_t rest = nvlink->links_per_gpu % nvlink->chips;
    for (uint32_t i = 0; i < rest; i++) {
        links[i % 2 == 0 ? i / 2 : nvlink->chips - 1 - i / 2]++;
    }
    return links;
}

static uint32_t *list_endpoint_leaves(const struct topology *topology, const struct shape *shape) {
    const uint32_t downlinks = topology->fabric.leaf_downlinks;
    uint32_t *leaves = memory_allocate(shape->endpoints, sizeof(*leaves));
    for (uint64_t endpoint = 0; endpoint < shape->endpoints; endpoint++) {
        if (!has_rails(topology)) {
            leaves[endpoint] = (uint32_t)(endpoint / downlinks);
            continue;
        }
        const uint32_t rails = topology->fabric.rails;
        const uint64_t domain = endpoint / topology->gpus_used, index = endpoint % topology->gpus_used;
        const uint64_t place = domain * (topology->gpus_used / rails) + index / rails; /* within its rail */
        leaves[endpoint] = (uint32_t)(index % rails * shape->leaves_per_rail + place / downlinks);
    }
    return leaves;
}

static uint32_t *list_leaf_rails(const struct topology *topology, const struct shape *shape) {
    if (!has_rails(topology)) {
        return NULL;
    }
    uint32_t *rails = memory_allocate(shape->leaves, sizeof(*rails));
    for (uint64_t leaf = 0; leaf < shape->leaves; leaf++) {
        rails[leaf] = (uint32_t)(leaf / shape->leaves_per_rail);
    }
    return rails;
}

static struct fabric *build(const struct topology *topology, const struct shape *shape,
                            struct irregular_description *description) {
    uint32_t *domain_gpus = list_of(topology->racks, topology->gpus_used);
    uint32_t *links_per_chip = description->n_chips > 0 ? list_links_per_chip(&topology->nvlink) : NULL;
    uint32_t *endpoint_leaf = list_endpoint_leaves(topology, shape);
    uint32_t *leaf_rail = list_leaf_rails(topology, shape);
    uint32_t *parallel_links = list_of(shape->leaves * description->n_spines, shape->parallel);
    description->domain_gpus = domain_gpus;
    description->links_per_chip = links_per_chip;
    description->endpoint_leaf = endpoint_leaf;
    description->leaf_rail = leaf_rail;
    description->parallel_links = parallel_links;
    struct fabric *fabric = irregular_build(description);
    free(domain_gpus);
    free(links_per_chip);
    free(endpoint_leaf);
    free(leaf_rail);
    free(parallel_links);
    return fabric;
}

struct fabric *fabric_build_plane(const struct topology *topology, struct error *error) {
    if (topology->fabric.super_spines > 0) {
        REFUSE(error, topology, ERROR_ID_UNSUPPORTED, "super-spines (three tiers) are not supported by this version");
        error_hint(error, "set super_spines to 0 and use at most as many leaves as a spine has ports");
        return NULL;
    }
    if (!check_domains(topology, error) || !check_leaf(topology, error) || !check_rails(topology, error)) {
        return NULL;
    }
    const struct shape shape = measure(topology);
    struct irregular_description description;
    if (!check_switches(topology, &shape, error) || !check_fractions(topology, error) ||
        !check_size(topology, &shape, error) || !describe_figures(topology, &shape, &description, error)) {
        return NULL;
    }
    return build(topology, &shape, &description);
}

struct fabric *fabric_build(const struct topology *topology, struct error *error) {
    if (topology->nic.planes != 1) {
        REFUSE(error, topology, ERROR_ID_UNSUPPORTED,
               "%" PRIu32 " NIC planes a GPU are described, not simulated by this version", topology->nic.planes);
        error_hint(error, "set planes to 1 to simulate one plane on its own; `moefabric topology` describes the whole");
        return NULL;
    }
    return fabric_build_plane(topology, error);
}
