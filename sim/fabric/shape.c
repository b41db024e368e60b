// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/shape.h"

#include "base/error_id.h"
#include "base/number.h"
#include "fabric/builder.h"

#include <inttypes.h>
#include <string.h>

bool shape_name_file(struct error *error, const struct topology *topology) {
    if (error != NULL) {
        _Static_assert(sizeof(error->file) >= sizeof(topology->path), "a topology's path fits an error");
        memcpy(error->file, topology->path, sizeof(topology->path));
    }
    return false;
}

bool shape_has_rails(const struct topology *topology) {
    return topology->fabric.wiring == TOPOLOGY_WIRING_RAIL && topology->fabric.spines > 0;
}

bool shape_has_nvlink(const struct topology *topology) {
    return topology->nvlink.gpus > 1 && topology->gpus_used > 1;
}

static bool check_domains(const struct topology *topology, struct error *error) {
    const struct topology_nvlink *nvlink = &topology->nvlink;
    if (topology->racks == 0 || topology->gpus_used == 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                            "a cluster needs at least one rack and one GPU of it");
    }
    if (topology->gpus_used > nvlink->gpus) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                            "%" PRIu32 " GPUs of each NVLink domain are to be used, but it has %" PRIu32,
                            topology->gpus_used, nvlink->gpus);
    }
    if (!shape_has_nvlink(topology)) {
        return true;
    }
    if (nvlink->chips == 0 || nvlink->links_per_gpu < nvlink->chips) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_NVLINK,
                            "%" PRIu32 " NVLinks of a GPU cannot reach each of %" PRIu32 " NVSwitch chips",
                            nvlink->links_per_gpu, nvlink->chips);
    }
    const uint64_t per_chip = number_divide_up(nvlink->links_per_gpu, nvlink->chips);
    if (per_chip * topology->gpus_used > BUILDER_PORT_LIMIT || nvlink->links_per_gpu >= BUILDER_PORT_LIMIT) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_NVLINK,
                            "an NVSwitch chip or GPU would have more than %d ports", BUILDER_PORT_LIMIT);
    }
    return true;
}

static bool check_leaf(const struct topology *topology, struct error *error) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t uplinks = fabric->spines > 0 ? fabric->leaf_uplinks : 0;
    if (fabric->leaf_downlinks == 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS, "a leaf needs at least one downlink");
    }
    if (fabric->leaf_downlinks + uplinks > number_smaller(topology->leaf.ports, BUILDER_PORT_LIMIT)) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS,
                     "%" PRIu32 " downlinks and %" PRIu64 " uplinks do not fit the %" PRIu32 " ports of a leaf",
                     fabric->leaf_downlinks, uplinks, topology->leaf.ports);
        error_hint(error, "downlinks + uplinks may be at most %" PRIu64,
                   number_smaller(topology->leaf.ports, BUILDER_PORT_LIMIT));
        return false;
    }
    if (fabric->spines > 0 && (uplinks == 0 || uplinks % fabric->spines != 0)) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                            "%" PRIu64 " uplinks of a leaf cannot be spread evenly over %" PRIu32 " spines", uplinks,
                            fabric->spines);
    }
    return true;
}

static bool check_rails(const struct topology *topology, struct error *error) {
    const uint32_t rails = topology->fabric.rails;
    if (!shape_has_rails(topology)) {
        return true;
    }
    if (rails == 0 || topology->gpus_used % rails != 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_RAILS,
                            "%" PRIu32 " rails do not divide the %" PRIu32 " GPUs used of each NVLink domain", rails,
                            topology->gpus_used);
    }
    return true;
}

