// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Synthetic traffic patterns as plans: single flow, permutation, incast, uniform all-to-all.
 *
 * Every rank posts all its messages at its start (jittered within jitter_ps); nothing waits for a delivery.
 * Messages within an NVLink domain take NVLink, the others the fabric.
 */
#ifndef MOEFABRIC_WORKLOAD_PATTERN_H
#define MOEFABRIC_WORKLOAD_PATTERN_H

#include "base/error.h"
#include "config/experiment.h"
#include "workload/kernel.h"
#include "workload/moe_placement.h"
#include "workload/traffic.h"

#include <stdint.h>

struct pattern;

/**
 * Prepares a pattern other than EXPERIMENT_PATTERN_MOE. The seed of all draws is traffic->seed + seed.
 *
 * - single: `bytes` from `source` to `destination`.
 * - permutation: a uniformly drawn permutation without fixed points; every rank sends `bytes`.
 * - incast: `senders` ranks send `bytes` each to `destination`; they are spread evenly over the ranks of other domains, or
 *   over all other ranks if there is one domain only.
 * - ring: every rank sends `bytes` to the next one, the last one to the first.
 * - all_to_all: every rank sends `bytes` to every other, beginning with its next rank, so that senders do not march in step.
 *
 * The ranks of permutation, ring and all_to_all are those that traffic->gpus names. NULL with *error if ranks are out of range, too few, or bytes is 0. Freed by pattern_free.
 */
struct pattern *pattern_create(const struct experiment_traffic *traffic, const struct moe_placement *placement,
                               uint64_t seed, struct error *error);

/** Sets what its kernel takes (a pattern has no routing map); before the plan is begun. Without it: nothing. */
void pattern_set_kernel(struct pattern *pattern, const struct kernel *kernel);

/** Frees a pattern; NULL is allowed. */
void pattern_free(struct pattern *pattern);

/** The plan. The pattern stays its owner. */
struct traffic pattern_traffic(struct pattern *pattern);

/** How many ranks the pattern is among. */
uint32_t pattern_participants(const struct pattern *pattern);

/** How many messages a rank sends. */
uint32_t pattern_messages(const struct pattern *pattern, uint32_t rank);

/** Destination of message number `index` (below pattern_messages) of a rank. */
uint32_t pattern_destination(const struct pattern *pattern, uint32_t rank, uint32_t index);

/**
 * When a rank posts its messages (one that only receives: when the first message to it is posted), and when the last one for it was
 * delivered, over the fabric or NVLink, never before its start nor within the floor of its kernel; TIME_NEVER where there is none.
 */
struct pattern_times {
    uint64_t start_ps, end_ps;
};

/** Times of a rank; end_ps is what has happened so far. */
struct pattern_times pattern_times(const struct pattern *pattern, uint32_t rank);

/** Takes the end of a rank that another process has simulated. */
void pattern_take_end(struct pattern *pattern, uint32_t rank, uint64_t end_ps);

/** A hash of the whole traffic: equal for two policies that are shown the same. */
uint64_t pattern_digest(const struct pattern *pattern);

#endif
