// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Failures over time, as a list that is known before the run: both ends of a link, and all switches, read the same one.
 * What devices make of it: sim/device/failures.md.
 */
#ifndef MOEFABRIC_FABRIC_FAILURE_H
#define MOEFABRIC_FABRIC_FAILURE_H

#include <stdint.h>

enum failure_kind {
    FAILURE_DOWN,    /**< nothing gets across; on both links of a cable at once */
    FAILURE_SLOW,    /**< another rate */
    FAILURE_LOSSY,   /**< packets are lost at random */
    FAILURE_RECEIVE, /**< the host behind the NIC that the link enters takes its data at another rate, or not at all */
    FAILURE_SEND,    /**< the GPU whose first port the link leaves starts no message */
};

#define FAILURE_LOSS_ONE (UINT64_C(1) << 32)

/** One directed Ethernet link (FAILURE_SLOW: NVLink too) in [from_ps, until_ps); FAILURE_RECEIVE: one that enters an endpoint; FAILURE_SEND: the first that leaves one. */
struct failure {
    enum failure_kind kind;
    uint32_t link;
    uint64_t from_ps, until_ps; /**< TIME_NEVER: for good */
    uint64_t
        ps_per_byte; /**< FAILURE_SLOW: its rate then, as base/rate.h keeps it; FAILURE_RECEIVE: that of the host, TIME_NEVER: it takes nothing */
    uint64_t loss_fxp32; /**< FAILURE_LOSSY: probability of loss, FAILURE_LOSS_ONE = 1 */
};

/** All failures of a run, in any order, and how fast the network takes notice. */
struct failure_list {
    struct failure *failures;
    uint32_t count;
    uint64_t exclusion_ps;   /**< per-packet policies: a switch's own dead port */
    uint64_t convergence_ps; /**< routing: everybody knows of every dead cable */
};

#endif
