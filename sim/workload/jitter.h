// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * When ranks start: uniformly within a span, the same for every pattern and policy.
 */
#ifndef MOEFABRIC_WORKLOAD_JITTER_H
#define MOEFABRIC_WORKLOAD_JITTER_H

#include "base/hash.h"
#include "base/rate.h"

#include <stdint.h>

/** Start of a rank, 0 … span_ps-1 (0 if span_ps is 0). */
static inline uint64_t jitter_start_ps(uint64_t seed, uint32_t rank, uint64_t span_ps) {
    const uint64_t draw = hash_draw(hash_stream(seed, HASH_PURPOSE_JITTER, rank, 0), 0);
    return (uint64_t)(((rate_wide)draw * span_ps) >> 64);
}

#endif
