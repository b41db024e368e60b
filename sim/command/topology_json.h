// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `topology --json` prints.
 */
#ifndef MOEFABRIC_COMMAND_TOPOLOGY_JSON_H
#define MOEFABRIC_COMMAND_TOPOLOGY_JSON_H

#include "config/topology.h"
#include "fabric/fabric.h"
#include "fabric/parts_prices.h"

#include <stdio.h>

/** A topology that has been built and listed. */
struct topology_json {
    const struct topology *topology;
    const struct fabric *fabric; /**< one plane */
    const struct describe_facts *facts;
    const struct parts *parts;
    const struct parts_prices *prices; /**< NULL without */
    const struct parts_cost *cost;     /**< NULL without */
    double seconds;                    /**< for the energy; 0 = none */
};

/** Prints one JSON document. */
void topology_json_print(FILE *stream, const struct topology_json *given);

#endif
