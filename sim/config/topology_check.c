// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/topology_check.h"

#include "base/number.h"
#include "base/quantity.h"
#include "config/gpu_list.h"
#include "config/key.h"
#include "config/section_reader.h"

#include <inttypes.h>
#include <string.h>

/** Reports with this file's two shared arguments left out. */
#define CONFLICT(id, first, second, ...) contradiction_report(scope, id, first, second, __VA_ARGS__)

#define SLOWEST_BITS_PER_S 8000000 /* what base/rate.h can represent */

uint64_t topology_check_gpus(const struct topology *topology) {
    return (uint64_t)topology->racks * topology->gpus_used;
}

static void check_scale(const struct topology *topology, const struct contradiction_scope *scope) {
    if (topology->gpus_used > topology->nvlink.gpus && topology->nvlink.gpus > 1) {
        CONFLICT(ERROR_ID_CONFLICT_SCALE, "gpus_used", "nvlink.gpus",
                 "%" PRIu32 " GPUs of each domain are to be used, but it has only %" PRIu32, topology->gpus_used,
                 topology->nvlink.gpus);
    } else if (topology->gpus_used > topology->nvlink.gpus) {
        CONFLICT(ERROR_ID_CONFLICT_SCALE, "gpus_used", "nvlink.gpus",
                 "%" PRIu32
                 " GPUs of each domain are to be used, but without NVLink (nvlink.gpus 1) a domain is one GPU",
                 topology->gpus_used);
    }
}

/** Bytes under way on an NVLink while a record crosses and its credit comes back. */
static double nvlink_round_trip_bytes(const struct topology_nvlink *nvlink) {
    const double bytes_per_ps = (double)nvlink->link_rate_bits_per_s * nvlink->usable_fraction / 8e12;
    return (double)(nvlink->latency_up_ps + nvlink->latency_down_ps) * bytes_per_ps + 2 * (double)nvlink->record_bytes;
}

static void check_nvlink(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_nvlink *nvlink = &topology->nvlink;
    if (nvlink->gpus <= 1) {
        return;
    }
    if (nvlink->chips == 0 || nvlink->links_per_gpu < nvlink->chips) {
        CONFLICT(ERROR_ID_CONFLICT_NVLINK, "nvlink.links_per_gpu", "nvlink.chips",
                 "%" PRIu32 " NVLinks of a GPU cannot reach each of %" PRIu32 " chips", nvlink->links_per_gpu,
                 nvlink->chips);
    }
    if (nvlink->link_rate_bits_per_s == 0) {
        CONFLICT(ERROR_ID_CONFLICT_NVLINK, "nvlink.gpus", "nvlink.link_rate",
                 "%" PRIu32 " GPUs are joined by NVLinks of rate 0", nvlink->gpus);
        return;
    }
    const double round_trip = nvlink_round_trip_bytes(nvlink);
    if (nvlink->buffer_bytes != 0 && (double)nvlink->buffer_bytes < round_trip) {
        char buffer[QUANTITY_TEXT_SIZE];
        CONFLICT(ERROR_ID_CONFLICT_NVLINK, "nvlink.buffer", "nvlink.latency_up",
                 "an NVLink buffer of %s is below one round trip (%.0f B at this rate and latency): the link could "
                 "never run at full rate",
                 quantity_print(buffer, QUANTITY_BYTES, nvlink->buffer_bytes), round_trip);
    }
}

/** Racks of a full pod: all of them where there are two tiers. */
static uint64_t racks_of_pod(const struct topology *topology) {
    const struct topology_fabric *fabric = &topology->fabric;
    return fabric->super_spines > 0 && fabric->pod_racks > 0 && fabric->pod_racks < topology->racks ? fabric->pod_racks
                                                                                                    : topology->racks;
}

/** Leaves that the GPUs of a full pod need. */
static uint64_t count_leaves(const struct topology *topology) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t gpus = racks_of_pod(topology) * topology->gpus_used;
    if (fabric->wiring == TOPOLOGY_WIRING_RAIL && fabric->spines > 0) {
        return fabric->rails * number_divide_up(number_divide_up(gpus, fabric->rails), fabric->leaf_downlinks);
    }
    return number_divide_up(gpus, fabric->leaf_downlinks);
}

