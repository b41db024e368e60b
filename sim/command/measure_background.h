// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The rows of traffic that runs beside what is measured: a phase for each item, after those of the measured traffic.
 */
#ifndef MOEFABRIC_COMMAND_MEASURE_BACKGROUND_H
#define MOEFABRIC_COMMAND_MEASURE_BACKGROUND_H

#include "command/plan.h"
#include "results/measurement.h"

/** Fills the phases from number `first` on, one for each of experiment->backgrounds. The plan has a background. */
void measure_background_fill(struct measurement *measurement, const struct plan *plan,
                             const struct experiment *experiment, uint32_t first);

#endif
