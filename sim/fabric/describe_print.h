// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A fabric in tables for people: what `moefabric topology FILE` shows.
 */
#ifndef MOEFABRIC_FABRIC_DESCRIBE_PRINT_H
#define MOEFABRIC_FABRIC_DESCRIBE_PRINT_H

#include "config/topology.h"
#include "fabric/describe.h"
#include "fabric/fabric.h"

#include <stdint.h>
#include <stdio.h>

/**
 * Prints devices, links, what the fabric can carry, unloaded latencies of representative pairs. The fabric is
 * fabric_build_plane(topology): one plane; counts are multiplied by the planes where it says so.
 */
void describe_print(FILE *stream, const struct topology *topology, const struct fabric *fabric);

/** Prints every link of a path with its rate, its latency and when one packet of size_bytes uses it, and the total. */
void describe_print_path(FILE *stream, const struct fabric *fabric, const struct describe_path *path,
                         uint64_t size_bytes);

#endif