static void check_leaf_ports(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint32_t uplinks = fabric->spines > 0 ? fabric->leaf_uplinks : 0;
    const uint64_t needed = (uint64_t)fabric->leaf_downlinks + uplinks;
    if (needed > topology->leaf.ports) {
        CONFLICT(ERROR_ID_CONFLICT_PORTS,
                 uplinks > fabric->leaf_downlinks ? "fabric.leaf_uplinks" : "fabric.leaf_downlinks", "leaf.ports",
                 "%" PRIu32 " downlinks and %" PRIu32 " uplinks need %" PRIu64 " ports, but a leaf has %" PRIu32,
                 fabric->leaf_downlinks, uplinks, needed, topology->leaf.ports);
    }
}

static void check_spines(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t gpus = topology_check_gpus(topology);
    if (fabric->spines == 0) {
        if (gpus > fabric->leaf_downlinks) {
            CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.spines", "fabric.leaf_downlinks",
                     "%" PRIu64 " GPUs do not fit one leaf of %" PRIu32 " downlinks, and there are no spines", gpus,
                     fabric->leaf_downlinks);
        }
        return;
    }
    if (fabric->leaf_uplinks == 0 || fabric->leaf_uplinks % fabric->spines != 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.leaf_uplinks", "fabric.spines",
                 "%" PRIu32 " uplinks of a leaf cannot be spread evenly over %" PRIu32 " spines", fabric->leaf_uplinks,
                 fabric->spines);
        return;
    }
    const uint64_t leaves = count_leaves(topology), parallel = fabric->leaf_uplinks / fabric->spines;
    const uint64_t up = fabric->super_spines > 0 ? fabric->spine_uplinks : 0;
    if (up == 0 && leaves * parallel > topology->spine.ports) {
        CONFLICT(ERROR_ID_CONFLICT_PORTS, "fabric.spines", "spine.ports",
                 "%" PRIu64 " leaves with %" PRIu64 " uplinks to each spine need %" PRIu64
                 " ports, but a spine has %" PRIu32,
                 leaves, parallel, leaves * parallel, topology->spine.ports);
    } else if (leaves * parallel + up > topology->spine.ports) {
        CONFLICT(ERROR_ID_CONFLICT_PORTS, "fabric.pod_racks", "spine.ports",
                 "%" PRIu64 " leaves of a pod with %" PRIu64 " uplinks to each spine and its own %" PRIu64
                 " uplinks need %" PRIu64 " ports, but a spine has %" PRIu32,
                 leaves, parallel, up, leaves * parallel + up, topology->spine.ports);
    }
}

/** Groups of super-spines against spines and their uplinks. False if they do not divide. */
static bool check_groups(const struct topology_fabric *fabric, const struct contradiction_scope *scope) {
    const uint32_t groups = fabric->super_spine_groups;
    if (fabric->spines % groups != 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.super_spine_groups", "fabric.spines",
                 "%" PRIu32 " groups do not divide the %" PRIu32 " spines of a pod", groups, fabric->spines);
        return false;
    }
    if (fabric->super_spines % groups != 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.super_spine_groups", "fabric.super_spines",
                 "%" PRIu32 " groups do not divide %" PRIu32 " super-spines", groups, fabric->super_spines);
        return false;
    }
    const uint32_t reached = fabric->super_spines / groups;
    if (fabric->spine_uplinks == 0 || fabric->spine_uplinks % reached != 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.spine_uplinks", "fabric.super_spines",
                 "%" PRIu32 " uplinks of a spine cannot be spread evenly over the %" PRIu32 " super-spines of a group",
                 fabric->spine_uplinks, reached);
        return false;
    }
    return true;
}

