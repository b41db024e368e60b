// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Names what is slow or wrong in a cluster, from telemetry alone.
 *
 * A part is compared with its peers: with the median of all, in units of the spread that most of them have (median absolute deviation × 1.4826, gsl_stats_mad,
 * which a few bad parts do not move), and in absolute terms, so that nothing is named for a difference that costs nothing. The threshold of 3.5
 * spreads is that of Iglewicz and Hoaglin (How to detect and handle outliers, 1993); the absolute ones are ours.
 */
#ifndef MOEFABRIC_TRAINING_DETECTOR_H
#define MOEFABRIC_TRAINING_DETECTOR_H

#include "training/telemetry.h"

#include <stdbool.h>

/** What can be wrong. */
enum detector_fault {
    DETECTOR_SLOW_GPU,   /**< computes slower: clock, temperature */
    DETECTOR_HOT_EXPERT, /**< its experts are given more than those of others */
    DETECTOR_SLOW_NIC,   /**< sends or receives slower than its rate: NIC, its cable or transceivers */
    DETECTOR_SLOW_HOST,  /**< takes data from its NIC too slowly */
    DETECTOR_WRONG_RAIL, /**< NIC on the leaf of another rail */
    DETECTOR_SLOW_LINK,  /**< of switches */
    DETECTOR_LOSSY,      /**< link, of a NIC or of switches */
    DETECTOR_FAULTS
};

/** For people: "slow GPU". */
extern const char *const detector_fault_names[DETECTOR_FAULTS];

/** Something that is wrong: with a rank, or with a cable between switches. */
struct detector_finding {
    enum detector_fault fault;
    uint32_t rank;  /**< TELEMETRY_NONE: a link */
    uint32_t cable; /**< TELEMETRY_NONE: a rank */
    double amount;  /**< how much longer it takes than peers (0.25: a quarter more); lossy: share of packets lost */
    double spreads; /**< how many spreads away from its peers; INFINITY where peers are all alike */
};

enum { DETECTOR_MOST = 64 };

/** Findings, the worst first. */
struct detector_report {
    struct detector_finding findings[DETECTOR_MOST];
    uint32_t count;
    bool more; /**< there were more than that */
};

/** Looks at telemetry. */
void detector_run(const struct telemetry *telemetry, struct detector_report *report);

#endif
