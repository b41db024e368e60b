// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How a fabric that has been built is wired, and how much of its switches is used: counted on its devices and ports.
 */
#ifndef MOEFABRIC_FABRIC_WIRING_H
#define MOEFABRIC_FABRIC_WIRING_H

#include "config/topology.h"
#include "fabric/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRING_TEXT_SIZE = 160 };

/** Who shares a leaf with whom. */
struct wiring {
    uint32_t rails;   /**< 1 where leaves know none */
    bool rails_apart; /**< no leaf has GPUs of two rails */
    uint32_t
        fewest_leaves; /**< of a plane over which the GPUs of one rack and rail are spread; 1 = they share a leaf */
    uint32_t most_leaves;
};

/** Ports of the switches of one tier, of all planes. */
struct wiring_ports {
    uint64_t switches;
    uint64_t in_use;
    uint64_t bought; /**< all ports of these switches */
    uint64_t least;  /**< switches whose ports would be enough for these links, were they spread as it fits */
};

/** Looks at a fabric of one plane or of all. */
struct wiring wiring_of(const struct topology *topology, const struct fabric *fabric);

/** In words: "4 rails, each on leaves of its own; a rack's GPUs of a rail share a leaf". Returns buffer. */
char *wiring_text(const struct topology *topology, const struct wiring *wiring, char buffer[WIRING_TEXT_SIZE]);

/** Counts the ports of leaves (FABRIC_TIER_LEAF), spines or super-spines; the fabric has one plane. */
struct wiring_ports wiring_ports(const struct topology *topology, const struct fabric *fabric, enum fabric_tier tier);

#endif