static void check_super_spines(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_fabric *fabric = &topology->fabric;
    if (fabric->super_spines == 0) {
        return;
    }
    if (fabric->spines == 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.super_spines", "fabric.spines",
                 "%" PRIu32 " super-spines have no spines to join", fabric->super_spines);
        return;
    }
    if (fabric->pod_racks == 0) {
        CONFLICT(ERROR_ID_CONFLICT_SPINES, "fabric.super_spines", "fabric.pod_racks",
                 "%" PRIu32 " super-spines join pods, but no racks of a pod are given", fabric->super_spines);
        return;
    }
    if (!check_groups(fabric, scope)) {
        return;
    }
    const uint64_t pods = number_divide_up(topology->racks, fabric->pod_racks);
    const uint64_t spines = fabric->spines / fabric->super_spine_groups;
    const uint64_t parallel = fabric->spine_uplinks / (fabric->super_spines / fabric->super_spine_groups);
    if (pods * spines * parallel > topology->spine.ports) {
        CONFLICT(ERROR_ID_CONFLICT_PORTS, "fabric.super_spines", "spine.ports",
                 "%" PRIu64 " pods with %" PRIu64 " links to each super-spine need %" PRIu64
                 " ports, but a super-spine has %" PRIu32,
                 pods, spines * parallel, pods * spines * parallel, topology->spine.ports);
    }
}

/** Packets of a queue pair that go by several planes overtake each other. */
static void check_planes(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_nic *nic = &topology->nic;
    if (nic->planes > 1 && nic->plane_choice == TOPOLOGY_PLANE_PACKET && !nic->out_of_order) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, "nic.plane_choice", "nic.out_of_order",
                 "packets that choose among %" PRIu32 " planes arrive in any order, which this NIC does not take: "
                 "plane_choice queue_pair keeps each queue pair to a plane",
                 nic->planes);
    }
}

/** Without spines there is one leaf, and no rails. */
static void check_rails(const struct topology *topology, const struct contradiction_scope *scope) {
    const uint32_t rails = topology->fabric.rails;
    if (topology->fabric.wiring == TOPOLOGY_WIRING_RAIL && topology->fabric.spines > 0 &&
        topology->gpus_used % rails != 0) {
        CONFLICT(ERROR_ID_CONFLICT_RAILS, "fabric.rails", "gpus_used",
                 "%" PRIu32 " rails do not divide the %" PRIu32 " GPUs used of a domain", rails, topology->gpus_used);
    }
}

/** GPUs with each other's NIC come in pairs, each of one domain. */
static void check_crossed(const struct topology *topology, const struct contradiction_scope *scope) {
    const uint64_t gpus = topology_check_gpus(topology);
    const char *text = topology->fabric.crossed_gpus;
    char problem[ERROR_MESSAGE_SIZE];
    struct gpu_list list;
    if (text[0] == '\0' || gpus == 0 || gpus > UINT32_MAX) {
        return;
    }
    if (!gpu_list_read(&list, text, (uint32_t)gpus, problem, sizeof problem)) {
        CONFLICT(ERROR_ID_CONFLICT_RAILS, "fabric.crossed_gpus", "gpus_used", "%.300s", problem);
        return;
    }
    for (uint32_t i = 0; i < list.n_gpus; i += 2) {
        if (i + 1 == list.n_gpus) {
            CONFLICT(ERROR_ID_CONFLICT_RAILS, "fabric.crossed_gpus", "gpus_used",
                     "GPU %" PRIu32 " has no other one to change NICs with: GPUs come in pairs", list.gpus[i]);
        } else if (list.gpus[i] / topology->gpus_used != list.gpus[i + 1] / topology->gpus_used) {
            CONFLICT(ERROR_ID_CONFLICT_RAILS, "fabric.crossed_gpus", "gpus_used",
                     "GPUs %" PRIu32 " and %" PRIu32
                     " are of different NVLink domains: they cannot use each other's NIC",
                     list.gpus[i], list.gpus[i + 1]);
        }
    }
    gpu_list_fini(&list);
}

/** Receive buffers hold a packet beside what is kept for those under way. */
static void check_receive(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_nic *nic = &topology->nic;
    const uint64_t packet = nic->payload_bytes + nic->header_bytes;
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    if (nic->receive_buffer_bytes < packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, "nic.receive_buffer", "nic.payload",
                 "a receive buffer of %s does not hold one packet of %s",
                 quantity_print(first, QUANTITY_BYTES, nic->receive_buffer_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    } else if (nic->receive_headroom_bytes >= nic->receive_buffer_bytes) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, "nic.receive_headroom", "nic.receive_buffer",
                 "a headroom of %s leaves nothing of a receive buffer of %s",
                 quantity_print(first, QUANTITY_BYTES, nic->receive_headroom_bytes),
                 quantity_print(second, QUANTITY_BYTES, nic->receive_buffer_bytes));
    }
    if (nic->receive_rate_bits_per_s > 0 && nic->receive_rate_bits_per_s < SLOWEST_BITS_PER_S) {
        CONFLICT(
            ERROR_ID_CONFLICT_RATE, "nic.receive_rate", "nic.receive_rate",
            "a host that takes %s is too slow to be simulated (at least 8 Mb/s, or 0: it takes data as it arrives)",
            quantity_print(first, QUANTITY_RATE, nic->receive_rate_bits_per_s));
    }
}

