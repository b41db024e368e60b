// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What monitoring sees of a cluster: counters and times of GPUs, NICs and ports, as profilers, `ethtool -S`, LLDP and switches tell them. Nothing in it says what is wrong.
 */
#ifndef MOEFABRIC_TRAINING_TELEMETRY_H
#define MOEFABRIC_TRAINING_TELEMETRY_H

#include <stdint.h>

#define TELEMETRY_NONE UINT32_MAX

/** Of one GPU with its NIC. */
struct telemetry_rank {
    double compute;         /**< time of a kernel whose work is known ÷ what it should take, mean over micro-batches */
    double tokens;          /**< (token, expert) pairs that its experts were given */
    double wait_s;          /**< in exchanges, from its own start of each phase to its end */
    double retransmissions; /**< packets that its NIC sent again */
    double receive_pauses;  /**< pauses that its NIC sent to its leaf, and packets that it discarded */
    double send_share, receive_share; /**< of the NIC's rate: the best message of a pairwise test; 0 = none was run */
    uint32_t rail;                    /**< that it should be on; TELEMETRY_NONE: there are none */
    uint32_t leaf;                    /**< neighbour that LLDP names, of plane 0 */
};

/** Of one directed link between devices of the fabric, NVLink not counted. */
struct telemetry_link {
    uint32_t cable;              /**< the same both ways */
    uint32_t from_rank, to_rank; /**< TELEMETRY_NONE: a switch */
    double nominal_bytes_per_s;  /**< as the port was set up */
    double bytes;                /**< that were sent */
    double rate_bytes_per_s;     /**< highest while it was busy; 0 = it was never busy for long enough to tell */
    double utilisation;          /**< of the time */
    double errors;               /**< packets that the port at its end found damaged, or never found */
    double packets;              /**< that were sent */
};

/** One look at a cluster. Arrays belong to whoever made it. */
struct telemetry {
    struct telemetry_rank *ranks; /**< [n_ranks] */
    struct telemetry_link *links; /**< [n_links] */
    uint32_t n_ranks, n_links;
};

#endif
