// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What all endpoints received, by sender: a run of millions of messages is joined with what its senders noted, one sender at a time.
 */
#ifndef MOEFABRIC_COMMAND_ARRIVALS_H
#define MOEFABRIC_COMMAND_ARRIVALS_H

#include "device/network.h"

#include <stddef.h>
#include <stdint.h>

/** A delivered message of a known sender. */
struct arrival {
    uint32_t destination, tag;
    uint64_t delivered_ps;
};

/** All of them, those of each sender by (destination, tag). Ends with arrivals_fini. */
struct arrivals {
    struct arrival *rows;
    size_t *first; /**< [n_ranks + 1] row where those of a sender begin */
};

/** Of the ranks of a network that has run. */
struct arrivals arrivals_of(const struct network *network, uint32_t n_ranks);

/** The arrival of a message; NULL if it was not delivered. */
const struct arrival *arrivals_find(const struct arrivals *arrivals, uint32_t source, uint32_t destination,
                                    uint32_t tag);

/** Frees the rows. */
void arrivals_fini(struct arrivals *arrivals);

#endif
