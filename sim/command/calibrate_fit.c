// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/calibrate_fit.h"

#include "base/memory.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ITERATIONS = 12 };

static const double largest_relative_error = 0.1;
static const double step = 0.02;           /* of a multiple, for differences */
static const double least_multiple = 0.01; /* a step may lead below 0, where there is nothing to simulate */
static const double small_change = 1e-4;   /* of a multiple: good enough, figures are wanted to a per cent */
static const double no_influence = 1e-6;   /* of a multiple on the residuals, root of the sum of squares */

/* What GSL hands through. */
struct fitting {
    const struct calibrate_fit_problem *problem;
    double *residuals; /* [rows] */
    bool failed;
};

/* GSL asks for residuals here, some of them for a column of a matrix. */
static int residuals_at(const gsl_vector *multiples, void *context, gsl_vector *residuals) {
    struct fitting *fitting = context;
    const struct calibrate_fit_problem *problem = fitting->problem;
    double values[CALIBRATE_FIT_FIGURES];
    for (size_t i = 0; i < problem->figures; i++) {
        values[i] = fmax(gsl_vector_get(multiples, i), least_multiple);
    }
    if (fitting->failed || !problem->simulate(problem->context, values, fitting->residuals)) {
        fitting->failed = true;
        return GSL_EFAILED;
    }
    for (size_t i = 0; i < problem->rows; i++) {
        gsl_vector_set(residuals, i, fitting->residuals[i]);
    }
    return GSL_SUCCESS;
}

/* Covariances of the figures that have influence: the others must not be in the matrix that is inverted. */
static void take_errors(const gsl_matrix *jacobian, double variance, struct calibrate_fit_result *result) {
    size_t kept[CALIBRATE_FIT_FIGURES], n = 0;
    for (size_t i = 0; i < jacobian->size2; i++) {
        const gsl_vector_const_view column = gsl_matrix_const_column(jacobian, i);
        result->error[i] = INFINITY;
        if (gsl_blas_dnrm2(&column.vector) > no_influence) {
            kept[n++] = i;
        }
    }
    if (n == 0) {
        return;
    }
    gsl_matrix *part = gsl_matrix_alloc(jacobian->size1, n), *covariance = gsl_matrix_calloc(n, n);
    for (size_t i = 0; i < n; i++) {
        const gsl_vector_const_view column = gsl_matrix_const_column(jacobian, kept[i]);
        gsl_matrix_set_col(part, i, &column.vector);
    }
    gsl_multifit_nlinear_covar(part, 0, covariance);
    for (size_t i = 0; i < n; i++) {
        const double square = gsl_matrix_get(covariance, i, i);
        result->error[kept[i]] = square > 0 ? sqrt(square * variance) : INFINITY;
    }
    gsl_matrix_free(part);
    gsl_matrix_free(covariance);
}

static void take(const struct calibrate_fit_problem *problem, gsl_multifit_nlinear_workspace *space,
                 struct calibrate_fit_result *result) {
    const double norm = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(space));
    result->residual = norm / sqrt((double)problem->rows);
    for (size_t i = 0; i < problem->rows; i++) {
        problem->last[i] = gsl_vector_get(gsl_multifit_nlinear_residual(space), i);
    }
    for (size_t i = 0; i < problem->figures; i++) {
        result->multiple[i] = fmax(gsl_vector_get(gsl_multifit_nlinear_position(space), i), least_multiple);
    }
    take_errors(gsl_multifit_nlinear_jac(space), norm * norm / (double)(problem->rows - problem->figures), result);
}

bool calibrate_fit(const struct calibrate_fit_problem *problem, struct calibrate_fit_result *result) {
    *result = (struct calibrate_fit_result){0};
    if (problem->figures == 0 || problem->rows <= problem->figures) {
        return false;
    }
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    parameters.h_df = step;
    parameters.scale = gsl_multifit_nlinear_scale_levenberg; /* multiples are alike in size */
    struct fitting fitting = {.problem = problem, .residuals = memory_allocate(problem->rows, sizeof(double))};
    gsl_multifit_nlinear_fdf function = {
        .f = residuals_at, .n = problem->rows, .p = problem->figures, .params = &fitting};
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_multifit_nlinear_workspace *space =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, problem->rows, problem->figures);
    gsl_vector *start = gsl_vector_alloc(problem->figures);
    gsl_vector_set_all(start, 1);
    int why;
    if (gsl_multifit_nlinear_init(start, &function, space) == GSL_SUCCESS) {
        gsl_multifit_nlinear_driver(MOST_ITERATIONS, small_change, 0, 0, NULL, NULL, &why, space);
    }
    const bool good = !fitting.failed;
    if (good) {
        take(problem, space, result);
    }
    free(fitting.residuals);
    gsl_vector_free(start);
    gsl_multifit_nlinear_free(space);
    gsl_set_error_handler(handler);
    return good;
}

bool calibrate_fit_known(const struct calibrate_fit_result *result, size_t figure) {
    return result->multiple[figure] > least_multiple && isfinite(result->error[figure]) &&
           result->error[figure] <= largest_relative_error * result->multiple[figure];
}
