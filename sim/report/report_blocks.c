// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_blocks.h"

#include <math.h>

enum { BODY_POINTS = 46, TAIL_POINTS = REPORT_BLOCKS_POINTS - BODY_POINTS };
static const double body_step = 0.02;

uint32_t report_blocks_size(uint64_t n, uint32_t most) {
    return n <= most ? 1 : (uint32_t)((n + most - 1) / most);
}

size_t report_blocks_shares(uint64_t count, double shares[REPORT_BLOCKS_POINTS]) {
    size_t n = 0;
    for (; n < BODY_POINTS; n++) {
        shares[n] = body_step * (double)n;
    }
    const double from = 1.0 - shares[n - 1], to = 0.5 / (double)count;
    if (to >= from) {
        return n;
    }
    for (int i = 1; i <= TAIL_POINTS; i++) { /* equal steps on a logarithmic axis of what lies beyond */
        shares[n++] = 1.0 - from * pow(to / from, (double)i / TAIL_POINTS);
    }
    return n;
}
