// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Figures of a platform from measured times, by nonlinear least squares (GSL, trust region, Jacobian by differences).
 *
 * Times are simulated, so nothing is assumed of how they depend on a figure. Figures are sought as multiples of where they begin, in the form in which times
 * are nearly linear in them: the caller divides by a rate's multiple, and multiplies by a time's.
 */
#ifndef MOEFABRIC_COMMAND_CALIBRATE_FIT_H
#define MOEFABRIC_COMMAND_CALIBRATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { CALIBRATE_FIT_FIGURES = 8 };

/** What is to be fitted. */
struct calibrate_fit_problem {
    size_t rows, figures; /**< figures: at most CALIBRATE_FIT_FIGURES, fewer than rows */
    /** Sets residuals[rows], (simulated - measured) ÷ measured, for multiples of the figures. False: the fit ends without a result. */
    bool (*simulate)(void *context, const double *multiples, double *residuals);
    void *context;
    double *last; /**< [rows] receives the residuals of what was found */
};

/** What was found. */
struct calibrate_fit_result {
    double multiple[CALIBRATE_FIT_FIGURES];
    double error
        [CALIBRATE_FIT_FIGURES]; /**< standard errors of the multiples; infinite where no row depends on a figure */
    double residual;             /**< root of the mean square of the residuals */
};

/** Fits. False if rows are too few, simulate failed, or no minimum was found. */
bool calibrate_fit(const struct calibrate_fit_problem *problem, struct calibrate_fit_result *result);

/** Is a multiple determined: is its standard error at most a tenth of it? */
bool calibrate_fit_known(const struct calibrate_fit_result *result, size_t figure);

#endif
