// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Draws from a fixed discrete law in constant time: the alias method (Walker 1977; Vose, IEEE TSE 17(9), 1991) with 32-bit thresholds.
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_ALIAS_H
#define MOEFABRIC_WORKLOAD_GATE_ALIAS_H

#include "base/hash.h"

#include <stdint.h>

/** One column of the table. */
struct gate_alias_column {
    uint32_t threshold; /**< the column's own number wins if the low 32 bits of the draw are at or below this */
    uint32_t other;     /**< else this one */
};

/** The table for count positive weights of any sum; freed with free(). Every probability is exact to 2^-32. */
struct gate_alias_column *gate_alias_create(const double *weights, uint32_t count);

/** A number 0 … count-1 from 64 uniform bits. */
static inline uint32_t gate_alias_draw(const struct gate_alias_column *columns, uint32_t count, uint64_t draw) {
    const uint32_t column = hash_below(draw, count);
    return (uint32_t)draw <= columns[column].threshold ? column : columns[column].other;
}

#endif
