// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/step_program.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

void step_program_init(struct step_program *program, const struct collective_layout *layout) {
    REQUIRE(layout->tensor > 0 && layout->n_ranks % layout->tensor == 0 && layout->expert > 0 &&
                layout->n_ranks / layout->tensor % layout->expert == 0,
            "%u ranks in tensor groups of %u, %u to an expert group", layout->n_ranks, layout->tensor, layout->expert);
    *program = (struct step_program){.layout = *layout};
}

static void add_step(struct step_program *program, const struct step *step) {
    if (program->n_steps == program->step_capacity) {
        program->step_capacity = program->step_capacity ? 2 * program->step_capacity : 64;
        program->steps = memory_resize(program->steps, program->step_capacity, sizeof *program->steps);
    }
    program->steps[program->n_steps++] = *step;
}

void step_program_compute(struct step_program *program, uint64_t compute_ps) {
    program->compute_ps += compute_ps;
    if (program->n_steps > 0 && program->steps[program->n_steps - 1].kind == STEP_COMPUTE) {
        program->steps[program->n_steps - 1].compute_ps += compute_ps;
    } else if (compute_ps > 0) {
        add_step(program, &(struct step){.kind = STEP_COMPUTE, .compute_ps = compute_ps});
    }
}

uint32_t step_program_begin(struct step_program *program, enum parallel_operation operation, enum parallel_group group,
                            uint64_t bytes) {
    if (operation == PARALLEL_NONE || bytes == 0 || collective_group(&program->layout, group, 0).count < 2) {
        return STEP_PROGRAM_NONE;
    }
    if (program->n_collectives == program->collective_capacity) {
        program->collective_capacity = program->collective_capacity ? 2 * program->collective_capacity : 64;
        program->collectives =
            memory_resize(program->collectives, program->collective_capacity, sizeof *program->collectives);
    }
    program->collectives[program->n_collectives] =
        (struct step_collective){.operation = operation, .group = group, .bytes = bytes};
    add_step(program, &(struct step){.kind = STEP_BEGIN, .collective = program->n_collectives});
    return program->n_collectives++;
}

void step_program_wait(struct step_program *program, uint32_t collective) {
    if (collective != STEP_PROGRAM_NONE) {
        add_step(program, &(struct step){.kind = STEP_WAIT, .collective = collective});
    }
}

void step_program_fini(struct step_program *program) {
    free(program->steps);
    free(program->collectives);
    *program = (struct step_program){0};
}
