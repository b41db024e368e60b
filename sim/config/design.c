// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/design.h"

#include "base/number.h"

#include <inttypes.h>
#include <string.h>

bool design_is_asked(const struct experiment_design *design) {
    return design->gpus > 0 || design->nic_rate_bits_per_s > 0 || design->planes > 0 || design->oversubscription > 0 ||
           design->tiers > 0 || design->leaves != EXPERIMENT_LEAVES_AS_TOPOLOGY;
}

/* ---- the search ---- */

/* Leaves of so many racks with so many downlinks each. */
static uint64_t count_leaves(const struct design_task *task, uint32_t racks, uint32_t downlinks) {
    const uint64_t of_rail = (uint64_t)racks * task->gpus_used / task->rails;
    return task->rails * number_divide_up(of_rail, downlinks);
}

/* The fewest downlinks that give so many leaves of a rail, or no more. */
static uint32_t fewest_downlinks(const struct design_task *task, uint32_t racks, uint64_t rail_leaves) {
    const uint64_t grain = task->whole ? task->gpus_used / task->rails : 1;
    const uint64_t of_rail = (uint64_t)racks * task->gpus_used / task->rails;
    return (uint32_t)number_smaller(number_divide_up(number_divide_up(of_rail, rail_leaves), grain) * grain,
                                    UINT32_MAX);
}

static bool is_better(const struct design_fabric *one, const struct design_fabric *other) {
    if (one->switches != other->switches) {
        return one->switches < other->switches;
    }
    return one->cables != other->cables ? one->cables < other->cables : one->downlinks < other->downlinks;
}

static void keep_better(struct design_fabric *best, const struct design_fabric *found) {
    if (best->switches == 0 || is_better(found, best)) {
        *best = *found;
    }
}

/* Super-spines for pods whose spines, a group each, bring up so many links; 0 = their ports do not reach. */
static uint32_t super_spines_of_group(const struct design_task *task, uint64_t pods, uint32_t spine_uplinks) {
    for (uint32_t each = 1; each <= spine_uplinks; each++) {
        if (spine_uplinks % each == 0 && pods * (spine_uplinks / each) <= task->spine_ports) {
            return each;
        }
    }
    return 0;
}

/* Spines for the leaves of a pod: the fewest that divide the uplinks and have the ports. */
static void try_spines(const struct design_task *task, uint64_t pods, struct design_fabric found,
                       struct design_fabric *best) {
    const uint64_t pod_leaves = found.leaves / pods;
    for (uint32_t spines = 1; spines <= found.uplinks; spines++) {
        if (found.uplinks % spines != 0) {
            continue;
        }
        const uint64_t down = pod_leaves * (found.uplinks / spines);
        const uint64_t up = pods > 1 ? down : 0;
        if (down + up > task->spine_ports) {
            continue;
        }
        found.spines = spines;
        found.spine_uplinks = (uint32_t)up;
        const uint32_t above = pods > 1 ? super_spines_of_group(task, pods, found.spine_uplinks) : 0;
        if (pods == 1 || above > 0) {
            found.super_spines = spines * above;
            found.super_spine_groups = spines;
            found.switches = found.leaves + pods * spines + found.super_spines;
            found.cables = found.leaves * found.uplinks + pods * spines * up;
            keep_better(best, &found);
            return; // more spines are more switches
        }
    }
}

/* Leaves with every number of downlinks that makes a difference, and every number of uplinks that the ports and the oversubscription leave. */
static void try_leaves(const struct design_task *task, uint32_t pod_racks, uint64_t pods, struct design_fabric *best) {
    uint32_t before = 0;
    const uint64_t of_rail = (uint64_t)pod_racks * task->gpus_used / task->rails;
    for (uint64_t rail_leaves = 1; rail_leaves <= of_rail && pods * rail_leaves * task->rails <= UINT32_MAX;
         rail_leaves++) {
        const uint32_t downlinks = fewest_downlinks(task, pod_racks, rail_leaves);
        const struct design_fabric found = {.tiers = pods > 1 ? 3 : 2,
                                            .downlinks = downlinks,
                                            .pod_racks = pods > 1 ? pod_racks : 0,
                                            .leaves = pods * count_leaves(task, pod_racks, downlinks)};
        if (best->switches > 0 && found.leaves > best->switches) {
            return; // there are fewer without spines
        }
        if (downlinks == before || downlinks >= task->leaf_ports) {
            continue;
        }
        before = downlinks;
        for (uint32_t uplinks = 1; uplinks <= task->leaf_ports - downlinks; uplinks++) {
            if (uplinks * task->oversubscription + 1e-9 >= downlinks) {
                struct design_fabric tried = found;
                tried.uplinks = uplinks;
                try_spines(task, pods, tried, best);
            }
        }
    }
}

