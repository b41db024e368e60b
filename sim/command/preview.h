// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What is about to be simulated, in a few lines.
 */
#ifndef MOEFABRIC_COMMAND_PREVIEW_H
#define MOEFABRIC_COMMAND_PREVIEW_H

#include "command/estimate.h"
#include "config/experiment.h"
#include "fabric/fabric.h"

#include <stdio.h>

/** Prints cluster, traffic and estimated cost of n_policies × seeds runs. */
void preview_print(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                   const struct estimate *estimate, uint32_t n_policies, unsigned threads);

#endif
