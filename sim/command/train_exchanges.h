// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The exchanges that steps are made of: simulated, or taken from a folder where an earlier call has left the same ones.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_EXCHANGES_H
#define MOEFABRIC_COMMAND_TRAIN_EXCHANGES_H

#include "command/batch.h"
#include "training/training_step.h"

/**
 * What all runs of a batch took: exchanges[policy × n_seeds + seed], the caller's. What `cache` (a folder, made if it is not there; NULL: none) has of a
 * policy is not simulated; what is simulated is left there, a file a policy, named for a hash of all that its exchanges depend on: the configuration
 * without what only steps depend on, the files that it reads, the program's version and commit (not what has been changed since: then empty the folder). The experiment has one model of the network. False with *error if one was not finished or could not
 * start, or if the folder cannot be used.
 */
bool train_exchanges_find(const struct batch *batch, const char *cache, struct training_exchange *exchanges,
                          struct error *error);

#endif
