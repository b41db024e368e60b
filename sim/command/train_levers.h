// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What software does for a step: each published lever taken away from a step that has all of them, beside what was published.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_LEVERS_H
#define MOEFABRIC_COMMAND_TRAIN_LEVERS_H

#include "training/training_step.h"

#include <stdio.h>

/** Prints the table for the exchanges of a policy, which the heading names; NULL: there is no other. False with *error if a step cannot be made. */
bool train_levers_print(FILE *stream, const struct training_setup *setup, const struct training_exchange *exchange,
                        const char *policy, struct error *error);

#endif
