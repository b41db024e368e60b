// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `train` checks and prints of a recommender alone.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_RECOMMENDER_H
#define MOEFABRIC_COMMAND_TRAIN_RECOMMENDER_H

#include "training/training_step.h"

#include <stdio.h>

/** What `traffic` simulates must be what GPUs send each other in a step, and all of them. False with *error, which shows the arithmetic. */
bool train_recommender_check(const struct training_setup *setup, const struct experiment *experiment,
                             struct error *error);

/** Prints who holds what, and a step part by part. False with *error if there is no such step. */
bool train_recommender_print(FILE *stream, const struct training_setup *setup, struct error *error);

#endif
