// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two different candidates at random, as policies that compare a few queues need them.
 */
#ifndef MOEFABRIC_PATH_SAMPLE_H
#define MOEFABRIC_PATH_SAMPLE_H

#include "base/hash.h"
#include "path/path.h"

/** Two different ports, every ordered pair equally likely. */
struct sample {
    uint16_t first, second;
};

/** Takes the sample number n of a stream, from its draws 2n and 2n + 1. The request has two candidates or more. */
static inline struct sample sample_take(uint64_t stream, uint64_t n, const struct path_request *request) {
    const uint32_t first = hash_below(hash_draw(stream, 2 * n), request->count);
    const uint32_t other = hash_below(hash_draw(stream, 2 * n + 1), request->count - 1u);
    const uint32_t second = other + (other >= first);
    return (struct sample){.first = path_candidate(request, first), .second = path_candidate(request, second)};
}

#endif
