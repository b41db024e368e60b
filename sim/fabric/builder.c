// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/builder.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "config/gpu_list.h"
#include "fabric/irregular.h"
#include "fabric/shape.h"

#include <inttypes.h>
#include <stdlib.h>

#define RATE_LOWEST UINT64_C(8000000)            /* what base/rate.h can represent */
#define RATE_HIGHEST (UINT64_C(1) << 43)         /* likewise */
#define LATENCY_LIMIT_PS UINT64_C(1000000000000) /* one second: longer is a slip of units */

/** Refuses figures outside what the engine's arithmetic can represent. */
static bool check_figures(const struct topology *topology, const char *what, const struct irregular_figures *figures,
                          struct error *error) {
    if (figures->rate_bits_per_s < RATE_LOWEST || figures->rate_bits_per_s > RATE_HIGHEST) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_RATE, "the link %s would run at %" PRIu64 " b/s", what,
                     figures->rate_bits_per_s);
        error_hint(error, "8 Mb/s to 8796 Gb/s can be simulated");
        return false;
    }
    if (figures->latency_ps == 0 || figures->latency_ps > LATENCY_LIMIT_PS) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_RATE, "the link %s would have a latency of %" PRIu64 " ps",
                     what, figures->latency_ps);
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
    if (description->n_super_spines > 0 &&
        !check_cable(topology, "from spine to super-spine", "from super-spine to spine", &description->super_uplink,
                     error)) {
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
    const uint64_t host_rate = number_smaller(nic_rate, topology->leaf.port_rate_bits_per_s);
    const uint64_t uplink_rate =
        number_smaller(topology->leaf.port_rate_bits_per_s, topology->spine.port_rate_bits_per_s);
    const double nvlink_fraction = shape_has_nvlink(topology) ? topology->nvlink.usable_fraction : 0;
    const uint64_t nvlink_rate = usable(topology->nvlink.link_rate_bits_per_s, nvlink_fraction);
    const uint64_t nic_ps = topology->nic.latency_ps;
    const uint64_t leaf_ps = topology->leaf.latency_ps;
    description->host.up = ethernet_figures(fabric, host_rate, fabric->host_cable_m, nic_ps + leaf_ps);
    description->host.down = ethernet_figures(fabric, host_rate, fabric->host_cable_m, nic_ps);
    description->uplink.up = ethernet_figures(fabric, uplink_rate, fabric->spine_cable_m, topology->spine.latency_ps);
    description->uplink.down = ethernet_figures(fabric, uplink_rate, fabric->spine_cable_m, leaf_ps);
    const uint64_t super_rate = topology->spine.port_rate_bits_per_s, super_ps = topology->spine.latency_ps;
    description->super_uplink.up = ethernet_figures(fabric, super_rate, fabric->super_spine_cable_m, super_ps);
    description->super_uplink.down = description->super_uplink.up;
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
        .n_chips = shape_has_nvlink(topology) ? topology->nvlink.chips : 0,
        .n_leaves = (uint32_t)shape->leaves,
        .n_spines = (uint32_t)shape->spines,
        .n_super_spines = shape->super_spines,
        .n_pods = shape->pods,
        .leaf_cut_through = topology->leaf.cut_through,
        .spine_cut_through = topology->spine.cut_through,
        .super_spine_cut_through = topology->spine.cut_through,
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

/** The leaf of GPU `index` of domain `place` of a pod, counted within the pod. */
static uint64_t leaf_of(const struct topology *topology, uint64_t rail_leaves, uint64_t place, uint64_t index) {
    const uint32_t downlinks = topology->fabric.leaf_downlinks, rails = topology->fabric.rails;
    if (!shape_has_rails(topology)) {
        return (place * topology->gpus_used + index) / downlinks;
    }
    const uint64_t within_rail = place * (topology->gpus_used / rails) + index / rails;
    return index % rails * rail_leaves + within_rail / downlinks;
}

/** Pairs of GPUs that use each other's NIC; the configuration has been checked. */
static void cross(const struct topology *topology, const struct shape *shape, uint32_t *leaves) {
    char problem[ERROR_MESSAGE_SIZE];
    struct gpu_list list;
    if (topology->fabric.crossed_gpus[0] == '\0') {
        return;
    }
    const bool good =
        gpu_list_read(&list, topology->fabric.crossed_gpus, (uint32_t)shape->endpoints, problem, sizeof problem);
    REQUIRE(good && list.n_gpus % 2 == 0, "crossed GPUs are no pairs: %s", topology->fabric.crossed_gpus);
    for (uint32_t i = 0; i < list.n_gpus; i += 2) {
        const uint32_t kept = leaves[list.gpus[i]];
        leaves[list.gpus[i]] = leaves[list.gpus[i + 1]];
        leaves[list.gpus[i + 1]] = kept;
    }
    gpu_list_fini(&list);
}

static uint32_t *list_endpoint_leaves(const struct topology *topology, const struct shape *shape) {
    uint32_t *leaves = memory_allocate(shape->endpoints, sizeof(*leaves));
    for (uint64_t endpoint = 0; endpoint < shape->endpoints; endpoint++) {
        const uint64_t domain = endpoint / topology->gpus_used, index = endpoint % topology->gpus_used;
        const uint32_t pod = (uint32_t)(domain / shape->pod_racks);
        const uint64_t rail_leaves = shape_has_rails(topology) ? shape_rail_leaves(topology, shape, pod) : 0;
        leaves[endpoint] = (uint32_t)(pod * shape->pod_leaves +
                                      leaf_of(topology, rail_leaves, domain - (uint64_t)pod * shape->pod_racks, index));
    }
    cross(topology, shape, leaves);
    return leaves;
}

static uint32_t *list_leaf_rails(const struct topology *topology, const struct shape *shape) {
    if (!shape_has_rails(topology)) {
        return NULL;
    }
    uint32_t *rails = memory_allocate(shape->leaves, sizeof(*rails));
    for (uint64_t leaf = 0; leaf < shape->leaves; leaf++) {
        const uint32_t pod = (uint32_t)(leaf / shape->pod_leaves);
        rails[leaf] = (uint32_t)(leaf % shape->pod_leaves / shape_rail_leaves(topology, shape, pod));
    }
    return rails;
}

/** 0 … for consecutive members of equal groups. */
static uint32_t *list_groups(uint64_t count, uint64_t group) {
    uint32_t *list = memory_allocate(count, sizeof(*list));
    for (uint64_t i = 0; i < count; i++) {
        list[i] = (uint32_t)(i / group);
    }
    return list;
}

static uint32_t *list_parallel_links(const struct topology *topology, const struct shape *shape) {
    uint32_t *links = list_of(shape->leaves * shape->spines, 0);
    for (uint64_t leaf = 0; leaf < shape->leaves && shape->spines > 0; leaf++) {
        const uint64_t first = leaf / shape->pod_leaves * topology->fabric.spines;
        for (uint64_t spine = first; spine < first + topology->fabric.spines; spine++) {
            links[leaf * shape->spines + spine] = shape->parallel;
        }
    }
    return links;
}

/** Of every pod the first spines reach the first group of super-spines, and so on. */
static uint32_t *list_super_links(const struct topology *topology, const struct shape *shape) {
    uint32_t *links = list_of(shape->spines * shape->super_spines, 0);
    const uint32_t reached = shape->super_spines / shape->groups;
    for (uint64_t spine = 0; spine < shape->spines && reached > 0; spine++) {
        const uint64_t group = spine % topology->fabric.spines / (topology->fabric.spines / shape->groups);
        for (uint64_t super = group * reached; super < (group + 1) * reached; super++) {
            links[spine * shape->super_spines + super] = shape->super_parallel;
        }
    }
    return links;
}

static struct fabric *build(const struct topology *topology, const struct shape *shape,
                            struct irregular_description *description) {
    uint32_t *const lists[] = {
        list_of(topology->racks, topology->gpus_used),
        description->n_chips > 0 ? list_links_per_chip(&topology->nvlink) : NULL,
        list_endpoint_leaves(topology, shape),
        list_leaf_rails(topology, shape),
        list_groups(shape->leaves, shape->pod_leaves),
        list_groups(shape->spines, topology->fabric.spines),
        list_parallel_links(topology, shape),
        list_super_links(topology, shape),
    };
    description->domain_gpus = lists[0];
    description->links_per_chip = lists[1];
    description->endpoint_leaf = lists[2];
    description->leaf_rail = lists[3];
    description->leaf_pod = lists[4];
    description->spine_pod = lists[5];
    description->parallel_links = lists[6];
    description->super_links = lists[7];
    struct fabric *fabric = irregular_build(description);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        free(lists[i]);
    }
    return fabric;
}

static struct fabric *build_planes(const struct topology *topology, uint32_t n_planes, struct error *error) {
    struct shape shape;
    struct irregular_description description;
    if (!shape_measure(topology, &shape, error) || !describe_figures(topology, &shape, &description, error)) {
        return NULL;
    }
    description.n_planes = n_planes;
    return build(topology, &shape, &description);
}

struct fabric *fabric_build_plane(const struct topology *topology, struct error *error) {
    return build_planes(topology, 1, error);
}

struct fabric *fabric_build(const struct topology *topology, struct error *error) {
    return build_planes(topology, topology->nic.planes, error);
}
