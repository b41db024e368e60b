// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A training step, and a pair of its passes, against what was published of them.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_STEP_H
#define MOEFABRIC_COMMAND_VALIDATE_STEP_H

#include "command/validate_kind.h"

/** Throughput of a step, or exchanges of a pair and what of them is hidden. */
extern const struct validate_kind validate_step;

#endif