/* Pods as equal as whole racks make them. */
static void try_pods(const struct design_task *task, struct design_fabric *best) {
    uint32_t before = 0;
    for (uint32_t pods = 2; pods <= task->racks; pods++) {
        const uint32_t pod_racks = (uint32_t)number_divide_up(task->racks, pods);
        if (pod_racks != before) {
            before = pod_racks;
            try_leaves(task, pod_racks, number_divide_up(task->racks, pod_racks), best);
        }
    }
}

static void try_one_leaf(const struct design_task *task, struct design_fabric *best) {
    const uint64_t gpus = (uint64_t)task->racks * task->gpus_used;
    if (gpus <= task->leaf_ports) {
        *best = (struct design_fabric){.tiers = 1, .downlinks = (uint32_t)gpus, .leaves = 1, .switches = 1};
    }
}

bool design_find(const struct design_task *task, struct design_fabric *fabric) {
    *fabric = (struct design_fabric){0};
    if (task->tiers == 1) {
        try_one_leaf(task, fabric);
    } else if (task->tiers == 2) {
        try_leaves(task, task->racks, 1, fabric);
    } else {
        try_pods(task, fabric);
    }
    return fabric->switches > 0;
}

/* ---- a configuration ---- */

/* Keys of the cluster that are worked out here. */
static const char *const worked_out[] = {"wiring",       "leaf_downlinks", "leaf_uplinks", "spines",
                                         "super_spines", "spine_uplinks",  "pod_racks",    "super_spine_groups"};

static bool has_own_fabric(const struct contradiction_scope *scope) {
    char names[256] = "", first[64] = "";
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof worked_out / sizeof worked_out[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "cluster.%s", worked_out[i]);
        if (tree_find_path(scope->experiment, path) != NULL) {
            const size_t length = strlen(names);
            snprintf(names + length, sizeof names - length, "%s`%s`", n > 0 ? ", " : "", path);
            if (n++ == 0) {
                snprintf(first, sizeof first, "%s", path);
            }
        }
    }
    if (n > 0) {
        contradiction_report_hint(scope, ERROR_ID_CONFLICT_SCALE, first, "design",
                                  "take them out of `cluster`; or keep its fabric, without `design`: NICs of a leaf ÷ "
                                  "cluster.leaf_uplinks is its oversubscription",
                                  "section `design` works out what is given beside it: %s", names);
    }
    return n > 0;
}

/* Ports that a switch's capacity gives at the rate of a plane; 0, with the contradiction reported, if it does not divide. */
static uint32_t split_ports(const struct topology_switch *kind, uint64_t rate, uint32_t most, const char *path,
                            const struct contradiction_scope *scope) {
    const uint64_t capacity = kind->ports * kind->port_rate_bits_per_s;
    if (rate == 0 || capacity % rate != 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_RATE, "design", path,
                             "switches of %.5g Tb/s cannot have ports of %.5g Gb/s", (double)capacity / 1e12,
                             (double)rate / 1e9);
        return 0;
    }
    if (capacity / rate > most) {
        contradiction_report(scope, ERROR_ID_CONFLICT_PORTS, "design", "design.most_ports",
                             "switches of %.5g Tb/s with ports of %.5g Gb/s would have %" PRIu64
                             " ports, and can have %" PRIu32,
                             (double)capacity / 1e12, (double)rate / 1e9, capacity / rate, most);
        return 0;
    }
    return (uint32_t)(capacity / rate);
}

