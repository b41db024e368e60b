// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A design's training step: its time with the fabric's share for gradients, its memory, and how often it is interrupted.
 */
#ifndef MOEFABRIC_COMMAND_SIZE_STEP_H
#define MOEFABRIC_COMMAND_SIZE_STEP_H

#include "config/size_check.h"
#include "training/training_step.h"

/** Memory of a configuration's GPU; bytes. */
double size_step_memory(const struct experiment *experiment);

/**
 * What a GPU of the fullest stage holds, in bytes (training/training_memory.h), with experts that are all as popular. Goodput and time between
 * interruptions are NAN where rates of failures are not given. False with *error if the configuration describes no step.
 */
bool size_step_state(const struct experiment *experiment, double *bytes, double *goodput, double *mtbf_s,
                     struct error *error);

/** The value of a target of training with these exchanges, seconds or tokens a second, and what a GPU then holds. False with *error. */
bool size_step_value(const struct experiment *experiment, const struct training_exchange *exchange,
                     enum size_target target, double *value, double *bytes, struct error *error);

#endif
