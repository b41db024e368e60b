// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Traffic beside what is measured: a second tenant's all-to-all, rings of data-parallel training, pipeline sends, checkpoint writes.
 *
 * It runs in rounds and to its own end, whatever becomes of the measured traffic: no rank could know when that is done. Nothing is
 * drawn, so every seed and policy is shown the same. Its messages have tags of their own; between two GPUs they share queue pairs
 * with those of the measured traffic.
 */
#ifndef MOEFABRIC_WORKLOAD_BACKGROUND_H
#define MOEFABRIC_WORKLOAD_BACKGROUND_H

#include "base/error.h"
#include "config/experiment.h"
#include "workload/moe_placement.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

struct background;

/** Prepares experiment->backgrounds, of which there is at least one. NULL with *error if one of them names GPUs that are not there. Freed by background_free. */
struct background *background_create(const struct experiment *experiment, const struct moe_placement *placement,
                                     struct error *error);

/** Frees it; NULL is allowed. */
void background_free(struct background *background);

/** Both as one plan: the measured traffic's messages first, then those of the background. Both stay their own owners. */
struct traffic background_traffic(struct background *background, const struct traffic *measured);

/** Whether a message is of the background; those of the measured traffic have tags below 7 << 29. */
static inline bool background_owns(uint32_t tag) {
    return tag >> 29 == 7;
}

/** Which item of experiment->backgrounds a message of the background belongs to. */
static inline uint32_t background_item(uint32_t tag) {
    return tag >> 26 & 7;
}

/** GPUs that send or receive in an item. */
uint32_t background_participants(const struct background *background, uint32_t item);

/** When a rank takes part in an item: from the item's start to its last delivery; TIME_NEVER where there is none. */
struct background_times {
    uint64_t start_ps, end_ps;
};

/** Times of a rank in an item; end_ps is what has happened so far. */
struct background_times background_times(const struct background *background, uint32_t item, uint32_t rank);

/** Takes the end of a rank that another process has simulated. */
void background_take_end(struct background *background, uint32_t item, uint32_t rank, uint64_t end_ps);

/** What an item sends from its beginning to its end. */
struct background_volume {
    uint64_t fabric_bytes, fabric_messages, nvlink_bytes, nvlink_messages;
};

/** Sums an item. */
struct background_volume background_volume(const struct background *background, uint32_t item);

/** Messages of all items together that were delivered to ranks of this process. */
uint64_t background_delivered(const struct background *background);

/** Mixes all of it into the digest of the measured traffic. */
uint64_t background_digest(const struct background *background, uint64_t digest);

#endif
