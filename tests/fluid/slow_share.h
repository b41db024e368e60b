// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Max-min fair rates by the definition, without heaps, lists of members or sums that are kept: for small problems.
 */
#ifndef MOEFABRIC_TESTS_FLUID_SLOW_SHARE_H
#define MOEFABRIC_TESTS_FLUID_SLOW_SHARE_H

#include "fluid/share.h"

#include <stdbool.h>

/** A problem of share.h, without uses aside; rates in the streams are the answer that is checked. */
struct slow_share {
    uint32_t n_limits;
    const double *capacities;
    const struct share_stream *streams;
    uint32_t n_streams;
    const struct share_bundle *bundles;
};

/** The part of a stream's rate that is on a limit. */
double slow_share_part(const struct slow_share *problem, uint32_t stream, uint32_t limit);

/** What the streams' rates put on each limit. */
void slow_share_add_up(const struct slow_share *problem, double *used);

/** Whether a stream has its most, or uses a full limit on which no stream is faster for its weight. */
bool slow_share_has_reason(const struct slow_share *problem, const double *used, uint32_t stream);

/** Rates by filling: again and again the smallest step up that fills a limit or gives a stream its most. */
void slow_share_solve(const struct slow_share *problem, double *rates);

#endif
