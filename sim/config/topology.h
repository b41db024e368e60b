// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A topology file as typed values: what a cluster is made of. Read by topology_read (topology_file.h), never changed after.
 *
 * All quantities are in base units: bits per second, bytes, picoseconds. Shares are fxp20 (1 << 20 = 1) where the
 * simulation uses them in integer arithmetic, else double.
 */
#ifndef MOEFABRIC_CONFIG_TOPOLOGY_H
#define MOEFABRIC_CONFIG_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_NAME_SIZE = 64, TOPOLOGY_GPUS_SIZE = 256 };

/** Which leaf a GPU's NIC is plugged into. */
enum topology_wiring {
    TOPOLOGY_WIRING_RACK, /**< leaves belong to racks: consecutive GPUs share a leaf (`one leaf a rack` if leaf downlinks = GPUs used a rack) */
    TOPOLOGY_WIRING_RAIL, /**< rail-optimised: GPUs with the same index (mod rails) of all domains share leaves */
};

/** What joins NICs and switches. */
enum topology_link_layer { TOPOLOGY_LINK_ETHERNET, TOPOLOGY_LINK_INFINIBAND };

/** Section `nvlink`: one NVLink domain. */
struct topology_nvlink {
    uint32_t gpus;  /**< GPU places of a domain (72, 8); 1 = no NVLink */
    uint32_t chips; /**< NVSwitch chips */
    uint32_t
        links_per_gpu; /**< links of a GPU, spread over the chips as evenly as they go: 18 over 4 chips are 5, 4, 4, 5 */
    uint64_t link_rate_bits_per_s; /**< raw rate of one link and direction */
    double usable_fraction;        /**< of it, for payload */
    uint64_t latency_up_ps;        /**< GPU to chip */
    uint64_t latency_down_ps;      /**< chip to GPU */
    uint64_t record_bytes;         /**< largest record */
    uint64_t credit_grain_bytes;
    uint64_t buffer_bytes; /**< receive buffer of a link; 0 = 2 × round trip × rate */
};

/** Section `gpu`: what communication kernels take, where traffic.kernel says that they take time. 0 = nothing, not limiting. */
struct topology_gpu {
    uint64_t base_latency_ps;     /**< of a phase: before its first byte can move */
    uint64_t kernel_floor_ps;     /**< the shortest that a phase takes */
    uint64_t message_cost_ps;     /**< between two messages that are handed to the NIC */
    uint64_t routing_map_ps;      /**< of one SM, for each (token, rank) pair of the map that it scans */
    double sm_copy_bytes_per_s;   /**< of one SM */
    double sm_reduce_bytes_per_s; /**< of one SM: bytes that it reads and sums up */
};

/** Which plane of its NIC a packet goes by. */
enum topology_plane_choice {
    TOPOLOGY_PLANE_PACKET,     /**< the port that is free first, of those that congestion control allows */
    TOPOLOGY_PLANE_QUEUE_PAIR, /**< that of its queue pair */
};

/** What leaves out planes that have died. */
/** What a PFC watchdog does in a storm. */
enum topology_watchdog { TOPOLOGY_WATCHDOG_DROP, TOPOLOGY_WATCHDOG_FORWARD, TOPOLOGY_WATCHDOG_ALERT };

enum topology_plane_failover { TOPOLOGY_FAILOVER_HARDWARE, TOPOLOGY_FAILOVER_SOFTWARE };

/** Section `nic`. */
struct topology_nic {
    uint32_t planes; /**< NIC ports a GPU, each in a fabric of its own: at most 8 */
    enum topology_plane_choice plane_choice;
    enum topology_plane_failover plane_failover;
    uint64_t plane_failover_time_ps; /**< 0 = that of plane_failover */
    uint64_t rate_bits_per_s;        /**< of one plane */
    double usable_fraction;          /**< of it that transports reach (1.0 unless the source says otherwise) */
    uint64_t latency_ps;             /**< each way */
    uint64_t payload_bytes;          /**< MTU without headers */
    uint64_t
        header_bytes; /**< a data packet's headers on the wire (Ethernet, IP, UDP, BTH, CRC, preamble and gap as far as the source counts them) */
    uint64_t control_bytes; /**< wire size of ACK, CNP, probe */
    double message_rate;    /**< messages a second that it starts at most; 0 = not limiting */
    bool out_of_order;      /**< direct data placement: packets may arrive in any order */
    uint64_t retransmit_timeout_ps;
    uint64_t nack_interval_ps;
    uint64_t receive_rate_bits_per_s; /**< at which the host takes data; 0 = as it arrives */
    uint64_t receive_buffer_bytes;    /**< of each data class, where it does not */
    uint64_t receive_headroom_bytes;  /**< of it, kept for what is under way after a pause; 0 = automatic */
};

