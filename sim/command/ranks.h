// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The start of a run over several processes, and what users most often get wrong about it.
 */
#ifndef MOEFABRIC_COMMAND_RANKS_H
#define MOEFABRIC_COMMAND_RANKS_H

#include "base/error.h"
#include "command/arguments.h"

/**
 * Joins the other ranks, if a launcher has started several: sets arguments->exchange (to be ended with mpi_exchange_finish), NULL for one
 * process. Prints a note where ranks and threads are more than the processors of this machine. False with *error if Slurm has
 * started several processes that do not know of each other: each would do all the work and write the same file.
 */
bool ranks_start(struct arguments *arguments, struct error *error);

#endif
