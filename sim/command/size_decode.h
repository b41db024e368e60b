// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A design's decode step (sizing/decode.h) from a configuration.
 */
#ifndef MOEFABRIC_COMMAND_SIZE_DECODE_H
#define MOEFABRIC_COMMAND_SIZE_DECODE_H

#include "config/experiment.h"
#include "training/training_step.h"

/** Weights and caches of the busiest GPU; bytes. False with *error if the model's layers are not known, or the GPU does not compute in what is asked. */
bool size_decode_memory(const struct experiment *experiment, double *bytes, struct error *error);

/** Tokens a second and GPU with a layer's exchange, and the time from one token of a sequence to the next. False with *error. */
bool size_decode_value(const struct experiment *experiment, const struct training_exchange *exchange,
                       double *tokens_per_s, double *token_s, struct error *error);

#endif
