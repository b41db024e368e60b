// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/straggler.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/normal.h"
#include "config/gpu_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOWEST_CLOCK 0.05 /* ours: of what a normal draw may leave */

bool straggler_present(const struct experiment_stragglers *stragglers) {
    return (stragglers->slow_gpus[0] != '\0' && stragglers->slow_gpu_clock < 1) || stragglers->clock_deviation > 0;
}

static bool slow_down(const struct experiment_stragglers *stragglers, double *clocks, uint32_t gpus,
                      struct error *error) {
    struct gpu_list list;
    char problem[ERROR_MESSAGE_SIZE];
    if (stragglers->slow_gpus[0] == '\0') {
        return true;
    }
    if (!gpu_list_read(&list, stragglers->slow_gpus, gpus, problem, sizeof problem)) {
        error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, stragglers->place.file,
                       "training.stragglers.slow_gpus: %.400s", problem);
        error->line = stragglers->place.line;
        error->column = stragglers->place.column;
        return false;
    }
    for (uint32_t i = 0; i < list.n_gpus; i++) {
        clocks[list.gpus[i]] *= stragglers->slow_gpu_clock;
    }
    gpu_list_fini(&list);
    return true;
}

double *straggler_clocks(const struct experiment_stragglers *stragglers, uint32_t gpus, struct error *error) {
    double *clocks = memory_allocate(gpus, sizeof *clocks);
    const uint64_t stream = hash_stream(stragglers->seed, HASH_PURPOSE_CLOCK, 0, 0);
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        const double drawn =
            stragglers->clock_deviation > 0 ? 1 + stragglers->clock_deviation * normal_draw(stream, gpu) : 1;
        clocks[gpu] = fmax(drawn, SLOWEST_CLOCK);
    }
    if (!slow_down(stragglers, clocks, gpus, error)) {
        free(clocks);
        return NULL;
    }
    return clocks;
}

/* The first GPU of a block of a stage. */
static uint32_t first_of(const struct training_groups *groups, enum experiment_group_order order, uint32_t stage,
                         uint32_t block) {
    const uint32_t blocks = groups->gpus / groups->pipeline / groups->block;
    return groups->block *
           (order == EXPERIMENT_GROUP_ORDER_PIPELINE_DATA ? block * groups->pipeline + stage : stage * blocks + block);
}

/* clocks: of the GPUs of a block. */
static struct straggler_slowness slowness_of(const double *clocks, const struct training_groups *groups,
                                             const double *loads) {
    struct straggler_slowness slowness = {0};
    double largest = 0;
    for (uint32_t i = 0; i < groups->block; i++) {
        const double slow = 1 / clocks[i];
        const double load = loads == NULL ? 1 : loads[i % groups->expert];
        slowness.dense = fmax(slowness.dense, slow);
        slowness.experts = fmax(slowness.experts, load * slow);
        largest = fmax(largest, load);
    }
    slowness.experts = largest > 0 ? slowness.experts / largest : slowness.dense;
    return slowness;
}

/* Is no stage of one copy slower than that of the other? */
static bool no_slower(const struct straggler_slowness *one, const struct straggler_slowness *other, uint32_t stages) {
    for (uint32_t stage = 0; stage < stages; stage++) {
        if (one[stage].dense > other[stage].dense || one[stage].experts > other[stage].experts) {
            return false;
        }
    }
    return true;
}

/* Adds a copy in the place after the last, unless another is as slow everywhere; drops those that it makes needless. */
static void add_copy(struct straggler_copies *copies) {
    const uint32_t stages = copies->stages;
    struct straggler_slowness *const all = copies->slowness, *added = all + (size_t)copies->n * stages;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < copies->n; i++) {
        if (no_slower(added, all + (size_t)i * stages, stages)) {
            return;
        }
    }
    for (uint32_t i = 0; i < copies->n; i++) {
        if (!no_slower(all + (size_t)i * stages, added, stages)) {
            memmove(all + (size_t)kept++ * stages, all + (size_t)i * stages, stages * sizeof *all);
        }
    }
    memmove(all + (size_t)kept * stages, added, stages * sizeof *all);
    copies->n = kept + 1;
}

bool straggler_copies_fill(struct straggler_copies *copies, const struct experiment_stragglers *stragglers,
                           const struct training_groups *groups, enum experiment_group_order order, const double *loads,
                           struct error *error) {
    const uint32_t blocks = groups->gpus / groups->pipeline / groups->block;
    double *clocks = straggler_clocks(stragglers, groups->gpus, error);
    *copies = (struct straggler_copies){.stages = groups->pipeline};
    if (clocks == NULL) {
        return false;
    }
    copies->slowness = memory_allocate(((size_t)blocks + 1) * groups->pipeline, sizeof *copies->slowness);
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t stage = 0; stage < groups->pipeline; stage++) {
            copies->slowness[(size_t)copies->n * groups->pipeline + stage] =
                slowness_of(clocks + first_of(groups, order, stage, block), groups, loads);
        }
        add_copy(copies);
    }
    free(clocks);
    return true;
}

void straggler_copies_fini(struct straggler_copies *copies) {
    free(copies->slowness);
    *copies = (struct straggler_copies){0};
}
