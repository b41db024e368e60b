// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Logarithm and exponential made of + - * / and bits alone, so that draws are the same on every machine and C library.
 */
#ifndef MOEFABRIC_WORKLOAD_PORTABLE_MATH_H
#define MOEFABRIC_WORKLOAD_PORTABLE_MATH_H

/** Natural logarithm of a positive normal number; relative error below 1e-14 away from 1, absolute below 1e-15 near it. */
double portable_math_log(double value);

/** e to the power of value, -700 … 700; relative error below 1e-13. */
double portable_math_exp(double value);

#endif
