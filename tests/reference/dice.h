// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A short run of draws for test generators.
 */
#ifndef MOEFABRIC_TESTS_DICE_H
#define MOEFABRIC_TESTS_DICE_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A stream of draws and how many were made. */
struct dice {
    uint64_t stream, count;
};

/** Draws of one topic of one case: what is drawn for one topic does not move what is drawn for another. */
static inline struct dice dice_of(uint64_t number, uint64_t topic) {
    return (struct dice){.stream = hash_stream(number, HASH_PURPOSE_TEST, topic, 0)};
}

/** 0 … bound-1. */
static inline uint32_t dice_below(struct dice *dice, uint32_t bound) {
    return hash_below(hash_draw(dice->stream, dice->count++), bound);
}

/** first … last. */
static inline uint64_t dice_between(struct dice *dice, uint64_t first, uint64_t last) {
    return first + hash_draw(dice->stream, dice->count++) % (last - first + 1);
}

/** True percent times in a hundred. */
static inline bool dice_chance(struct dice *dice, uint32_t percent) {
    return dice_below(dice, 100) < percent;
}

/** One of n values. */
static inline uint64_t dice_pick(struct dice *dice, const uint64_t *values, size_t n) {
    return values[dice_below(dice, (uint32_t)n)];
}

#endif
