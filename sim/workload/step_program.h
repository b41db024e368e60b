// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What every rank of a parallel training or inference does, one step after the other: compute, begin a collective, wait for one.
 *
 * All ranks have the same program; whom a collective is among depends on the rank (collective.h).
 */
#ifndef MOEFABRIC_WORKLOAD_STEP_PROGRAM_H
#define MOEFABRIC_WORKLOAD_STEP_PROGRAM_H

#include "workload/collective.h"

#include <stdint.h>

#define STEP_PROGRAM_NONE UINT32_MAX

enum step_kind { STEP_COMPUTE, STEP_BEGIN, STEP_WAIT };

/** One step. */
struct step {
    enum step_kind kind;
    uint32_t collective; /**< begin, wait: number of it */
    uint64_t compute_ps; /**< compute */
};

/** A collective that is begun once. */
struct step_collective {
    enum parallel_operation operation;
    enum parallel_group group;
    uint64_t bytes; /**< whole buffer of a rank (parallel.h) */
};

/** Steps and collectives in the order in which they are begun. */
struct step_program {
    struct collective_layout layout;
    struct step *steps;
    struct step_collective *collectives;
    uint32_t n_steps, step_capacity, n_collectives, collective_capacity;
    uint64_t compute_ps; /**< of all steps */
};

/** An empty program; ends with step_program_fini. */
void step_program_init(struct step_program *program, const struct collective_layout *layout);

/** Appends a time of computing. */
void step_program_compute(struct step_program *program, uint64_t compute_ps);

/** Appends the beginning of a collective, and tells its number: STEP_PROGRAM_NONE, with nothing appended, for no operation, no bytes or groups of one. */
uint32_t step_program_begin(struct step_program *program, enum parallel_operation operation, enum parallel_group group,
                            uint64_t bytes);

/** Appends the wait for the end of a collective at this rank; for STEP_PROGRAM_NONE nothing. */
void step_program_wait(struct step_program *program, uint32_t collective);

/** Frees what it owns. */
void step_program_fini(struct step_program *program);

#endif
