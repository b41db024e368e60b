// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What software does for a step: each published lever taken away from a step that has all of them, beside what was published.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_LEVERS_H
#define MOEFABRIC_COMMAND_TRAIN_LEVERS_H

#include "training/training_step.h"

#include <stdio.h>

/** Prints the table. False with *error if a step cannot be made. */
bool train_levers_print(FILE *stream, const struct training_setup *setup, const struct training_exchange *exchange,
                        struct error *error);

#endif
