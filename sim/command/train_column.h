// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A policy's training steps, made of its simulated exchanges.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_COLUMN_H
#define MOEFABRIC_COMMAND_TRAIN_COLUMN_H

#include "command/batch.h"
#include "command/train_report.h"

/**
 * Fills a column whose policy is named: measurements and loads (busiest GPU's experts ÷ mean), one a seed of the experiment. False with
 * *error if an exchange was not finished or no step can be made of it.
 */
bool train_column_fill(struct train_column *column, const struct experiment *experiment,
                       const struct training_setup *setup, struct measurement *const *measurements, const double *loads,
                       struct error *error);

/** The columns of all policies of a batch. */
bool train_column_fill_all(struct train_column *columns, const struct batch *batch, const struct training_setup *setup,
                           const struct batch_result *result, struct error *error);

#endif
