// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A decode step: every sequence gets one token. Attention is data-parallel, experts are spread over the expert-parallel group.
 *
 * What a layer computes takes as long as its operations or as the bytes that it reads from memory, whichever is more (roofline): attention reads the weights
 * that every GPU has and the cached keys and values of its sequences; experts are those of the busiest GPU, which reads all that it holds. With latent
 * attention the cache holds the compressed vector, and scores are taken on it (DeepSeek-V2, arXiv:2405.04434, section 2.1.2). Without overlap a layer's exchange is exposed;
 * with it two micro-batches share computing and network, and a layer of both takes twice the longer of the two.
 */
#ifndef MOEFABRIC_SIZING_DECODE_H
#define MOEFABRIC_SIZING_DECODE_H

#include "config/experiment.h"
#include "training/gpu.h"
#include "training/model_shape.h"

/** What a step is made of. */
struct decode_setup {
    const struct experiment_decode *decode;
    const struct experiment_training *training; /**< precisions and efficiencies */
    const struct experiment_preset *preset;
    const struct model_shape *shape;
    const struct gpu *gpu;
    uint32_t sequences; /**< of a GPU in a micro-batch */
    uint32_t group;     /**< GPUs that hold all experts together */
    double expert_load; /**< busiest GPU ÷ mean */
    double exchange_s;  /**< dispatch and combine of a layer */
};

/** What comes of it. Times in seconds. */
struct decode_step {
    double attention_s,
        experts_s;       /**< of a layer with experts and one micro-batch, all before and after the exchange */
    double exposed_s;    /**< of a layer's exchange, of each micro-batch */
    double token_s;      /**< from one token of a sequence to the next */
    double tokens_per_s; /**< of a GPU */
    double memory_bytes; /**< of the busiest GPU: weights and caches */
};

/** Works it out. */
struct decode_step decode_step_of(const struct decode_setup *setup);

#endif
