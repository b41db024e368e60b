// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Counts that follow from a topology, before anything is allocated: endpoints, pods, leaves, parallel cables. Here a topology that
 * cannot be built is refused.
 */
#ifndef MOEFABRIC_FABRIC_SHAPE_H
#define MOEFABRIC_FABRIC_SHAPE_H

#include "base/error.h"
#include "config/topology.h"

#include <stdbool.h>
#include <stdint.h>

/** The counts. Two tiers are one pod of all racks. */
struct shape {
    uint64_t endpoints;
    uint32_t pods;
    uint32_t pod_racks;      /**< of a full pod; the last one may have fewer */
    uint64_t pod_leaves;     /**< of a full pod */
    uint64_t leaves;         /**< of all pods */
    uint64_t spines;         /**< of all pods */
    uint32_t super_spines;   /**< of all groups */
    uint32_t groups;         /**< of super-spines: 1 without any */
    uint32_t parallel;       /**< cables of a leaf to each spine of its pod */
    uint32_t super_parallel; /**< cables of a spine to each super-spine of its group */
};

/** Records a contradiction in the topology's file. Returns false. */
#define SHAPE_REFUSE(error, topology, id, ...)                                                                         \
    (error_set(error, EXIT_CODE_CONFIGURATION, id, __VA_ARGS__), shape_name_file(error, topology))

/** Puts the topology's file into an error (NULL is allowed). Returns false. */
bool shape_name_file(struct error *error, const struct topology *topology);

/** Counts a topology. False with *error if its numbers contradict each other or are more than can be built; rates and latencies are not looked at. */
bool shape_measure(const struct topology *topology, struct shape *shape, struct error *error);

/** True if leaves belong to rails: rail wiring with more than one leaf to choose from. */
bool shape_has_rails(const struct topology *topology);

/** True if GPUs have NVLink. */
bool shape_has_nvlink(const struct topology *topology);

/** Leaves of a rail in a pod; rail wiring only. */
uint64_t shape_rail_leaves(const struct topology *topology, const struct shape *shape, uint32_t pod);

#endif
