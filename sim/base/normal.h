// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Normal numbers from counter-based draws.
 */
#ifndef MOEFABRIC_BASE_NORMAL_H
#define MOEFABRIC_BASE_NORMAL_H

#include "base/hash.h"

#include <math.h>

/** The standard normal number of this count in a stream, of two of its draws (Box and Muller, "A note on the generation of random normal deviates", 1958). */
static inline double normal_draw(uint64_t stream, uint64_t count) {
    const double two_pi = 6.283185307179586;
    return sqrt(-2 * log1p(-hash_unit(hash_draw(stream, 2 * count)))) *
           cos(two_pi * hash_unit(hash_draw(stream, 2 * count + 1)));
}

#endif