static bool fill_task(const struct experiment *experiment, const struct contradiction_scope *scope,
                      struct design_task *task, uint64_t *rate, uint32_t *planes) {
    const struct topology *topology = &experiment->topology;
    const struct experiment_design *design = &experiment->design;
    const uint64_t whole = design->nic_rate_bits_per_s > 0 ? design->nic_rate_bits_per_s
                                                           : topology->nic.rate_bits_per_s * topology->nic.planes;
    *planes = design->planes > 0 ? design->planes : topology->nic.planes;
    *rate = *planes > 0 ? whole / *planes : 0;
    if (topology->gpus_used == 0 || *planes == 0 || whole % *planes != 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_RATE, "design.planes", "nic.rate",
                             "%" PRIu32 " planes do not divide a NIC of %.5g Gb/s", *planes, (double)whole / 1e9);
        return false;
    }
    const bool rail = design->leaves == EXPERIMENT_LEAVES_AS_TOPOLOGY ? topology->fabric.wiring == TOPOLOGY_WIRING_RAIL
                                                                      : design->leaves != EXPERIMENT_LEAVES_SHARED;
    *task = (struct design_task){
        .racks = design->gpus > 0 ? (uint32_t)number_divide_up(design->gpus, topology->gpus_used) : topology->racks,
        .gpus_used = topology->gpus_used,
        .rails = rail && topology->fabric.rails > 0 ? topology->fabric.rails : 1,
        .whole = design->leaves == EXPERIMENT_LEAVES_RACK_RAIL,
        .leaf_ports = split_ports(&topology->leaf, *rate, design->most_ports, "leaf.ports", scope),
        .spine_ports = split_ports(&topology->spine, *rate, design->most_ports, "spine.ports", scope),
        .oversubscription = design->oversubscription > 0 ? design->oversubscription : 1,
        .tiers = design->tiers,
    };
    if (task->gpus_used % task->rails != 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_RAILS, "fabric.rails", "gpus_used",
                             "%" PRIu32 " rails do not divide the %" PRIu32 " GPUs that are used of each domain",
                             task->rails, task->gpus_used);
        return false;
    }
    return task->leaf_ports > 0 && task->spine_ports > 0;
}

/* With the tiers that are asked for, or the fewest that reach. */
static bool find(struct design_task *task, struct design_fabric *fabric) {
    if (task->tiers > 0) {
        return design_find(task, fabric);
    }
    for (task->tiers = 1; task->tiers <= 3; task->tiers++) {
        if (design_find(task, fabric)) {
            return true;
        }
    }
    return false;
}

static void put(const struct design_task *task, const struct design_fabric *found, uint64_t rate, uint32_t planes,
                struct topology *topology) {
    struct topology_fabric *fabric = &topology->fabric;
    topology->nic.rate_bits_per_s = rate;
    topology->nic.planes = planes;
    topology->leaf.ports = task->leaf_ports;
    topology->spine.ports = task->spine_ports;
    topology->leaf.port_rate_bits_per_s = topology->spine.port_rate_bits_per_s = rate;
    fabric->wiring = task->rails > 1 ? TOPOLOGY_WIRING_RAIL : TOPOLOGY_WIRING_RACK;
    fabric->leaf_downlinks = found->downlinks;
    fabric->leaf_uplinks = found->uplinks;
    fabric->spines = found->spines;
    fabric->super_spines = found->super_spines;
    fabric->spine_uplinks = found->super_spines > 0 ? found->spine_uplinks : 0;
    fabric->pod_racks = found->pod_racks;
    fabric->super_spine_groups = found->super_spines > 0 ? found->super_spine_groups : 1;
}

static void refuse(const struct contradiction_scope *scope, const struct experiment_design *design,
                   const struct design_task *task) {
    contradiction_report_hint(
        scope, ERROR_ID_CONFLICT_PORTS, design->tiers > 0 ? "design.tiers" : "design.gpus", "leaf.ports",
        "more tiers, more planes (more ports of a switch), or more oversubscription reach more GPUs",
        "no fabric of %s%" PRIu32 " tier%s of switches with %" PRIu32 " ports reaches %" PRIu64 " GPUs at %.4g : 1",
        design->tiers > 0 ? "" : "up to ", design->tiers > 0 ? design->tiers : 3, design->tiers == 1 ? "" : "s",
        task->leaf_ports, (uint64_t)task->racks * task->gpus_used, task->oversubscription);
}

void design_apply(struct experiment *experiment, const struct contradiction_scope *scope) {
    struct design_task task;
    struct design_fabric found;
    uint64_t rate;
    uint32_t planes;
    struct experiment_design *design = &experiment->design;
    struct topology *topology = &experiment->topology;
    if (!design_is_asked(design) || scope->topology == NULL || has_own_fabric(scope) ||
        !fill_task(experiment, scope, &task, &rate, &planes)) {
        return;
    }
    if (!find(&task, &found)) {
        refuse(scope, design, &task);
        return;
    }
    put(&task, &found, rate, planes, topology);
    design->worked_out = true;
    design->racks = task.racks;
    if (tree_find_path(scope->experiment, "cluster.racks") == NULL) {
        topology->racks = task.racks;
    } else if (topology->racks > task.racks) {
        contradiction_report(scope, ERROR_ID_CONFLICT_SCALE, "cluster.racks", "design.gpus",
                             "%" PRIu32 " racks are to be simulated, the whole cluster has %" PRIu32, topology->racks,
                             task.racks);
    }
    if (experiment->training.gpus == 0) {
        experiment->training.gpus = design->gpus > 0 ? design->gpus : task.racks * task.gpus_used;
    }
}
