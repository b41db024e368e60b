// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the fluid model found, as the rows that the results room stores.
 */
#ifndef MOEFABRIC_COMMAND_MEASURE_FLUID_H
#define MOEFABRIC_COMMAND_MEASURE_FLUID_H

#include "command/plan.h"
#include "command/simulation.h"
#include "fluid/fluid.h"

/** A finished measurement of a run that has ended with status. The caller owns it. */
struct measurement *measure_fluid(const struct simulation *simulation, const struct plan *plan,
                                  const struct fluid *fluid, enum fluid_status status);

#endif
