// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Gradients of a stage on their way: its parts' reductions, one after another, beside passes that are left.
 */
#ifndef MOEFABRIC_TRAINING_PIPELINE_GRADIENTS_H
#define MOEFABRIC_TRAINING_PIPELINE_GRADIENTS_H

#include "training/pipeline.h"

/** Begins as {.pipeline, .stage} and zeros. */
struct pipeline_gradients {
    const struct pipeline *pipeline;
    uint32_t stage;
    uint32_t ready; /**< parts whose gradients are there: the last ones of the model first */
    uint32_t part;  /**< of the stage, in that order, that is reduced or will be next */
    uint32_t piece; /**< of its reduction */
    uint64_t left_ps;
    uint64_t now_ps, begin_ps; /**< how far it is, and when the piece began */
    uint64_t busy_ps;          /**< in all */
};

/** Gradients of one more part are there. */
void pipeline_gradients_add(struct pipeline_gradients *gradients, uint64_t now_ps);

/** The piece that is on its way, NULL if there is none. */
const struct pipeline_segment *pipeline_gradients_piece(const struct pipeline_gradients *gradients);

/** That piece has run for time_ps, in which done_ps of its left_ps were done. */
void pipeline_gradients_pass(struct pipeline_gradients *gradients, uint64_t time_ps, uint64_t done_ps);

/** Goes on alone, until then or to the end of all that are there. */
void pipeline_gradients_run(struct pipeline_gradients *gradients, uint64_t until_ps);

#endif
