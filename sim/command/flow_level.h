// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One run by the fluid model: an experiment's policy and seed as its parameters, from the plan to the measurement.
 */
#ifndef MOEFABRIC_COMMAND_FLOW_LEVEL_H
#define MOEFABRIC_COMMAND_FLOW_LEVEL_H

#include "command/plan.h"
#include "command/simulation.h"
#include "fluid/fluid.h"

/** As simulation_run. */
struct measurement *flow_level_run(const struct simulation *simulation, struct error *error);

/** What the fluid model is given for a run of a plan; failures must outlive it. False with *error if a name is unknown. */
bool flow_level_parameters(const struct simulation *simulation, const struct failure_list *failures,
                           const struct plan *plan, struct fluid_parameters *parameters, struct error *error);

/** Whether the fluid model knows all that an experiment asks for. False with *error if not. */
bool flow_level_check(const struct experiment *experiment, const struct fabric *fabric, const struct exchange *exchange,
                      struct error *error);

#endif
