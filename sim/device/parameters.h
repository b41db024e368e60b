// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Figures of the devices, as plain numbers: filled from a topology and a configuration, read-only in a run.
 */
#ifndef MOEFABRIC_DEVICE_PARAMETERS_H
#define MOEFABRIC_DEVICE_PARAMETERS_H

#include "congestion/congestion.h"
#include "device/packet.h"
#include "path/path.h"

#include <stdbool.h>
#include <stdint.h>

/** What a PFC watchdog does in a storm, in the order of the configuration's names. */
enum watchdog_action {
    WATCHDOG_DROP,    /**< the queue is emptied, and takes nothing */
    WATCHDOG_FORWARD, /**< the queue sends in spite of pauses */
    WATCHDOG_ALERT,   /**< nothing: it is counted */
};

/** An Ethernet switch. Rules: sim/device/README.md. */
struct switch_parameters {
    bool pfc;                     /**< priority flow control on the lossless class */
    uint64_t lossless_pool_bytes; /**< shared by all lossless ingress counts */
    uint64_t lossy_pool_bytes;    /**< shared by control and lossy queues */
    int lossless_alpha_shift;     /**< dynamic threshold = free pool × 2^shift (SONiC dynamic_th) */
    int lossy_alpha_shift;
    uint64_t headroom_bytes;          /**< per ingress port, absorbs what is in flight after a pause (xoff) */
    bool headroom_automatic;          /**< each port has its own in place of that: fabric/headroom.h */
    uint64_t xon_bytes;               /**< resume level and hysteresis */
    uint64_t watchdog_detection_ps;   /**< PFC watchdog: a queue paused for so long is in a storm; 0 = no watchdog */
    uint64_t watchdog_restoration_ps; /**< and takes packets again when it has not been paused for so long */
    enum watchdog_action watchdog_action;  /**< what is done in a storm */
    bool ecn;                              /**< mark data classes */
    uint64_t ecn_minimum_bytes;            /**< Kmin: at or below never marked */
    uint64_t ecn_maximum_bytes;            /**< Kmax: above always marked */
    uint32_t ecn_probability_fxp20;        /**< Pmax at Kmax, 1 << 20 = 1 */
    uint32_t class_weight[PACKET_CLASSES]; /**< DWRR weights of the two data classes; control is strict */
    uint64_t queue_limit_bytes; /**< a lossy data queue holds so much at most, whatever the pool says; 0 = no limit */
    bool trim; /**< lossy data packets that find no room are cut to their header, which goes on in the control class */
    uint32_t trim_bytes;       /**< wire size of what is left */
    uint64_t trim_limit_bytes; /**< a control queue that holds more takes no header; 0 = no limit */
    uint64_t
        trim_arriving_fxp32; /**< probability that the packet that arrives is cut, else the one that joined the queue last; 1 << 32 = 1 */
    uint32_t trim_turns; /**< control packets that start for each data packet while both wait; 0 = control is strict */
};

/** A retransmission time-out doubles on repeat, up to 2 to this power times the first. */
enum { NIC_LONGEST_BACK_OFF = 7 };

/** A NIC and the transport that it runs. */
struct nic_parameters {
    uint32_t payload_bytes; /**< of a full packet (MTU without headers) */
    uint32_t header_bytes;  /**< added to every data packet on the wire */
    uint32_t control_bytes; /**< wire size of ACK, NACK, notification, probe, reply */
    uint32_t
        acknowledge_bytes; /**< an ACK when so much payload is unacknowledged, and at the end of a message; 1 = every packet */
    uint32_t queue_pairs;         /**< per peer; messages go round-robin over them … */
    bool split_messages;          /**< … or each is split over all of them */
    uint32_t window_packets;      /**< unacknowledged packets a queue pair; 0 = unlimited */
    bool out_of_order;            /**< direct placement: any order is accepted; else go-back-N */
    bool adaptive_marking;        /**< data packets are marked as eligible for adaptive routing */
    enum packet_class data_class; /**< PACKET_CLASS_LOSSLESS or PACKET_CLASS_LOSSY */
    uint32_t other_class_every;   /**< of so many endpoints in turn the last one uses the other data class; 0 = none */
    uint64_t
        plane_failover_ps; /**< several planes: one that leads nowhere is left out so long after it died, and used again so long after it is back */
    bool
        plane_by_pair; /**< several planes: a queue pair keeps to one; else each packet takes the port that is free first */
    bool
        context_by_plane; /**< several planes, chosen packet by packet: a congestion context each plane; else one for all */
    uint64_t retransmit_timeout_ps; /**< without progress for so long: rewind; doubles up to 2^7 times on repeat */
    uint64_t message_gap_ps;        /**< a data packet of a NIC takes at least so long; 0 = no limit */
    uint64_t
        urgent_timeout_ps; /**< urgent messages are acknowledged, and sent again after so long; doubles as above; 0 = they are not */
    uint64_t nack_interval_ps;     /**< go-back-N: at most one NACK for the same expected packet in this time */
    uint64_t receive_ps_per_byte;  /**< the host takes data at this rate, as base/rate.h keeps it; 0 = as it arrives */
    uint64_t receive_buffer_bytes; /**< of each data class, where the host does not take data as it arrives */
    uint64_t receive_xoff_bytes;   /**< lossless class with PFC: pauses the leaf when more than this is held */
    uint64_t receive_xon_bytes;    /**< resumes it when no more than this is left */
    bool selective_repeat;         /**< only what is missing is sent again (recovery.h); needs out_of_order */
    uint32_t
        loss_distance; /**< selective repeat: a packet is lost once one so many numbers above is there; 0 = never */
    uint64_t short_timeout_ps; /**< in place of retransmit_timeout_ps while few packets are unacknowledged; 0 = none */
    uint32_t short_timeout_packets; /**< few: so many at most */
    double
        window_products; /**< selective repeat: packets in flight at most, in bandwidth-delay products of the idle path; 0 = no limit */
};

