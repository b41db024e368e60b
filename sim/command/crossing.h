// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which flows cross which links: one pass over all flows of a run, which keeps of each link those with most bytes, and of links that
 * are asked about all of them.
 */
#ifndef MOEFABRIC_COMMAND_CROSSING_H
#define MOEFABRIC_COMMAND_CROSSING_H

#include "command/flow_pairs.h"

#include <stdbool.h>
#include <stdint.h>

/** A flow on a link. */
struct crossing_user {
    uint64_t flow; /**< row of the flows table */
    double part;   /**< of its packets, 0 to 1 */
    bool certain;  /**< whatever ways are chosen, as many of the packets of one of its queue pairs as of any link */
};

/** A link that is asked about. */
struct crossing_link {
    uint32_t link;
    struct crossing_user *users; /**< in order of flows */
    uint64_t n_users, capacity;
};

/** A link of a flow. */
struct crossing_part {
    uint32_t link;
    double part;  /**< of the flow's packets, 0 to 1 */
    bool certain; /**< as crossing_user */
};

/** Links that are asked about. Zero-initialise; ends with crossing_fini. */
struct crossings {
    struct crossing_link *links;
    uint32_t n_links, capacity;
    uint32_t *place_of; /**< [n_links of the fabric] place in links + 1; 0: not asked about */
};

/** Asks about the links of a flow; writes them, with its own part of each, to *own, to be freed by the caller. Returns how many. */
uint32_t crossing_ask(struct crossings *crossings, const struct flow_pairs *pairs, uint64_t flow,
                      struct crossing_part **own);

/**
 * Finds the flows on all links that were asked about, and fills measurement.crossings. Where flows and ways are too many for that (some seconds), the
 * table stays empty, and of flows that are spread only their ends are known.
 */
void crossing_find(struct crossings *crossings, const struct flow_pairs *pairs, struct measurement *measurement);

/** Frees what they own. */
void crossing_fini(struct crossings *crossings);

#endif
