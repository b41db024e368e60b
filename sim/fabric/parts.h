// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What has to be bought for a topology: switches, NICs, cables, optical modules, and the power of those whose figure is known.
 */
#ifndef MOEFABRIC_FABRIC_PARTS_H
#define MOEFABRIC_FABRIC_PARTS_H

#include "config/topology.h"
#include "fabric/describe.h"

#include <stdint.h>

enum {
    PARTS_LINES = 24,
    PARTS_NAME_SIZE = 160,
    /* Copper at 400 Gb/s and above (docs.nvidia.com): MCP7Y00 and MCP7Y10 from switch to NIC up to 3 m, MCP4Y10 between switches up to 2 m. */
    PARTS_COPPER_METRES = 3,
    PARTS_SWITCH_COPPER_METRES = 2,
    PARTS_ACTIVE_COPPER_METRES =
        5, /**< active copper from switch to NIC: 4 and 5 m (MCP7Y10 page); longer runs are fibre with modules */
};

/** One kind of part. */
struct parts_line {
    char name[PARTS_NAME_SIZE];
    uint64_t count;
    double typical_watts, maximum_watts; /**< of one; 0 = unknown or none */
};

/** All parts of the network. GPUs, CPUs and racks are not in it. */
struct parts {
    struct parts_line lines[PARTS_LINES];
    uint32_t n_lines;
    uint64_t modules;                    /**< optical modules among them */
    double typical_watts, maximum_watts; /**< of all lines with a known figure */
};

/**
 * Lists the parts of a topology whose plane has these facts (describe_measure of fabric_build or fabric_build_plane): switches,
 * cables and modules of all planes, one NIC a GPU in use, NVLink switch trays (NVSwitch chips, on baseboards) and backplane cables of whole
 * racks. Modules are for SR up to 50 m, DR up to 500 m, FR up to 2 km, LR beyond; those of switches fill cages of 800 Gb/s (two fibres of 400 Gb/s, four
 * of 200 Gb/s), those of NICs serve all planes. Power of switches comes from the topology, of modules from vendor pages (parts.c).
 */
void parts_list(const struct topology *topology, const struct describe_facts *facts, struct parts *parts);

/** Adds the racks themselves, each with its GPUs, CPUs and all that is in it: "rack of 72 GPUs". watts: of one; 0 = unknown. */
void parts_add_racks(struct parts *parts, const struct topology *topology, double watts);

#endif
