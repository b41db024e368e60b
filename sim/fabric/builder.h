// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From a topology file's values to the graph: which GPU is plugged into which leaf, how fast and how long every cable is.
 *
 * Ethernet link latency = cable × latency per metre + fixed latency of what it enters (switch or NIC) + that of the NIC if it
 * leaves one; or fabric.link_latency as a whole where that is given. For a link into a cut-through switch it is the latency of
 * the first bit. A NIC's link runs at the slower of NIC (usable fraction applied) and leaf port, a leaf's uplink at the slower
 * of the two ports, NVLink at its usable fraction. Super-spines have the figures of spines.
 */
#ifndef MOEFABRIC_FABRIC_BUILDER_H
#define MOEFABRIC_FABRIC_BUILDER_H

#include "base/error.h"
#include "config/topology.h"
#include "fabric/fabric.h"

enum {
    BUILDER_SWITCH_LIMIT = 16384, /**< the table of routes is switches × leaves × 4 bytes */
    BUILDER_PORT_LIMIT = 65535,   /**< of one device: ports are 16-bit numbers */
};

/**
 * Builds the fabric of a topology. Only the GPUs in use are built; leaves are filled in rank order (rack wiring), or rail by
 * rail in domain order (rail wiring). Without spines one leaf holds everyone and its uplinks stay unplugged. With super-spines
 * every pod_racks racks are a pod, wired like a cluster of two tiers of its own; leaves and spines are numbered pod by pod, and
 * of every pod the first spines ÷ groups spines are linked to the first super-spines ÷ groups super-spines, and so on.
 * Each NIC plane is the same fabric once more, which shares nothing but the endpoints. Returns NULL with *error filled (numbers
 * 40–59, the topology's path as file) if the topology cannot be built. The fabric does not refer to the topology.
 */
struct fabric *fabric_build(const struct topology *topology, struct error *error);

/** The same for one plane of a topology with any number of them: what `moefabric topology` describes and multiplies. */
struct fabric *fabric_build_plane(const struct topology *topology, struct error *error);

#endif