/** Groups of super-spines against spines and their uplinks. */
static bool check_groups(const struct topology *topology, struct error *error) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint32_t groups = fabric->super_spine_groups;
    if (groups == 0 || fabric->spines % groups != 0 || fabric->super_spines % groups != 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                            "%" PRIu32 " groups do not divide the %" PRIu32 " spines of a pod and the %" PRIu32
                            " super-spines",
                            groups, fabric->spines, fabric->super_spines);
    }
    const uint32_t reached = fabric->super_spines / groups;
    if (fabric->spine_uplinks == 0 || fabric->spine_uplinks % reached != 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                            "%" PRIu32 " uplinks of a spine cannot be spread evenly over the %" PRIu32
                            " super-spines of a group",
                            fabric->spine_uplinks, reached);
    }
    return true;
}

static bool check_super_spines(const struct topology *topology, struct error *error) {
    const struct topology_fabric *fabric = &topology->fabric;
    if (fabric->super_spines == 0) {
        return true;
    }
    if (fabric->spines == 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                            "%" PRIu32 " super-spines have no spines to join", fabric->super_spines);
    }
    if (fabric->pod_racks == 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                            "%" PRIu32 " super-spines join pods, but no racks of a pod are given",
                            fabric->super_spines);
    }
    return check_groups(topology, error);
}

static uint32_t racks_of_pod(const struct topology *topology, const struct shape *shape, uint32_t pod) {
    const uint32_t before = pod * shape->pod_racks;
    return (uint32_t)number_smaller(topology->racks - before, shape->pod_racks);
}

uint64_t shape_rail_leaves(const struct topology *topology, const struct shape *shape, uint32_t pod) {
    const uint64_t endpoints = (uint64_t)racks_of_pod(topology, shape, pod) * topology->gpus_used;
    return number_divide_up(endpoints / topology->fabric.rails, topology->fabric.leaf_downlinks);
}

static uint64_t leaves_of_pod(const struct topology *topology, const struct shape *shape, uint32_t pod) {
    if (shape_has_rails(topology)) {
        return shape_rail_leaves(topology, shape, pod) * topology->fabric.rails;
    }
    const uint64_t endpoints = (uint64_t)racks_of_pod(topology, shape, pod) * topology->gpus_used;
    return number_divide_up(endpoints, topology->fabric.leaf_downlinks);
}

/** Counts. Downlinks, rails and super-spines have been checked. */
static struct shape measure(const struct topology *topology) {
    const struct topology_fabric *fabric = &topology->fabric;
    struct shape shape = {.endpoints = (uint64_t)topology->racks * topology->gpus_used,
                          .pods = 1,
                          .pod_racks = topology->racks,
                          .groups = 1};
    if (fabric->super_spines > 0) {
        shape.pods = (uint32_t)number_divide_up(topology->racks, fabric->pod_racks);
        shape.pod_racks = fabric->pod_racks;
        shape.super_spines = fabric->super_spines;
        shape.groups = fabric->super_spine_groups;
        shape.super_parallel = fabric->spine_uplinks / (fabric->super_spines / fabric->super_spine_groups);
    }
    if (fabric->spines > 0) {
        shape.spines = (uint64_t)shape.pods * fabric->spines;
        shape.parallel = fabric->leaf_uplinks / fabric->spines;
    }
    shape.pod_leaves = leaves_of_pod(topology, &shape, 0);
    shape.leaves = (shape.pods - 1) * shape.pod_leaves + leaves_of_pod(topology, &shape, shape.pods - 1);
    return shape;
}

static bool check_count(const struct topology *topology, const struct shape *shape, struct error *error) {
    if (topology->fabric.spines == 0 && shape->leaves > 1) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SPINES,
                     "%" PRIu64 " GPUs do not fit one leaf of %" PRIu32 " downlinks, and there are no spines",
                     shape->endpoints, topology->fabric.leaf_downlinks);
        error_hint(error, "give spines, or use at most %" PRIu32 " GPUs", topology->fabric.leaf_downlinks);
        return false;
    }
    if (topology->nic.planes * (shape->leaves + shape->spines + shape->super_spines) > BUILDER_SWITCH_LIMIT) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                            "%" PRIu64 " leaves, %" PRIu64 " spines and %" PRIu32
                            " super-spines%s are more than %d switches",
                            shape->leaves, shape->spines, shape->super_spines,
                            topology->nic.planes > 1 ? " in each plane" : "", BUILDER_SWITCH_LIMIT);
    }
    return true;
}

