// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A step's timeline in Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_TRACE_H
#define MOEFABRIC_COMMAND_TRAIN_TRACE_H

#include "training/training_step.h"

/** Writes the timeline of one step: a process a stage, a thread each for computing and communication. False with *error, and no file, if it cannot be written. */
bool train_trace_write(const char *path, const struct training_setup *setup, struct error *error);

#endif
