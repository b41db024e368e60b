// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The wiring of a cluster as an immutable graph: devices, ports, directed links, and which ports lead where.
 *
 * A port has one link out and one link in. Link number = number of the port that it leaves: the link that
 * leaves port p of device d is devices[d].first_port + p, and the link that enters that port is links[that].reverse.
 * Devices 0 … n_endpoints-1 are the endpoints, in rank order; switches and NVSwitch chips follow.
 */
#ifndef MOEFABRIC_FABRIC_FABRIC_H
#define MOEFABRIC_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#define FABRIC_NONE UINT32_MAX

enum fabric_device_kind {
    FABRIC_ENDPOINT, /**< a GPU with its NIC ports (first) and its NVLink ports (after them) */
    FABRIC_SWITCH,   /**< an Ethernet or InfiniBand switch */
    FABRIC_NVSWITCH, /**< one NVSwitch chip */
};

enum fabric_link_kind {
    FABRIC_ETHERNET, /**< between NICs and switches: Ethernet, or InfiniBand where a run says so */
    FABRIC_NVLINK,
};

enum fabric_tier { FABRIC_TIER_LEAF, FABRIC_TIER_SPINE, FABRIC_TIER_SUPERSPINE };

/** One device. */
struct fabric_device {
    enum fabric_device_kind kind;
    uint32_t ordinal;    /**< number among its kind, from 0 */
    uint32_t first_port; /**< global number of its port 0 */
    uint32_t n_ports;
    enum fabric_tier tier; /**< switches only */
    uint32_t tier_index; /**< number among its tier and plane (leaf 3, spine 0); for a chip its number in its domain */
    uint32_t domain;     /**< NVLink domain (endpoints and chips), else FABRIC_NONE */
    uint32_t rack;       /**< FABRIC_NONE where it is in none */
    uint32_t rail;       /**< leaves of rail-optimised fabrics, endpoints; else FABRIC_NONE */
    uint32_t pod;        /**< leaves and spines, within their plane; else FABRIC_NONE */
    uint32_t plane;      /**< switches: plane that it belongs to; else 0 */
    bool cut_through;    /**< forwards a packet from its first bit (switches); else once its last bit is there */
};

/** One directed link. */
struct fabric_link {
    enum fabric_link_kind kind;
    uint32_t tail_device, tail_port; /**< leaves this port (number within the device) */
    uint32_t head_device, head_port; /**< enters this port */
    uint32_t reverse;                /**< the link that runs the other way on the same cable */
    uint64_t rate_bits_per_s;        /**< usable rate (usable fraction already applied on NVLink) */
    uint64_t ps_per_byte;            /**< the same as base/rate.h keeps it */
    uint64_t latency_ps;             /**< cable + fixed latency of what it enters (and of the NIC that it leaves) */
    uint64_t propagation_ps;         /**< the cable's part of it */
};

/** An endpoint's place. */
struct fabric_endpoint {
    uint32_t n_nics;          /**< ports 0 … n_nics-1 are NIC ports: port p is in plane p */
    uint32_t n_nvlinks;       /**< ports n_nics … n_nics+n_nvlinks-1 are NVLink ports */
    uint32_t domain;          /**< NVLink domain or FABRIC_NONE */
    uint32_t index_in_domain; /**< 0 … size-1; the rail-mate of a GPU has the same index in another domain */
    uint32_t leaf;            /**< number of its leaf within each plane; FABRIC_NONE without a NIC */
    uint32_t leaf_port;       /**< port of that leaf, of each plane, which leads to it */
};

/** One NVLink domain: its endpoints are consecutive ranks. */
struct fabric_domain {
    uint32_t first_endpoint, n_endpoints;
    uint32_t first_chip, n_chips; /**< device numbers of its NVSwitch chips, consecutive */
};

/** Ports first_port … first_port+count-1 of a switch lead there, all equally short. */
struct fabric_route {
    uint16_t first_port, count;
};

/** The whole graph. Immutable after building; freed by fabric_free. */
struct fabric {
    uint32_t n_devices, n_endpoints, n_switches, n_chips, n_domains, n_links;
    uint32_t n_leaves, n_spines, n_super_spines; /**< of the switches, in this order; each plane by plane */
    uint32_t n_planes;     /**< fabrics of their own, all wired alike, which share endpoints only; at least 1 */
    uint32_t plane_leaves; /**< leaves of a plane: n_leaves ÷ n_planes */
    uint32_t n_pods;       /**< of a plane: leaves and spines that reach each other without a super-spine */
    struct fabric_device *devices;
    struct fabric_link *links;
    struct fabric_endpoint *endpoints;
    struct fabric_domain *domains;
    uint32_t *switch_devices; /**< [n_switches] device number of a switch */
    struct fabric_route *
        routes; /**< [switch ordinal × plane_leaves + number of the destination's leaf in the plane]; count 0 = unreachable */
    uint64_t smallest_latency_ps; /**< W of the engine */
};

/** Number of the endpoints' leaf that a switch (device number) is, within its plane; a switch of another tier gets a number that no leaf has. */
static inline uint32_t fabric_own_leaf(const struct fabric *fabric, uint32_t device) {
    return fabric->devices[device].ordinal - fabric->devices[device].plane * fabric->plane_leaves;
}

/** Ordinal of a leaf of a plane. */
static inline uint32_t fabric_leaf_ordinal(const struct fabric *fabric, uint32_t plane, uint32_t leaf) {
    return plane * fabric->plane_leaves + leaf;
}

/** Ports of a switch (device number) that lead towards an endpoint: its own port on the endpoint's leaf, else the route to that leaf. */
static inline struct fabric_route fabric_route_to(const struct fabric *fabric, uint32_t device, uint32_t endpoint) {
    const struct fabric_endpoint *to = &fabric->endpoints[endpoint];
    if (to->leaf == fabric_own_leaf(fabric, device)) {
        return (struct fabric_route){.first_port = (uint16_t)to->leaf_port, .count = 1};
    }
    return fabric->routes[(uint64_t)fabric->devices[device].ordinal * fabric->plane_leaves + to->leaf];
}

/** Ports of an NVSwitch chip that lead to an endpoint of its domain (one NVLink each). Computed by the builder's rule: GPU j has ports j × k … j × k + k-1. */
static inline struct fabric_route fabric_chip_route_to(const struct fabric *fabric, uint32_t device,
                                                       uint32_t endpoint) {
    const struct fabric_device *chip = &fabric->devices[device];
    const uint32_t per_gpu = chip->n_ports / fabric->domains[chip->domain].n_endpoints;
    const uint32_t first = fabric->endpoints[endpoint].index_in_domain * per_gpu;
    return (struct fabric_route){.first_port = (uint16_t)first, .count = (uint16_t)per_gpu};
}

/** Frees a fabric and all it owns; NULL is allowed. */
void fabric_free(struct fabric *fabric);

/** Bytes of memory that a fabric and all it owns take. */
uint64_t fabric_bytes(const struct fabric *fabric);

#endif
