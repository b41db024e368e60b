// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * PFC storms: how far the pauses of a receiver spread.
 */
#ifndef MOEFABRIC_COMMAND_STORM_H
#define MOEFABRIC_COMMAND_STORM_H

#include "fabric/fabric.h"
#include "results/measurement.h"

#include <stdint.h>

/** The tree of paused links behind a NIC that paused its leaf. */
struct storm {
    uint32_t
        root; /**< link that enters the NIC, the one that was paused longest; FABRIC_NONE: no NIC paused its leaf */
    uint32_t receivers; /**< NICs that paused their leaf */
    uint32_t links;     /**< other links that were paused, from the leaf outwards */
    uint32_t nics;      /**< senders held back: NICs that some of these links leave */
    uint32_t hops;      /**< of the furthest of them: 1 = links into that leaf */
    uint32_t worst;     /**< the one that was paused longest; FABRIC_NONE: none */
};

/**
 * Follows the pauses of a run (rows of links) from the NIC that paused its leaf longest: a link was paused by the switch that it
 * enters, so links behind it are those that enter the switch which it leaves. What else congests these switches is in the tree too.
 */
struct storm storm_find(const struct fabric *fabric, const struct measurement *measurement);

/** Adds a sentence on it to the explanations, if a NIC paused its leaf. */
void storm_explain(const struct fabric *fabric, struct measurement *measurement);

#endif
