// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Large tables in few numbers.
 */
#ifndef MOEFABRIC_REPORT_REPORT_BLOCKS_H
#define MOEFABRIC_REPORT_REPORT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/** Points of a distribution that are kept: to p90 by 2 %, then closer towards the end, where tails are. */
enum { REPORT_BLOCKS_POINTS = 96 };

/** How many neighbours go into one block, so that n items make at most `most` blocks; at least 1. */
uint32_t report_blocks_size(uint64_t n, uint32_t most);

/** The parts of 1 at which a distribution of count values is read: ascending, the last one 1 - 1/(2 × count). Returns how many (at most REPORT_BLOCKS_POINTS). */
size_t report_blocks_shares(uint64_t count, double shares[REPORT_BLOCKS_POINTS]);

#endif
