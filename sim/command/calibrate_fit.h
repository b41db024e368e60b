// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two figures of a platform from measured times, by least squares.
 *
 * A measured time is base latency + latency of the way + bytes at the rate of the bottleneck. What the way takes, and how it depends on the rate, is
 * simulated: way_us + wire_us × x, where x is the simulated usable fraction ÷ the real one. So times are linear in base latency and x.
 */
#ifndef MOEFABRIC_COMMAND_CALIBRATE_FIT_H
#define MOEFABRIC_COMMAND_CALIBRATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/** One measurement. */
struct calibrate_row {
    double measured_us;
    double way_us, wire_us; /**< simulated: what the usable fraction does not change, and what it divides */
    double fitted_us;       /**< set by calibrate_fit */
};

/** Figures with standard errors. */
struct calibrate_figures {
    double base_us, base_error_us;
    double stretch, stretch_error;  /**< x */
    double residual;                /**< root of the mean square of (fitted - measured) ÷ measured */
    bool base_known, stretch_known; /**< the rows determine it: its standard error is at most a tenth of it */
};

enum { CALIBRATE_LEAST_ROWS = 4 };

/**
 * Fits; every row weighs by its share, not its time. False if the rows determine neither figure: fewer than CALIBRATE_LEAST_ROWS, or times that depend
 * on none of them.
 */
bool calibrate_fit(struct calibrate_row *rows, size_t n, struct calibrate_figures *figures);

#endif
