// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/portable_math.h"

#include <stdint.h>
#include <string.h>

static const double ln_2 = 0x1.62e42fefa39efp-1;      /* nearest double */
static const double ln_2_high = 0x1.62e42fe000000p-1; /* its first 28 bits: times an exponent it is exact */
static const double ln_2_low = 0x1.f473de6af278fp-30; /* ln 2 - ln_2_high */

/* 2^exponent, -1022 … 1023. */
static double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* value = m × 2^e with m in [√½, √2), and ln m = 2 artanh((m-1)/(m+1)), an odd series in |s| < 0.1716. */
double portable_math_log(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int above_root = fraction > UINT64_C(0x6a09e667f3bcc); /* √2 = 1 + this × 2^-52 */
    const int exponent = (int)(bits >> 52) - 1023 + above_root;
    bits = fraction | (UINT64_C(1023) - (uint64_t)above_root) << 52;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    const double s = (mantissa - 1) / (mantissa + 1), z = s * s;
    const double tail =
        1.0 / 3 +
        z * (1.0 / 5 +
             z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * (1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17)))))));
    return exponent * ln_2_high + (2 * s + (2 * s * z * tail + exponent * ln_2_low));
}

/* value = n ln 2 + r with |r| ≤ ln 2 / 2, and the Taylor series of r. */
double portable_math_exp(double value) {
    enum { TERMS = 14 };
    const int n = (int)(value / ln_2 + (value < 0 ? -0.5 : 0.5));
    const double r = (value - n * ln_2_high) - n * ln_2_low;
    double sum = 1;
    for (int term = TERMS; term > 0; term--) {
        sum = 1 + sum * r / term;
    }
    return sum * power_of_two(n);
}
