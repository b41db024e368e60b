// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A policy's training steps, made of its simulated exchanges.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_COLUMN_H
#define MOEFABRIC_COMMAND_TRAIN_COLUMN_H

#include "command/batch.h"
#include "command/train_report.h"

/** The columns of all policies of a batch, whose exchanges are found as train_exchanges_find has it. False with *error if they are not, or if no step can be made of one. */
bool train_column_fill_all(struct train_column *columns, const struct batch *batch, const struct training_setup *setup,
                           const char *cache, struct error *error);

#endif
