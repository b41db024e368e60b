// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/ranks.h"

#include "base/error_id.h"
#include "engine/mpi_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long number_in_environment(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

/* Ranks on this machine, as MPICH or Open MPI say; 0 = unknown. */
static unsigned long ranks_here(void) {
    const unsigned long mpich = number_in_environment("MPI_LOCALNRANKS");
    return mpich ? mpich : number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE");
}

/* Ranks wait for each other by spinning: with too few processors a window takes as long as the scheduler lets it. */
static void note_crowd(const struct arguments *arguments) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned long workers = ranks_here() * arguments->threads;
    if (arguments->quiet || arguments->exchange->rank != 0 || processors < 1 || workers <= (unsigned long)processors) {
        return;
    }
    struct error note;
    error_set(&note, EXIT_CODE_OK, 0,
              "%lu ranks × %u threads on %ld processors: ranks wait by spinning, so this is slow", ranks_here(),
              arguments->threads, processors);
    error_hint(&note, "use fewer ranks here, or --threads %ld",
               processors / (long)ranks_here() > 0 ? processors / (long)ranks_here() : 1);
    error_print(stderr, &note);
}

bool ranks_start(struct arguments *arguments, struct error *error) {
    arguments->exchange = mpi_exchange_start(NULL, NULL);
    const unsigned long tasks = number_in_environment("SLURM_STEP_NUM_TASKS");
    if (tasks > 1 && (!arguments->exchange || arguments->exchange->n_ranks == 1)) {
        error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                  "Slurm has started %lu processes that cannot reach each other", tasks);
        error_hint(error, "build with MPI, and use `srun --mpi=pmi2` (MPICH) or `srun --mpi=pmix` (Open MPI)");
        return false;
    }
    if (arguments->exchange && arguments->exchange->n_ranks > 1) {
        note_crowd(arguments);
    }
    return true;
}
