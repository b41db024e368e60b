// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What happened in a run: a comparison on many cases is worth what its cases reach.
 */
#ifndef MOEFABRIC_TESTS_FEATURE_H
#define MOEFABRIC_TESTS_FEATURE_H

#include "base/rate.h"
#include "random_case.h"
#include "reference.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    FEATURE_LEAST_CASES = 5, /**< fewer cases than that do not count as covered */
};

/** What can happen in a run; feature_name says it in words. */
enum feature {
    FEATURE_FINISHED,
    FEATURE_ECN_MARK,
    FEATURE_MARKED_PROBE,
    FEATURE_LOSSLESS_DROP,
    FEATURE_LOSSY_DROP,
    FEATURE_CONTROL_DROP,
    FEATURE_PAUSE_SENT,
    FEATURE_PAUSE_OFTEN,
    FEATURE_RESUME_SENT,
    FEATURE_TIMEOUT,
    FEATURE_NACK,
    FEATURE_RETRANSMISSION,
    FEATURE_DUPLICATE,
    FEATURE_REORDERING,
    FEATURE_NOTIFICATION,
    FEATURE_PROBE_REPLY,
    FEATURE_PROBE_HELD,
    FEATURE_PROBE_GIVEN_UP,
    FEATURE_LATE_ACKNOWLEDGEMENT,
    FEATURE_PACED,
    FEATURE_EARLY_PACING,
    FEATURE_ROUND_TRIP,
    FEATURE_UNTOLD_ROUND_TRIP,
    FEATURE_TELEMETRY,
    FEATURE_PULL,
    FEATURE_WINDOW_STALL,
    FEATURE_URGENT,
    FEATURE_URGENT_AGAIN,
    FEATURE_NVLINK,
    FEATURE_SECOND_CHANNEL,
    FEATURE_SERIES,
    FEATURE_COPIED,
    FEATURE_LENGTHENED,
    FEATURE_CREDIT_STALL,
    FEATURE_LANE_STALL,
    FEATURE_RENEWED_CREDIT,
    FEATURE_HELD_BACK,
    FEATURE_QUEUE_PAIRS,
    FEATURE_SPLIT_MESSAGE,
    FEATURE_ADAPTIVE,
    FEATURE_ECMP,
    FEATURE_SPRAY_RANDOM,
    FEATURE_SPRAY_ROUND_ROBIN,
    FEATURE_TWO_CHOICES,
    FEATURE_DRILL,
    FEATURE_FLOWLET,
    FEATURE_D_MOD_K,
    FEATURE_TURNS,
    FEATURE_THREE_TIERS,
    FEATURE_SLOWER_WAY,
    FEATURE_FEWER_CABLES,
    FEATURE_TIE,
    FEATURE_MANY_TIES,
    FEATURE_DEPENDENCY,
    FEATURE_UNITS,
    FEATURE_LATER_START,
    FEATURE_HELD_START,
    FEATURE_LOST_ON_DEAD_LINK,
    FEATURE_LOST_AT_RANDOM,
    FEATURE_SLOWED_LINK,
    FEATURE_DETOUR,
    FEATURE_WEIGHED,
    FEATURE_UNROUTED,
    FEATURE_FORGOTTEN_PAUSE,
    FEATURE_REPEATED_PAUSE,
    FEATURE_RECEIVE_PAUSE,
    FEATURE_RECEIVE_DISCARD,
    FEATURE_SELECTIVE_ACK,
    FEATURE_INFERRED_LOSS,
    FEATURE_SPURIOUS,
    FEATURE_WATCHDOG_STORM,
    FEATURE_WATCHDOG_FORWARD,
    FEATURE_WATCHDOG_RESTORATION,
    FEATURE_TRIM,
    FEATURE_TRIM_WAITING,
    FEATURES
};

/** Cases in which each feature occurred. Zero-initialise. */
struct feature_table {
    uint32_t cases;
    uint32_t counts[FEATURES];
};

/** A set of features: bit i is enum feature i. */
__extension__ typedef unsigned __int128 feature_bits;

/** The features that occurred in a run of a case. */
feature_bits feature_set(const struct random_case *random_case, const struct reference *reference);

/** A feature in words; static. */
const char *feature_name(enum feature feature);

/** Books the features of one run. */
void feature_count(struct feature_table *table, feature_bits set);

/** Prints the table. */
void feature_print(FILE *stream, const struct feature_table *table);

/** Whether every feature occurred often enough. */
bool feature_all_covered(const struct feature_table *table);

#endif
