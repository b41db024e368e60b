// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ranks over MPI. Built only where MPI was found; the rest of the program asks through these functions, which are there either way.
 */
#ifndef MOEFABRIC_ENGINE_MPI_EXCHANGE_H
#define MOEFABRIC_ENGINE_MPI_EXCHANGE_H

#include "engine/exchange.h"

/** Joins the ranks that mpirun started, if it did. Returns NULL in a single process, or in a build without MPI. Call once, first. */
struct exchange *mpi_exchange_start(int *n_arguments, char ***arguments);

/** Leaves the ranks; NULL is allowed. */
void mpi_exchange_finish(struct exchange *exchange);

/** Ends all ranks at once with an exit code, after a message of this one. Does not return. */
_Noreturn void mpi_exchange_abort(struct exchange *exchange, int exit_code);

#endif
