// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Set-ups in which devices do all that they can: what must not change a result is tried on each.
 */
#ifndef MOEFABRIC_TESTS_DEVICE_SCENARIO_H
#define MOEFABRIC_TESTS_DEVICE_SCENARIO_H

#include "rig.h"

enum scenario {
    SCENARIO_PAUSED_INCAST, /**< two tiers, small pools, ECN, DCQCN */
    SCENARIO_LOSSY_INCAST,  /**< go-back-N, drops, NACKs, timers */
    SCENARIO_ADAPTIVE,      /**< a permutation over many paths, placed in any order, round-trip probes */
    SCENARIO_NVLINK,        /**< small buffers, two channels, messages that wait, NIC beside */
    SCENARIO_WINDOWS,       /**< a window, several queue pairs, a chain of answers, urgent messages */
    SCENARIO_UNEQUAL,       /**< cut-through from slow to fast and back */
    SCENARIOS
};

/** A set-up that has not run yet. Ends with rig_free. */
struct rig *scenario_create(enum scenario scenario, uint64_t seed);

#endif
