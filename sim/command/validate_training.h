// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Time to train: the steps of a configuration's `training`, with the exchanges of a layer as simulated.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_TRAINING_H
#define MOEFABRIC_COMMAND_VALIDATE_TRAINING_H

#include "command/validate_kind.h"

extern const struct validate_kind validate_time_to_train;

#endif
