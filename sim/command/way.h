// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The links that packets of a queue pair cross, and how many of its packets cross each: all of them where every choice on the way is a
 * hash or a table, else the share that each of the equally short ways has.
 */
#ifndef MOEFABRIC_COMMAND_WAY_H
#define MOEFABRIC_COMMAND_WAY_H

#include "command/simulation.h"

#include <stdbool.h>
#include <stdint.h>

/** A link on the way, and the part of the packets that are expected on it, above 0 to 1. */
struct way_link {
    uint32_t link;
    double share;
};

/** A queue pair. */
struct way_pair {
    uint32_t source, destination; /**< endpoints */
    uint32_t index;               /**< among those of the two, from 0 */
    uint32_t number;              /**< among all of the source: decides the plane where pairs keep to one */
};

struct way_finder;

/** For the policy and the seed of a run, which must outlive it. Ends with way_finder_free. */
struct way_finder *way_finder_create(const struct simulation *simulation);

/** Frees it; NULL is allowed. */
void way_finder_free(struct way_finder *finder);

/**
 * The links of a queue pair, from its source on; *count receives how many. They are the finder's, until it is asked again. ends_only: where packets are
 * spread, only those links that come before the first choice and the last ones, which takes no time.
 * Under ECMP and D-mod-K ways are exact as long as no link fails; a link that fails at some time changes routes, and then choices count as spread.
 */
const struct way_link *way_find(struct way_finder *finder, const struct way_pair *pair, bool ends_only,
                                uint32_t *count);

#endif
