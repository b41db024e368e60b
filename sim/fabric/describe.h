// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Facts about a fabric that need no simulation: counts, rates, oversubscription, bisection, and how one packet travels
 * through it while nothing else does.
 */
#ifndef MOEFABRIC_FABRIC_DESCRIBE_H
#define MOEFABRIC_FABRIC_DESCRIBE_H

#include "fabric/fabric.h"

#include <stdbool.h>
#include <stdint.h>

enum { DESCRIBE_HOPS = 8 }; /**< links of the longest path: super-spines need six */

/** Cables of one kind. Up leads from the GPU towards chip, leaf, spine or super-spine. All zero where there is none. */
struct describe_cables {
    uint64_t count;                                 /**< cables, each a link either way */
    uint64_t lowest_bits_per_s, highest_bits_per_s; /**< usable rate of a direction */
    uint64_t lowest_up_ps, highest_up_ps;           /**< latency upwards */
    uint64_t lowest_down_ps, highest_down_ps;       /**< latency downwards */
};

/** What a fabric is made of and what it can carry. */
struct describe_facts {
    struct describe_cables host, uplink, super_uplink; /**< NIC – leaf, leaf – spine, spine – super-spine */
    struct describe_cables nvlink;                     /**< GPU – NVSwitch chip */
    uint32_t n_pods, n_leaves, n_spines, n_super_spines, n_chips;
    uint64_t nic_bits_per_s;          /**< all GPUs' NICs together, one direction */
    uint64_t uplink_bits_per_s;       /**< all leaves' uplinks together, one direction (upwards) */
    uint64_t super_uplink_bits_per_s; /**< all spines' uplinks together, one direction */
    uint64_t
        bisection_bits_per_s; /**< scale-out, one direction: half of what all leaves bring up (of the NICs below them where there is one leaf), or all pods if that is less */
    double lowest_oversubscription; /**< NIC rate below a leaf ÷ rate of its uplinks; 0 without uplinks */
    double highest_oversubscription;
    double
        lowest_spine_oversubscription; /**< rate of the leaves' links to a spine ÷ of its uplinks; 0 without super-spines */
    double highest_spine_oversubscription;
    uint32_t farthest_switches; /**< Ethernet switches between GPU 0 and the GPU farthest from it */
};

/** Counts a fabric. Bisection is exact for leaves of one kind and equal pods: leaves (or pods) are halved, each spine (super-spine) is in the middle. */
void describe_measure(const struct fabric *fabric, struct describe_facts *facts);

/** One link of a path, and when an otherwise idle fabric uses it. */
struct describe_hop {
    uint32_t link;
    uint64_t start_ps;   /**< the first bit leaves */
    uint64_t end_ps;     /**< the last bit has left */
    uint64_t arrival_ps; /**< the head may begin to handle it: first bit at a cut-through switch, else last bit */
};

/** A way through the fabric. */
struct describe_path {
    uint32_t n_hops;
    struct describe_hop hops[DESCRIBE_HOPS];
    uint64_t latency_ps; /**< from the first bit leaving the source until the last bit is at the destination */
};

/**
 * The way of one packet of size_bytes, over plane 0, (on the wire, 1 … 65,536) over Ethernet or over NVLink without any other traffic. Where
 * several ports are equally short the first one is taken; over NVLink the first link of the source. At every hop the packet
 * starts at max(first bit, last bit - time of its size at the out rate) behind a cut-through switch, at its last bit elsewhere:
 * in whole picoseconds what the simulation gives an idle fabric. Returns false if there is no such way (or source = destination).
 */
bool describe_path(const struct fabric *fabric, uint32_t source, uint32_t destination, enum fabric_link_kind kind,
                   uint64_t size_bytes, struct describe_path *path);

/** The same over Ethernet in a plane. */
bool describe_path_of_plane(const struct fabric *fabric, uint32_t source, uint32_t destination, uint32_t plane,
                            uint64_t size_bytes, struct describe_path *path);

#endif
