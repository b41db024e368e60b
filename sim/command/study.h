// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `run` and `compare` have in common: read, build, simulate, store, print.
 */
#ifndef MOEFABRIC_COMMAND_STUDY_H
#define MOEFABRIC_COMMAND_STUDY_H

#include "command/arguments.h"

/**
 * Index of the policy that a name or a number from 1 means. NULL means the only one there is. False, with the mistake printed, if there is
 * no such policy, or several to choose from.
 */
bool study_find_policy(const struct experiment *experiment, const char *name, uint32_t *index);

/** Simulates the given policies with all seeds, writes the result and prints the comparison. Returns the exit code. */
int study(const struct arguments *arguments, const struct experiment *experiment, const uint32_t *policies,
          uint32_t n_policies, int n_texts, char **texts);

#endif
