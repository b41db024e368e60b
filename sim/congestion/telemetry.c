// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/telemetry.h"

#include "base/hash.h"

#include <string.h>

enum { MANTISSA_BITS = 4, MANTISSA_ONE = 1 << MANTISSA_BITS, EXPONENT_MOST = 15, UNITS_OF_ONE = 1024 };
enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023 };

double telemetry_utilisation(uint8_t code) {
    if (code == 0) {
        return 0;
    }
    const uint32_t mantissa = MANTISSA_ONE + (code & (MANTISSA_ONE - 1));
    return (double)((uint64_t)mantissa << (code >> MANTISSA_BITS)) / UNITS_OF_ONE;
}

/* The code at or below, or the next one, so that the mean over draws is right. */
static uint8_t encode(double utilisation, uint64_t draw) {
    const double least = MANTISSA_ONE, most = (double)((2 * MANTISSA_ONE - 1) << EXPONENT_MOST);
    const double given = utilisation * UNITS_OF_ONE; // mantissa × 2^exponent
    const double units = given < least ? least : given;
    if (units >= most) {
        return UINT8_MAX;
    }
    uint64_t bits; // of the double: what it holds below its leading 1 is the mantissa's four bits and the rest
    memcpy(&bits, &units, sizeof bits);
    const uint32_t exponent = (uint32_t)(bits >> DOUBLE_FRACTION_BITS) - DOUBLE_BIAS - MANTISSA_BITS;
    const uint32_t mantissa = bits >> (DOUBLE_FRACTION_BITS - MANTISSA_BITS) & (MANTISSA_ONE - 1);
    const uint64_t rest = bits << (64 - DOUBLE_FRACTION_BITS + MANTISSA_BITS);
    const uint32_t code = (exponent << MANTISSA_BITS) + mantissa + (draw < rest);
    return (uint8_t)(code > 0 ? code : 1); // 0 would tell nothing
}

uint8_t telemetry_tell(struct telemetry_port *port, uint64_t queue_ps, uint64_t packet_ps, uint64_t now_ps,
                       uint64_t round_trip_ps) {
    const uint64_t since_ps = now_ps - port->start_ps;
    const double round_trip = (double)round_trip_ps;
    const double share = since_ps < round_trip_ps ? (double)since_ps / round_trip : 1;
    port->utilisation =
        port->utilisation * (1 - share) + (double)queue_ps / round_trip * share + (double)port->packet_ps / round_trip;
    port->start_ps = now_ps;
    port->packet_ps = packet_ps;
    return encode(port->utilisation, hash_draw(port->stream, now_ps));
}
