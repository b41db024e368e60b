// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/layer_time.h"

#include "base/memory.h"
#include "training/parallel_exchange.h"

#include <stdlib.h>

#define PS_PER_S 1e12

enum {
    SEGMENTS = 6 /* of a layer, at most */
};
#define ATTENTION_BACKWARD_FACTOR 2.5

uint64_t layer_time_ps(double seconds) {
    const double ps = seconds * PS_PER_S + 0.5;
    return ps < LAYER_TIME_LONGEST_PS ? (uint64_t)ps : (uint64_t)LAYER_TIME_LONGEST_PS;
}

static uint64_t compute_ps(const struct training_setup *setup, double operations, enum experiment_precision precision,
                           double efficiency) {
    return layer_time_ps(operations * setup->groups.tokens / (setup->gpu->tflops[precision] * 1e12 * efficiency));
}

/* A host that launches every kernel is the limit of small layers. */
static uint64_t launch_ps(const struct training_setup *setup, enum pipeline_direction direction) {
    const struct experiment_training *training = setup->training;
    const uint64_t kernels =
        (uint64_t)training->kernels_per_layer * (direction == PIPELINE_BACKWARD ? LAYER_TIME_BACKWARD_FACTOR : 1);
    return training->cuda_graphs ? 0 : kernels * training->launch_ps;
}

/* Matrices are cut over tensor-parallel GPUs, tokens too: each has its own tokens × whole layers ÷ 1 of the operations. */
static void time_layer(const struct training_setup *setup, uint32_t sequence_tokens, struct layer_time *layer) {
    const struct experiment_training *training = setup->training;
    const struct model_operations operations =
        model_shape_operations(setup->shape, setup->preset, layer->kind, sequence_tokens);
    const double matrices = operations.projections + operations.dense + operations.router;
    const int cut = (operations.projections > 0) + (operations.dense > 0); // experts are whole: tokens go to them
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        const bool backward = direction == PIPELINE_BACKWARD;
        const double factor = backward ? model_shape_backward(setup->shape) : 1;
        const uint64_t matrices_ps =
            compute_ps(setup, factor * matrices, training->precision, training->matrix_efficiency) +
            compute_ps(setup, factor * operations.logits, training->logits_precision, training->matrix_efficiency);
        const uint64_t attention_ps =
            compute_ps(setup, (backward ? ATTENTION_BACKWARD_FACTOR : 1) * operations.attention,
                       training->attention_precision, training->attention_efficiency);
        layer->before_ps[direction] = matrices_ps + attention_ps;
        layer->tensor_ps[direction] = parallel_exchange_tensor_ps(&setup->groups, cut, setup->preset->hidden,
                                                                  training->overlap_tensor ? matrices_ps : 0);
        layer->context_ps[direction] =
            parallel_exchange_context_ps(&setup->groups, operations.attention > 0 ? setup->shape : NULL,
                                         training->context_exchange, backward, attention_ps);
        layer->experts_ps[direction] = compute_ps(setup, factor * operations.experts * setup->exchange.expert_load,
                                                  training->expert_precision, training->expert_efficiency);
        const uint64_t least_ps =
            layer->kind == MODEL_LAYER_EMBEDDING ? 0 : launch_ps(setup, (enum pipeline_direction)direction);
        const uint64_t taken_ps = layer->before_ps[direction] + layer->experts_ps[direction];
        layer->before_ps[direction] += least_ps > taken_ps ? least_ps - taken_ps : 0;
    }
}

uint32_t layer_time_sequence(const struct training_setup *setup) {
    return setup->training->sequence_tokens ? setup->training->sequence_tokens : setup->preset->sequence_tokens;
}

struct layer_time *layer_time_create(const struct training_setup *setup, uint32_t *n) {
    *n = 0;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        *n += model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
    }
    struct layer_time *layers = memory_allocate(*n, sizeof *layers), *layer = layers;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        const uint32_t count = model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
        for (uint32_t i = 0; i < count; i++, layer++) {
            layer->kind = (enum model_layer)kind;
            time_layer(setup, layer_time_sequence(setup), layer);
        }
    }
    return layers;
}

bool layer_time_has_experts(const struct layer_time *layer) {
    return layer->kind == MODEL_LAYER_MOE || layer->kind == MODEL_LAYER_MTP;
}

uint64_t layer_time_computing_ps(const struct layer_time *layer) {
    return layer->before_ps[0] + layer->before_ps[1] + layer->experts_ps[0] + layer->experts_ps[1];
}

uint64_t layer_time_sharing_ps(const struct layer_time *layer) {
    return layer->tensor_ps[0] + layer->tensor_ps[1] + layer->context_ps[0] + layer->context_ps[1];
}

/* ---- passes ---- */

static void add(struct pipeline_pass *pass, enum pipeline_resource resource, uint64_t duration_ps, const char *name) {
    if (duration_ps > 0) {
        pass->segments[pass->n_segments++] =
            (struct pipeline_segment){.duration_ps = duration_ps, .resource = resource, .name = name};
    }
}

static void add_forward(struct pipeline_pass *pass, const struct layer_time *layer,
                        const struct training_exchange *exchange) {
    add(pass, PIPELINE_NETWORK, layer->tensor_ps[PIPELINE_FORWARD], "tensor-parallel collectives");
    add(pass, PIPELINE_NETWORK, layer->context_ps[PIPELINE_FORWARD], "keys and values");
    add(pass, PIPELINE_COMPUTE, layer->before_ps[PIPELINE_FORWARD], "attention and dense");
    if (layer_time_has_experts(layer)) {
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_DISPATCH], "dispatch");
        add(pass, PIPELINE_COMPUTE, layer->experts_ps[PIPELINE_FORWARD], "experts");
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_COMBINE], "combine");
    }
}

static void add_backward(struct pipeline_pass *pass, const struct layer_time *layer,
                         const struct training_exchange *exchange) {
    if (layer_time_has_experts(layer)) {
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_COMBINE_BACKWARD], "combine, backward");
        add(pass, PIPELINE_COMPUTE, layer->experts_ps[PIPELINE_BACKWARD], "experts, backward");
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_DISPATCH_BACKWARD], "dispatch, backward");
    }
    add(pass, PIPELINE_COMPUTE, layer->before_ps[PIPELINE_BACKWARD], "attention and dense, backward");
    add(pass, PIPELINE_NETWORK, layer->context_ps[PIPELINE_BACKWARD], "keys and values, backward");
    add(pass, PIPELINE_NETWORK, layer->tensor_ps[PIPELINE_BACKWARD], "tensor-parallel collectives, backward");
}

struct pipeline_pass layer_time_pass(const struct layer_time *layers, uint32_t n, enum pipeline_direction direction,
                                     const struct training_exchange *exchange) {
    struct pipeline_pass pass = {.segments = memory_allocate(SEGMENTS * (size_t)n, sizeof *pass.segments)};
    for (uint32_t i = 0; i < n; i++) {
        if (direction == PIPELINE_FORWARD) {
            add_forward(&pass, &layers[i], exchange);
        } else {
            add_backward(&pass, &layers[n - 1 - i], exchange);
        }
    }
    return pass;
}