/** Names of a switch's settings. */
struct switch_names {
    const char *ecn_minimum, *ecn_maximum, *xon, *lossless_pool, *lossy_pool, *headroom, *pfc, *trim, *trim_size,
        *queue_limit;
};

static void check_trimming(const struct topology *topology, const struct topology_switch *is,
                           const struct switch_names *names, const struct contradiction_scope *scope) {
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    const uint64_t packet = topology->nic.payload_bytes + topology->nic.header_bytes;
    if (is->queue_limit_bytes > 0 && is->queue_limit_bytes < packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->queue_limit, "nic.payload",
                 "a queue of %s does not hold one packet of %s",
                 quantity_print(first, QUANTITY_BYTES, is->queue_limit_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    }
    if (!is->trim) {
        return;
    }
    if (is->pfc) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->trim, names->pfc,
                 "only packets of lossy classes are trimmed, and with priority flow control data are lossless: they "
                 "pause instead");
    }
    if (is->trim_size_bytes >= packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->trim_size, "nic.payload",
                 "trimming to %s leaves packets of %s as they are",
                 quantity_print(first, QUANTITY_BYTES, is->trim_size_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    }
}

static void check_switch(const struct topology *topology, const struct topology_switch *is,
                         const struct switch_names *names, const struct contradiction_scope *scope) {
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    const uint64_t packet = topology->nic.payload_bytes + topology->nic.header_bytes;
    if (is->ecn_minimum_bytes > is->ecn_maximum_bytes) {
        CONFLICT(ERROR_ID_CONFLICT_ECN, names->ecn_minimum, names->ecn_maximum,
                 "ECN begins at %s, above its maximum of %s",
                 quantity_print(first, QUANTITY_BYTES, is->ecn_minimum_bytes),
                 quantity_print(second, QUANTITY_BYTES, is->ecn_maximum_bytes));
    }
    if (is->pfc && is->xon_bytes > is->lossless_pool_bytes) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->xon, names->lossless_pool,
                 "a resume level of %s is above the whole pool of %s",
                 quantity_print(first, QUANTITY_BYTES, is->xon_bytes),
                 quantity_print(second, QUANTITY_BYTES, is->lossless_pool_bytes));
    }
    if (is->pfc && is->lossless_pool_bytes < packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->lossless_pool, "nic.payload",
                 "a lossless pool of %s does not hold one packet of %s",
                 quantity_print(first, QUANTITY_BYTES, is->lossless_pool_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    }
    if (is->pfc && is->headroom_bytes > 0 && is->headroom_bytes < packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->headroom, "nic.payload",
                 "a headroom of %s does not hold one packet of %s: no pause would ever be sent",
                 quantity_print(first, QUANTITY_BYTES, is->headroom_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    }
    if (is->lossy_pool_bytes < packet) {
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, names->lossy_pool, "nic.payload",
                 "a lossy pool of %s does not hold one packet of %s",
                 quantity_print(first, QUANTITY_BYTES, is->lossy_pool_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet));
    }
}

/** A key of a section of the topology is in a file, with another value than its default: in a resolved configuration all are. */
static bool is_set(const struct topology *topology, const char *section_path, const char *name,
                   const struct contradiction_scope *scope) {
    const struct section *section = key_section(topology_keys(), section_path);
    const struct key *key = key_find(section, name);
    struct topology usual;
    char path[64];
    memset(&usual, 0, sizeof usual);
    section_reader_defaults(topology_keys(), &usual);
    usual.spine = usual.leaf;
    snprintf(path, sizeof path, "%s.%s", section_path, name);
    const size_t offset = section->offset + key->offset;
    return tree_find_path(scope->topology, path) != NULL &&
           memcmp((const char *)topology + offset, (const char *)&usual + offset, key->size) != 0;
}

