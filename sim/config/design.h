// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The section `design`: leaves, spines and super-spines worked out from a few figures, with the switches, racks and cables of a topology.
 *
 * Of all fabrics that the topology's switches allow for so many GPUs, tiers and planes, with at most so much oversubscription, the one of the
 * fewest switches is taken; of several, that of the fewest cables, then of the fewest downlinks a leaf. Links are spread evenly, as a topology must have
 * them: 64 uplinks of a leaf go to 1, 2, 4 … spines, never to 9. Spines and super-spines carry all that leaves bring up.
 */
#ifndef MOEFABRIC_CONFIG_DESIGN_H
#define MOEFABRIC_CONFIG_DESIGN_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** Switches of one plane, worked out. */
struct design_fabric {
    uint32_t tiers;
    uint32_t downlinks, uplinks;                                         /**< of a leaf */
    uint32_t spines;                                                     /**< of a pod, or of all */
    uint32_t pod_racks, spine_uplinks, super_spines, super_spine_groups; /**< three tiers */
    uint64_t leaves, switches, cables;                                   /**< in all; cables between switches */
};

/** What a fabric must reach. */
struct design_task {
    uint32_t racks, gpus_used; /**< of a plane's NIC ports: racks × gpus_used */
    uint32_t rails;            /**< 1: leaves know none */
    bool whole;                /**< GPUs of one rack and rail share a leaf */
    uint32_t leaf_ports, spine_ports;
    double oversubscription; /**< at least 1 / 64 … */
    uint32_t tiers;          /**< 1 to 3 */
};

/** The fabric of the fewest switches; false if there is none. */
bool design_find(const struct design_task *task, struct design_fabric *fabric);

/** Whether a section `design` asks for anything. */
bool design_is_asked(const struct experiment_design *design);

/**
 * Works a configuration's fabric out, once its topology and sections are read: experiment->topology and the rest of experiment->design are set. What
 * cannot be is reported at its place, and nothing is changed.
 */
void design_apply(struct experiment *experiment, const struct contradiction_scope *scope);

#endif
