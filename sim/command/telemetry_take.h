// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What monitoring would see of a simulated cluster: counters of the simulation, measured as well as real ones are.
 *
 * Rates of ports are those of intervals of 2 us in which they were busy throughout. Noise, ours: a kernel's time varies by 1 % (mean of 8 micro-batches), rates read from counters by 1 %, a pairwise test's by 2 %, and one port in
 * ten counts a stray damaged packet.
 */
#ifndef MOEFABRIC_COMMAND_TELEMETRY_TAKE_H
#define MOEFABRIC_COMMAND_TELEMETRY_TAKE_H

#include "config/experiment.h"
#include "fabric/fabric.h"
#include "results/measurement.h"
#include "training/telemetry.h"

/** Telemetry with its arrays, of no time yet. Ends with telemetry_take_free. */
struct telemetry *telemetry_take_create(const struct experiment *experiment, const struct fabric *fabric);

/** Adds what a run of an exchange, or of a round of pairwise tests, counted. */
void telemetry_take_run(struct telemetry *telemetry, const struct fabric *fabric, const struct measurement *measurement,
                        bool pairwise);

/** When all runs are in it: rates from sums, times of kernels from clocks [n_ranks], noise by the seed. */
void telemetry_take_finish(struct telemetry *telemetry, const double *clocks, uint64_t seed);

/** Frees it; NULL is allowed. */
void telemetry_take_free(struct telemetry *telemetry);

#endif