static void check_switch_layer(const struct topology *topology, const char *section,
                               const struct contradiction_scope *scope) {
    static const char *const of_ethernet[] = {"lossless_pool",
                                              "lossy_pool",
                                              "lossless_alpha_shift",
                                              "lossy_alpha_shift",
                                              "headroom",
                                              "xon",
                                              "pfc",
                                              "queue_limit",
                                              "trim",
                                              "watchdog",
                                              "watchdog_action"};
    for (size_t i = 0; i < sizeof of_ethernet / sizeof of_ethernet[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.%s", section, of_ethernet[i]);
        if (is_set(topology, section, of_ethernet[i], scope)) {
            CONFLICT(ERROR_ID_CONFLICT_BUFFER, path, "fabric.link_layer",
                     "InfiniBand links have credits (section infiniband), neither shared pools nor pauses");
        }
    }
}

/** What only switches of the other link layer have. */
static void check_link_layer(const struct topology *topology, const struct contradiction_scope *scope) {
    static const char *const of_infiniband[] = {"infiniband.buffer", "infiniband.credit_grain"};
    if (topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND) {
        check_switch_layer(topology, "leaf", scope);
        check_switch_layer(topology, "spine", scope);
        return;
    }
    for (size_t i = 0; i < sizeof of_infiniband / sizeof of_infiniband[0]; i++) {
        if (is_set(topology, "infiniband", strchr(of_infiniband[i], '.') + 1, scope)) {
            CONFLICT(ERROR_ID_CONFLICT_BUFFER, of_infiniband[i], "fabric.link_layer",
                     "links are Ethernet, which has no credits");
        }
    }
}

/** With less, a credit that waits for a grain could hold a link for ever. */
static void check_credit(const struct topology *topology, const struct contradiction_scope *scope) {
    const struct topology_infiniband *infiniband = &topology->infiniband;
    const uint64_t packet = topology->nic.payload_bytes + topology->nic.header_bytes;
    if (topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND && infiniband->buffer_bytes != 0 &&
        infiniband->buffer_bytes < packet + infiniband->credit_grain_bytes) {
        char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE], third[QUANTITY_TEXT_SIZE];
        CONFLICT(ERROR_ID_CONFLICT_BUFFER, "infiniband.buffer", "infiniband.credit_grain",
                 "a buffer of %s does not hold a packet of %s beside the %s that may wait to be given back",
                 quantity_print(first, QUANTITY_BYTES, infiniband->buffer_bytes),
                 quantity_print(second, QUANTITY_BYTES, packet),
                 quantity_print(third, QUANTITY_BYTES, infiniband->credit_grain_bytes));
    }
}

/** Pools, headroom and ECN of all switches. */
static void check_switches(const struct topology *topology, const struct contradiction_scope *scope) {
    static const struct switch_names leaf = {"leaf.ecn_minimum", "leaf.ecn_maximum", "leaf.xon", "leaf.lossless_pool",
                                             "leaf.lossy_pool",  "leaf.headroom",    "leaf.pfc", "leaf.trim",
                                             "leaf.trim_size",   "leaf.queue_limit"};
    static const struct switch_names spine = {
        "spine.ecn_minimum", "spine.ecn_maximum", "spine.xon",  "spine.lossless_pool", "spine.lossy_pool",
        "spine.headroom",    "spine.pfc",         "spine.trim", "spine.trim_size",     "spine.queue_limit"};
    check_switch(topology, &topology->leaf, &leaf, scope);
    check_trimming(topology, &topology->leaf, &leaf, scope);
    if (tree_find(scope->topology, "spine") != NULL) {
        check_switch(topology, &topology->spine, &spine, scope);
        check_trimming(topology, &topology->spine, &spine, scope);
    }
}

void topology_check(const struct topology *topology, const struct contradiction_scope *scope) {
    check_scale(topology, scope);
    check_receive(topology, scope);
    check_nvlink(topology, scope);
    if (topology->fabric.leaf_downlinks > 0) {
        check_leaf_ports(topology, scope);
        check_spines(topology, scope);
        check_super_spines(topology, scope);
    }
    check_rails(topology, scope);
    check_crossed(topology, scope);
    check_planes(topology, scope);
    check_switches(topology, scope);
    check_link_layer(topology, scope);
    check_credit(topology, scope);
}
