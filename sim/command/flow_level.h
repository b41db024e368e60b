// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One run by the fluid model: an experiment's policy and seed as its parameters, from the plan to the measurement.
 */
#ifndef MOEFABRIC_COMMAND_FLOW_LEVEL_H
#define MOEFABRIC_COMMAND_FLOW_LEVEL_H

#include "command/simulation.h"

/** As simulation_run. */
struct measurement *flow_level_run(const struct simulation *simulation, struct error *error);

/** Whether the fluid model knows all that an experiment asks for. False with *error if not. */
bool flow_level_check(const struct experiment *experiment, const struct fabric *fabric, const struct exchange *exchange,
                      struct error *error);

#endif