/** Queue pairs that one message goes by. */
static inline uint32_t nic_parameters_parts(const struct nic_parameters *nic) {
    return nic->split_messages ? nic->queue_pairs : 1;
}

/** Packets in flight that window_products allows on a way: at least 1. */
static inline uint32_t nic_parameters_cap(const struct nic_parameters *nic, const struct congestion_way *way) {
    const double product_bytes = (double)way->line_bits_per_s * (double)way->base_round_trip_ps / 8e12;
    const double packets = nic->window_products * product_bytes / (double)way->packet_bytes;
    return packets < 1 ? 1 : packets < (double)CONGESTION_UNLIMITED ? (uint32_t)packets : CONGESTION_UNLIMITED - 1;
}

/** The data class of an endpoint's NIC. */
static inline enum packet_class nic_parameters_class(const struct nic_parameters *nic, uint32_t endpoint) {
    const bool other = nic->other_class_every > 0 && endpoint % nic->other_class_every == nic->other_class_every - 1;
    const bool lossless = (nic->data_class == PACKET_CLASS_LOSSLESS) != other;
    return lossless ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY;
}

/** NVLink: records, credits. */
struct nvlink_parameters {
    uint32_t record_bytes;       /**< largest record */
    uint32_t credit_grain_bytes; /**< credits return in multiples of at least this */
    uint64_t buffer_bytes; /**< receive buffer of a link, both directions; 0 = 2 × round trip × rate of each link */
    uint64_t
        copy_ps_per_byte; /**< a GPU's streaming multiprocessors copy records out at this rate, as base/rate.h keeps it; 0 = not limiting */
};

/** InfiniBand: credits of the links between NICs and switches. Rules: sim/device/infiniband.md. */
struct infiniband_parameters {
    bool links;                  /**< they are InfiniBand; false = Ethernet */
    uint32_t credit_grain_bytes; /**< credits return in multiples of at least this, per virtual lane; ≥ 1 */
    uint64_t buffer_bytes;       /**< receive buffer of a link and virtual lane; 0 = round trip × rate of each link */
};

struct exchange;
struct failure_list;
struct recorder_wishes;

/** Everything that a run of the devices needs besides fabric and traffic. */
struct network_parameters {
    uint64_t seed;                        /**< hashing, marking, ties; the traffic has its own */
    struct switch_parameters leaf, spine; /**< by tier; super-spines use spine */
    struct nic_parameters nic;
    struct nvlink_parameters nvlink;
    struct infiniband_parameters infiniband;
    struct path_parameters path;
    struct congestion_parameters congestion;
    const struct failure_list *failures;  /**< NULL or an empty list = nothing fails */
    const struct recorder_wishes *series; /**< NULL = none are recorded */
    uint64_t window_ps;              /**< 0 = the smallest link latency; smaller values must give the same results */
    uint32_t threads;                /**< 0 or 1 = one; results do not depend on it */
    const struct exchange *exchange; /**< NULL = one process; else this process is one of several ranks */
    uint64_t
        stall_ps; /**< looked at every so often: nothing accepted since, although messages are on their way, ends the run as stalled; 0 = never */
    uint64_t limit_ps; /**< simulated time at which a run ends as unfinished; at most 2^48-1 (281 s) */
};

/** Whether switches trim packets: a time-out then tells of a failure rather than of a full queue. */
static inline bool network_parameters_trim(const struct network_parameters *parameters) {
    return parameters->leaf.trim || parameters->spine.trim;
}

#endif
