// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What interrupts training, and what time it takes with all its interruptions: tables of `train`.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_GOODPUT_H
#define MOEFABRIC_COMMAND_TRAIN_GOODPUT_H

#include "command/train_report.h"
#include "training/goodput.h"

/** Before anything is simulated: false with *error if the checkpoints cannot be. */
bool train_goodput_check(const struct experiment *experiment, const struct training_setup *setup, struct error *error);

/** Parameters of a model that are trained. */
double train_goodput_parameters(const struct training_setup *setup);

/** Prints the tables; nothing if nothing fails. False with *error if the checkpoints cannot be. */
bool train_goodput_report(FILE *stream, const struct experiment *experiment, const struct training_setup *setup,
                          const struct train_column *columns, uint32_t n_columns, struct error *error);

#endif
