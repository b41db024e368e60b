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
    PARTS_LINES = 16,
    PARTS_NAME_SIZE = 160,
    PARTS_COPPER_METRES =
        3, /**< passive copper (DAC) reaches that far at 400 Gb/s and above; longer runs are fibre with a module at either end */
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
 * cables and modules of all planes, one NIC a GPU in use, NVSwitch chips and backplane cables of whole racks. Power of switches
 * comes from the topology; of modules from vendor pages (200 Gb/s 5 W, 400 Gb/s 9 W, 800 Gb/s twin-port 17 W, all maximum:
 * NVIDIA MMS4X00 product pages, docs.nvidia.com).
 */
void parts_list(const struct topology *topology, const struct describe_facts *facts, struct parts *parts);

#endif
