// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One item of the background: who sends to whom, how much and in which order.
 *
 * Members of an item are numbered from 0 in the order of `gpus`. Messages between two of them are numbered from 0 too: by round, and
 * in a ring by step within the round.
 */
#ifndef MOEFABRIC_WORKLOAD_BACKGROUND_ITEM_H
#define MOEFABRIC_WORKLOAD_BACKGROUND_ITEM_H

#include "base/error.h"
#include "config/experiment.h"
#include "config/gpu_list.h"

#include <stdint.h>

/** What does not change during a run. */
struct background_item {
    const struct experiment_background *given;
    struct gpu_list members, targets;
    uint32_t *places; /**< [n_ranks] number of a rank among the members; UINT32_MAX = none */
    uint32_t group;   /**< members of a group */
    uint32_t steps;   /**< messages to a peer in one round */
    uint64_t bytes;   /**< of a message */
};

/** Fills it, to be freed by background_item_fini; given stays the caller's. False with *error, and nothing to free, if a list of GPUs is wrong. */
bool background_item_init(struct background_item *item, const struct experiment_background *given, uint32_t n_ranks,
                          struct error *error);

/** Frees what it holds. */
void background_item_fini(struct background_item *item);

/** How many others a member sends to. */
uint32_t background_item_peers(const struct background_item *item, uint32_t member);

/** The rank of the index-th of them. */
uint32_t background_item_peer(const struct background_item *item, uint32_t member, uint32_t index);

/** Whether a member begins its rounds by itself; else what arrives does. */
bool background_item_is_first(const struct background_item *item, uint32_t member);

#endif
