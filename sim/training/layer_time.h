// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a layer takes on a GPU, and the passes that layers make.
 *
 * Kernels of a stream follow each other with gaps in which the GPU computes nothing: the last blocks of one end, the next is started. Where the host
 * launches them one by one, or is waited for, the GPU waits as well. All of that takes time, and hides nothing.
 */
#ifndef MOEFABRIC_TRAINING_LAYER_TIME_H
#define MOEFABRIC_TRAINING_LAYER_TIME_H

#include "training/training_step.h"

/** Names of the exchanges' segments; a segment has the very pointer. By enum training_phase. */
extern const char *const layer_time_exchange_names[TRAINING_PHASES];

enum {
    LAYER_TIME_BACKWARD_FACTOR = 2, /**< operations backward ÷ forward: gradients of inputs and of weights */
    LAYER_TIME_STATE_BYTES = 2      /**< of an element between layers and stages, BF16 */
};

/** A layer of the model on a GPU. */
struct layer_time {
    enum model_layer kind;
    uint64_t before_ps[PIPELINE_DIRECTIONS];        /**< all but experts */
    uint64_t before_weights_ps, experts_weights_ps; /**< of the backward times, what makes gradients of weights */
    uint64_t experts_ps[PIPELINE_DIRECTIONS];       /**< on the busiest GPU of the group */
    double before_gaps[PIPELINE_DIRECTIONS],
        experts_gaps[PIPELINE_DIRECTIONS];    /**< of those times, the share in which no kernel runs */
    uint64_t tensor_ps[PIPELINE_DIRECTIONS];  /**< collectives of tensor parallelism that are not hidden */
    uint64_t context_ps[PIPELINE_DIRECTIONS]; /**< keys and values of context parallelism that are not hidden */
};

/** Picoseconds; what is too long for a step stays at LAYER_TIME_LONGEST_PS. */
uint64_t layer_time_ps(double seconds);

#define LAYER_TIME_LONGEST_PS 1e18 /* ours: a step of eleven days; far below what 64 bits hold */

/** Tokens of a sequence. */
uint32_t layer_time_sequence(const struct training_setup *setup);

/** Layers of the model in their order, *n of them; the caller frees them. */
struct layer_time *layer_time_create(const struct training_setup *setup, uint32_t *n);

/** Computing in both directions. */
uint64_t layer_time_computing_ps(const struct layer_time *layer);

/** Tensor and context parallelism in both directions. */
uint64_t layer_time_sharing_ps(const struct layer_time *layer);

/** Exchanges in both directions and waits for their GPUs, hidden or not; 0 without experts. */
uint64_t layer_time_exchanges_ps(const struct training_setup *setup, const struct layer_time *layer);

/** The pass through so many layers in a direction; its segments are allocated, the caller frees them. */
struct pipeline_pass layer_time_pass(const struct layer_time *layers, uint32_t n, enum pipeline_direction direction,
                                     const struct training_setup *setup);

/** What computing, exchanges and gradients share; nothing without training.contention. */
struct pipeline_sharing layer_time_sharing(const struct training_setup *setup);

#endif
