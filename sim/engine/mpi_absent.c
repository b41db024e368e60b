// SPDX-License-Identifier: GPL-3.0-or-later
/* The build without MPI: always a single process. */
#include "engine/mpi_exchange.h"

#include <stdlib.h>

struct exchange *mpi_exchange_start(int *n_arguments, char ***arguments) {
    (void)n_arguments;
    (void)arguments;
    return NULL;
}

void mpi_exchange_finish(struct exchange *exchange) {
    (void)exchange;
}

_Noreturn void mpi_exchange_abort(struct exchange *exchange, int exit_code) {
    (void)exchange;
    exit(exit_code);
}
