// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From a configuration and its simulated exchanges to a training step.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_SETUP_H
#define MOEFABRIC_COMMAND_TRAIN_SETUP_H

#include "results/measurement.h"
#include "training/training_step.h"

/** All that does not depend on a run; it refers to the experiment. False with *error, which shows the arithmetic, if the configuration describes no step. */
bool train_setup_init(struct training_setup *setup, const struct experiment *experiment, struct error *error);

/** True of a model of layers without experts: its step needs no simulated exchange. */
bool train_setup_is_dense(const struct training_setup *setup);

/** Gives a mistake of the configuration that has no place that of section `training`. */
void train_setup_locate(const struct experiment *experiment, struct error *error);

/** What the exchanges of a run took; the rest stays as it is. False if it did not finish. */
bool train_setup_take(const struct measurement *measurement, struct training_exchange *exchange);

/** What the traffic of a seed is: the tokens of the busiest GPU ÷ mean (1 without experts), and what GPUs send. Times stay as they are. */
bool train_setup_load(const struct experiment *experiment, uint64_t seed, struct training_exchange *exchange,
                      struct error *error);

#endif
