// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/calibrate_fit.h"

#include <gsl/gsl_multifit.h>
#include <math.h>

static const double largest_relative_error = 0.1;

static bool is_known(double value, double error) {
    return value > 0 && isfinite(error) && error <= largest_relative_error * value;
}

static void take(struct calibrate_row *rows, size_t n, const gsl_vector *found, const gsl_matrix *covariance,
                 struct calibrate_figures *figures) {
    double sum = 0;
    *figures = (struct calibrate_figures){.base_us = gsl_vector_get(found, 0), .stretch = gsl_vector_get(found, 1)};
    for (size_t i = 0; i < n; i++) {
        rows[i].fitted_us = figures->base_us + rows[i].way_us + rows[i].wire_us * figures->stretch;
        const double share = rows[i].fitted_us / rows[i].measured_us - 1;
        sum += share * share;
    }
    const double variance = sum / (double)(n - 2);
    figures->residual = sqrt(sum / (double)n);
    figures->base_error_us = sqrt(gsl_matrix_get(covariance, 0, 0) * variance);
    figures->stretch_error = sqrt(gsl_matrix_get(covariance, 1, 1) * variance);
    figures->base_known = is_known(figures->base_us, figures->base_error_us);
    figures->stretch_known = is_known(figures->stretch, figures->stretch_error);
}

bool calibrate_fit(struct calibrate_row *rows, size_t n, struct calibrate_figures *figures) {
    *figures = (struct calibrate_figures){0};
    if (n < CALIBRATE_LEAST_ROWS) {
        return false;
    }
    gsl_matrix *terms = gsl_matrix_alloc(n, 2), *covariance = gsl_matrix_alloc(2, 2);
    gsl_vector *times = gsl_vector_alloc(n), *weights = gsl_vector_alloc(n), *found = gsl_vector_alloc(2);
    gsl_multifit_linear_workspace *space = gsl_multifit_linear_alloc(n, 2);
    for (size_t i = 0; i < n; i++) {
        gsl_matrix_set(terms, i, 0, 1);
        gsl_matrix_set(terms, i, 1, rows[i].wire_us);
        gsl_vector_set(times, i, rows[i].measured_us - rows[i].way_us);
        gsl_vector_set(weights, i, 1 / (rows[i].measured_us * rows[i].measured_us));
    }
    double square;
    size_t rank;
    gsl_multifit_wlinear_svd(terms, weights, times, 1e-6, &rank, found, covariance, &square, space);
    if (rank == 2) {
        take(rows, n, found, covariance, figures);
    }
    gsl_multifit_linear_free(space);
    gsl_vector_free(found);
    gsl_vector_free(weights);
    gsl_vector_free(times);
    gsl_matrix_free(covariance);
    gsl_matrix_free(terms);
    return figures->base_known || figures->stretch_known;
}