/** Sections `leaf` and `spine`: one kind of switch. */
struct topology_switch {
    char model[TOPOLOGY_NAME_SIZE]; /**< product, for the parts list */
    uint32_t ports;                 /**< of port_rate */
    uint64_t port_rate_bits_per_s;
    uint64_t latency_ps; /**< port to port */
    bool cut_through;
    uint64_t lossless_pool_bytes;
    uint64_t lossy_pool_bytes;
    int32_t lossless_alpha_shift; /**< alpha = 2^shift */
    int32_t lossy_alpha_shift;
    uint64_t headroom_bytes; /**< per ingress port (xoff); 0 = automatic */
    uint64_t xon_bytes;
    bool pfc;
    bool watchdog; /**< PFC watchdog */
    uint64_t watchdog_detection_ps, watchdog_restoration_ps;
    enum topology_watchdog watchdog_action;
    bool ecn;
    uint64_t ecn_minimum_bytes, ecn_maximum_bytes;
    double ecn_probability;
    uint64_t queue_limit_bytes;      /**< of a lossy data queue; 0 = the pool alone limits it */
    bool trim;                       /**< lossy data packets that find no room are cut to their header */
    uint64_t trim_size_bytes;        /**< what is left of one */
    uint64_t trim_queue_limit_bytes; /**< a control queue that holds more takes no header; 0 = 2 × queue_limit_bytes */
    double trim_arriving;            /**< share of trims that hit the packet that arrives */
    uint32_t trim_priority;          /**< control packets for each data packet while both wait; 0 = always first */
    double power_typical_watts, power_maximum_watts; /**< 0 = unknown */
};

/** Section `infiniband`: credits of InfiniBand links. */
struct topology_infiniband {
    uint64_t buffer_bytes; /**< receive buffer of a link and virtual lane; 0 = round trip × rate */
    uint64_t credit_grain_bytes;
};

/** Section `fabric`: how leaves, spines and super-spines are joined. */
struct topology_fabric {
    enum topology_link_layer link_layer;
    enum topology_wiring wiring;
    uint32_t rails; /**< rail wiring: number of rails (divides the GPUs used a domain) */
    char crossed_gpus
        [TOPOLOGY_GPUS_SIZE]; /**< pairs of GPUs that use each other's NIC, as gpu_list.h reads them; empty = none */
    uint32_t leaf_downlinks;  /**< GPUs a leaf; at most ports - uplinks */
    uint32_t leaf_uplinks;    /**< in all; spread evenly over the spines (multiple of spines) */
    uint32_t spines;          /**< of each pod; 0 = one leaf only, no spines */
    uint32_t super_spines;    /**< in all, as the spines; 0 = two tiers, everything is one pod */
    uint32_t spine_uplinks;   /**< three tiers: of a spine in all; spread evenly over the super-spines of its group */
    uint32_t pod_racks;       /**< three tiers: racks of a pod, the last pod may have fewer */
    uint32_t
        super_spine_groups; /**< three tiers: divides spines and super_spines; a spine reaches its own group only */
    uint64_t host_cable_m;  /**< NIC to leaf, metres */
    uint64_t spine_cable_m; /**< leaf to spine, metres */
    uint64_t super_spine_cable_m; /**< spine to super-spine, metres */
    uint64_t cable_latency_ps_per_m;
    uint64_t
        link_latency_ps; /**< if > 0: the whole latency of every Ethernet link, replacing cable, NIC and switch latency (packet peers give it so) */
};

/** A topology file. */
struct topology {
    char name[TOPOLOGY_NAME_SIZE];
    uint32_t racks;     /**< NVLink domains (racks or nodes); overridden by the configuration's cluster section */
    uint32_t gpus_used; /**< GPUs used of each domain; ≤ nvlink.gpus */
    struct topology_gpu gpu;
    struct topology_nvlink nvlink;
    struct topology_nic nic;
    struct topology_switch leaf, spine;
    struct topology_infiniband infiniband;
    struct topology_fabric fabric;
    char path[256]; /**< file that it came from, as given */
};

#endif
