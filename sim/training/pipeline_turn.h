// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a stage does in a turn: a forward pass, a backward pass, or both as two threads on two resources.
 *
 * Each resource is given to the thread that can use it first, the backward one on a tie. A thread does not wait for what may be put off (gradients of
 * weights, which no other pass needs): that is computed next, while the thread communicates, as DualPipe orders it (arXiv:2412.19437, figure 4). While computing and communication run at once, or
 * gradients are on their way, each may take longer: they share the GPU's SMs, memory and links (pipeline_sharing.h). In gaps between kernels nothing is
 * computed, so a segment of computing of which they are a share g hides 1 - g of the communication beside it.
 */
#ifndef MOEFABRIC_TRAINING_PIPELINE_TURN_H
#define MOEFABRIC_TRAINING_PIPELINE_TURN_H

#include "training/pipeline.h"
#include "training/pipeline_gradients.h"

/** A turn. */
struct pipeline_turn {
    const struct pipeline_pass *passes[PIPELINE_DIRECTIONS]; /**< NULL: none in that direction */
    uint64_t begin_ps;
    const struct pipeline_sharing *sharing;
    struct pipeline_gradients
        *gradients; /**< NULL, or what is on its way meanwhile: it goes on, to the end of the turn */
    /** NULL, or told of what ran in a direction, a resource and a time. */
    void (*observe)(void *context, enum pipeline_direction direction, const struct pipeline_segment *segment,
                    uint64_t begin_ps, uint64_t end_ps);
    void *context;
};

/** What became of it. */
struct pipeline_turn_result {
    uint64_t pass_end_ps[PIPELINE_DIRECTIONS]; /**< what another pass waits for; of directions that are there */
    uint64_t end_ps;                           /**< with what was put off */
    uint64_t compute_ps, network_ps; /**< each resource's busy time; of the former without gaps beside the latter */
};

/** Runs a turn. */
struct pipeline_turn_result pipeline_turn_run(const struct pipeline_turn *turn);

#endif
