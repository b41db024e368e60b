// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/telemetry.h"

enum { MANTISSA_BITS = 4, MANTISSA_ONE = 1 << MANTISSA_BITS, EXPONENT_MOST = 15, UNITS_OF_ONE = 1024 };

double telemetry_utilisation(uint8_t code) {
    if (code == 0) {
        return 0;
    }
    const uint32_t mantissa = MANTISSA_ONE + (code & (MANTISSA_ONE - 1));
    return (double)((uint64_t)mantissa << (code >> MANTISSA_BITS)) / UNITS_OF_ONE;
}

/* The code at or below, or the next one, so that the mean over draws is right. */
static uint8_t encode(double utilisation, uint64_t draw) {
    double units = utilisation * UNITS_OF_ONE; // mantissa × 2^exponent
    uint32_t exponent = 0;
    while (units >= 2 * MANTISSA_ONE && exponent < EXPONENT_MOST) {
        units /= 2;
        exponent++;
    }
    if (units >= 2 * MANTISSA_ONE - 1 && exponent == EXPONENT_MOST) {
        return UINT8_MAX;
    }
    units = units < MANTISSA_ONE ? MANTISSA_ONE : units;
    const uint32_t below = (uint32_t)units;
    const double share = (double)(draw >> 32) / 4294967296.0;
    const uint32_t code = (exponent << MANTISSA_BITS) + below - MANTISSA_ONE + (share < units - below);
    return (uint8_t)(code > 0 ? code : 1); // 0 would tell nothing
}

uint8_t telemetry_tell(struct telemetry_port *port, uint64_t queue_ps, uint64_t packet_ps, uint64_t now_ps,
                       uint64_t round_trip_ps, uint64_t draw) {
    const uint64_t since_ps = now_ps - port->start_ps;
    const double round_trip = (double)round_trip_ps;
    const double share = since_ps < round_trip_ps ? (double)since_ps / round_trip : 1;
    port->utilisation =
        port->utilisation * (1 - share) + (double)queue_ps / round_trip * share + (double)port->packet_ps / round_trip;
    port->start_ps = now_ps;
    port->packet_ps = packet_ps;
    return encode(port->utilisation, draw);
}
