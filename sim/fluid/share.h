// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Max-min fair rates by progressive filling: all streams rise together, and one stops when something that it uses is full.
 *
 * Bertsekas and Gallager, Data Networks (2nd edition, 1992), section 6.5.2. A stream may use a limit by a part of its rate (spread over n
 * equal links, it uses each by 1/n), so "fair" is: equal rates of streams, whatever they use. What many streams use in the same way is a
 * bundle, which is looked at once for all of them.
 *
 * Without uses aside, the result is the one allocation in which every stream either has its own most, or uses a full limit on which no stream is faster for its weight.
 * What is used aside may go on rising when a limit is full, which then carries more than its capacity: by no more than that.
 */
#ifndef MOEFABRIC_FLUID_SHARE_H
#define MOEFABRIC_FLUID_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#define SHARE_NONE UINT32_MAX
/** A use of the whole rate. */
#define SHARE_ONE (UINT32_C(1) << 24)

/** Uses a limit by weight ÷ SHARE_ONE of a rate. */
struct share_use {
    uint32_t limit;
    uint32_t weight_fxp24; /**< > 0, below 1 << 31; a limit may stand several times in a list */
    bool
        aside; /**< takes its part of the limit, but the stream does not stop when the limit is full: ACKs have right of way */
};

/** What several streams use alike. */
struct share_bundle {
    const struct share_use *uses;
    uint32_t n_uses;
};

/** One stream. */
struct share_stream {
    const struct share_use *uses;
    uint32_t n_uses;
    uint32_t bundle; /**< number of what it uses besides, or SHARE_NONE */
    uint32_t weight; /**< 1 … 1 << 20: it rises so much faster than one of weight 1 */
    double most;     /**< it is never faster; INFINITY: no such limit */
    double rate;     /**< the answer, in the unit of the capacities */
};

struct share;

/** For n_limits limits of these capacities (copied; any unit, ≥ 0). Freed by share_free. */
struct share *share_create(uint32_t n_limits, const double *capacities);

/** Frees it; NULL is allowed. */
void share_free(struct share *share);

/**
 * Sets the rates of streams[active[0 … n_active-1]], each of which must use something or have a most. A limit of capacity 0 holds its streams
 * at 0. Time grows with the uses of these streams, once for a bundle however many have it, times the logarithm of the limits used.
 */
void share_solve(struct share *share, struct share_stream *streams, const uint32_t *active, uint32_t n_active,
                 const struct share_bundle *bundles, uint32_t n_bundles);

#endif
