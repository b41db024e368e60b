// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A training step: a model's layers on a pipeline, computing by operations and peaks, communication by times that were simulated.
 *
 * A pass through a layer with experts computes attention (and shared experts), dispatches, computes experts on the busiest GPU of the group, and
 * combines. Backward it does the same in the other order with twice the operations, two and a half times for scores and values (FlashAttention-2,
 * arXiv:2307.08691: they are computed again), and with exchanges of its own: gradients go to the experts and come back.
 */
#ifndef MOEFABRIC_TRAINING_TRAINING_STEP_H
#define MOEFABRIC_TRAINING_TRAINING_STEP_H

#include "config/experiment.h"
#include "training/gpu.h"
#include "training/model_shape.h"
#include "training/pipeline.h"
#include "training/pipeline_layout.h"
#include "training/recommender_shape.h"
#include "training/straggler.h"
#include "training/training_groups.h"

/** Exchanges of a layer with experts, in their order. */
enum training_phase {
    TRAINING_DISPATCH,
    TRAINING_COMBINE,
    TRAINING_COMBINE_BACKWARD,
    TRAINING_DISPATCH_BACKWARD,
    TRAINING_PHASES
};

/** Names as those of the measured phases, in that order. */
extern const char *const training_phase_names[TRAINING_PHASES];

/** Times of a layer's exchanges, what they send, and how uneven they leave the experts. */
struct training_exchange {
    uint64_t phase_ps[TRAINING_PHASES];
    double nvlink_bytes[TRAINING_PHASES],
        nic_bytes[TRAINING_PHASES]; /**< of the busiest GPU, in its fuller direction */
    double expert_load;             /**< busiest GPU ÷ mean */
};

/** What a step is made of. */
struct training_setup {
    const struct experiment_training *training;
    const struct experiment_preset *preset;
    const struct model_shape *shape;             /**< NULL: a recommender */
    const struct recommender_shape *recommender; /**< NULL: a model of layers */
    const struct gpu *gpu;
    struct training_groups groups;
    struct training_exchange exchange;
    uint64_t send_latency_ps;              /**< of a message between stages, without its bytes */
    const struct straggler_copies *copies; /**< NULL: all GPUs are as fast as they should be */
    uint32_t exchange_sms;                 /**< that kernels of exchanges keep */
    const struct pipeline_layout *layout;  /**< what each part holds; NULL: cut as the configuration says */
    bool free_gradients;                   /**< what if: reducing and gathering take no time */
    bool (*stop)(void);                    /**< asked after each copy: true ends the work; NULL: never */
};

/** What a GPU holds, bytes. */
struct training_memory {
    double weights, gradients, optimiser;
    double activations; /**< of all passes that are on the way at once */
    double passes;      /**< that are */
};

/** What came of it. Ends with training_result_fini. */
struct training_result {
    uint64_t step_ps;       /**< without evaluation */
    uint64_t evaluation_ps; /**< of one evaluation; 0 = none */
    struct pipeline_layout layout;
    struct pipeline_stage_time *stages; /**< [pipeline parallelism] */
    uint32_t n_stages;
    uint32_t copy;                 /**< of setup.copies: the slowest, whose step this is */
    double imbalance;              /**< computing and exposed communication of the busiest stage ÷ mean */
    double operations;             /**< of the model, forward and backward, in a step of all GPUs */
    uint64_t gather_ps;            /**< parameters gathered after the optimiser's step, not hidden */
    uint64_t optimiser_ps;         /**< the optimiser's step, on the slowest stage */
    struct training_memory memory; /**< of a GPU of the fullest stage */
};

/** Simulates a step: of copies of the pipeline, the slowest one's. observe and context as in struct pipeline. False with *error, and nothing in *result that is to be freed, if the model cannot be cut so or setup->stop has ended it. */
bool training_step(const struct training_setup *setup, void (*observe)(void *, const struct pipeline_span *),
                   void *context, struct training_result *result, struct error *error);

/** Frees what it holds. */
void training_result_fini(struct training_result *result);

#endif
