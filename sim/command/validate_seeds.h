// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A row's configuration under its one policy with each of its seeds.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_SEEDS_H
#define MOEFABRIC_COMMAND_VALIDATE_SEEDS_H

#include "command/validate_kind.h"
#include "fabric/fabric.h"
#include "results/measurement.h"

/** What a kind reads off a finished run. */
typedef double validate_seeds_measure(const struct validate_row *row, const struct fabric *fabric,
                                      const struct measurement *measurement);

/** Runs all seeds; run->simulated becomes the mean of what was measured, NAN if a run did not finish. False with *error if one could not start. */
bool validate_seeds(const struct validate_row *row, struct validate_kind_run *run, validate_seeds_measure *measure,
                    struct error *error);

#endif
