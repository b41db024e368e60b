// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What C lacks for whole numbers.
 */
#ifndef MOEFABRIC_BASE_NUMBER_H
#define MOEFABRIC_BASE_NUMBER_H

#include <stdint.h>

/** The smaller of two. */
static inline uint64_t number_smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/** The larger of two. */
static inline uint64_t number_larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/** dividend ÷ divisor (> 0), rounded up. */
static inline uint64_t number_divide_up(uint64_t dividend, uint64_t divisor) {
    return dividend / divisor + (dividend % divisor != 0);
}

#endif
