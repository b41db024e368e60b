// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Serialisation time in whole picoseconds, without drift.
 *
 * A rate is kept as picoseconds a byte with 24 fractional bits. A transmitter carries the fraction that a
 * packet leaves over to the next one, so each packet is exact to below 1 ps and the sum never drifts by more
 * than the rounding of the rate itself (2^-25 ps a byte: 1.5e-9 at 400 Gb/s, zero where a byte takes whole ps).
 */
#ifndef MOEFABRIC_BASE_RATE_H
#define MOEFABRIC_BASE_RATE_H

#include <stdint.h>

enum { RATE_FRACTION_BITS = 24 };

__extension__ typedef unsigned __int128 rate_wide; /* one product is wider than 64 bits */

/** A time that never comes: nothing is due. */
#define TIME_NEVER UINT64_MAX

/** Picoseconds a byte, 24 fractional bits, of a rate in bits per second (8 Mb/s … 2^43 b/s). Rounded to nearest. */
static inline uint64_t rate_ps_per_byte(uint64_t bits_per_s) {
    const rate_wide scaled = (rate_wide)UINT64_C(8000000000000) << RATE_FRACTION_BITS;
    return (uint64_t)((scaled + bits_per_s / 2) / bits_per_s);
}

/** Time that size bytes take, rounded up: for a packet on its own, with no carry. */
static inline uint64_t rate_time_ps(uint64_t ps_per_byte, uint64_t size_bytes) {
    return (ps_per_byte * size_bytes + ((UINT64_C(1) << RATE_FRACTION_BITS) - 1)) >> RATE_FRACTION_BITS;
}

/** The same of any number of bytes. */
static inline uint64_t rate_long_time_ps(uint64_t ps_per_byte, uint64_t bytes) {
    return (uint64_t)(((rate_wide)ps_per_byte * bytes + ((UINT64_C(1) << RATE_FRACTION_BITS) - 1)) >>
                      RATE_FRACTION_BITS);
}

/** Time that the next size bytes (at most 64 KiB) of a transmitter take; *carry keeps the fraction (start at 0) for the packet after. */
static inline uint64_t rate_next_ps(uint64_t ps_per_byte, uint64_t size_bytes, uint32_t *carry) {
    const uint64_t total = ps_per_byte * size_bytes + *carry;
    *carry = (uint32_t)(total & ((UINT64_C(1) << RATE_FRACTION_BITS) - 1));
    return total >> RATE_FRACTION_BITS;
}

#endif