/** Ports of spines and super-spines. */
static bool check_spine_ports(const struct topology *topology, const struct shape *shape, struct error *error) {
    const uint64_t ports = number_smaller(topology->spine.ports, BUILDER_PORT_LIMIT);
    const uint32_t up = shape->super_spines > 0 ? topology->fabric.spine_uplinks : 0;
    const char *pod = shape->super_spines > 0 ? " of a pod" : "";
    if (shape->pod_leaves * shape->parallel + up > ports) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS,
                     "%" PRIu64 " leaves%s with %" PRIu32 " links to each spine%s do not fit the %" PRIu32
                     " ports of a spine",
                     shape->pod_leaves, pod, shape->parallel, up > 0 ? " and its uplinks" : "", topology->spine.ports);
        error_hint(error, "at most %" PRIu64 " leaves fit; use more spines or switches with more ports",
                   (ports - number_smaller(up, ports)) / shape->parallel);
        return false;
    }
    const uint64_t from_pod = (uint64_t)shape->super_parallel * (topology->fabric.spines / shape->groups);
    if (shape->super_spines > 0 && shape->pods * from_pod > ports) {
        SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_PORTS,
                     "%" PRIu32 " pods with %" PRIu64 " links to each super-spine do not fit the %" PRIu32
                     " ports of a super-spine",
                     shape->pods, from_pod, topology->spine.ports);
        error_hint(error, "at most %" PRIu64 " pods fit; use more super-spines or larger pods", ports / from_pod);
        return false;
    }
    return true;
}

/** Shares of a rate that is usable: a NaN is refused too. */
static bool check_fractions(const struct topology *topology, struct error *error) {
    const double nic = topology->nic.usable_fraction, nvlink = topology->nvlink.usable_fraction;
    if (!(nic > 0 && nic <= 1) || (shape_has_nvlink(topology) && !(nvlink > 0 && nvlink <= 1))) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_RATE,
                            "a usable fraction must be more than 0 and at most 1");
    }
    return true;
}

/** All ports together, and all devices, must be numbers of 32 bits. */
static bool check_size(const struct topology *topology, const struct shape *shape, struct error *error) {
    const uint64_t planes = topology->nic.planes;
    const uint64_t nvlinks = shape_has_nvlink(topology) ? 2 * (uint64_t)topology->nvlink.links_per_gpu : 0;
    const uint64_t uplinks = 2 * shape->leaves * shape->parallel * topology->fabric.spines +
                             2 * shape->spines * (shape->super_spines > 0 ? topology->fabric.spine_uplinks : 0);
    if (planes == 0) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE, "a NIC has at least one plane");
    }
    /* endpoints < 2^64 and nvlinks < 2^18: only the product can overflow */
    if (shape->endpoints >= FABRIC_NONE ||
        shape->endpoints * (nvlinks + 2 * planes) + planes * uplinks >= FABRIC_NONE) {
        return SHAPE_REFUSE(error, topology, ERROR_ID_CONFLICT_SCALE,
                            "%" PRIu64 " GPUs have more links than can be numbered", shape->endpoints);
    }
    return true;
}

bool shape_measure(const struct topology *topology, struct shape *shape, struct error *error) {
    if (!check_domains(topology, error) || !check_leaf(topology, error) || !check_rails(topology, error) ||
        !check_super_spines(topology, error)) {
        return false;
    }
    *shape = measure(topology);
    return check_count(topology, shape, error) &&
           (topology->fabric.spines == 0 || check_spine_ports(topology, shape, error)) &&
           check_fractions(topology, error) && check_size(topology, shape, error);
}
