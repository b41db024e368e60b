// SPDX-License-Identifier: GPL-3.0-or-later
#include "sizing/decode.h"

#include <math.h>

/* Elements that a layer caches for a token. */
static double cached_elements(const struct model_shape *shape) {
    return shape->kv_rank > 0 ? (double)shape->kv_rank + shape->rope_width
                              : (double)shape->kv_heads * (shape->key_width + shape->value_width);
}

/* Scores and weighted values of one token over its context. */
static double attention_operations(const struct model_shape *shape, double context) {
    const double width =
        shape->kv_rank > 0 ? 2.0 * shape->kv_rank + shape->rope_width : (double)shape->key_width + shape->value_width;
    return 2 * shape->heads * width * context;
}

static double seconds_of(double operations, const struct decode_setup *setup, enum experiment_precision precision,
                         double efficiency) {
    return operations / (setup->gpu->tflops[precision] * 1e12 * efficiency);
}

static double read_s(const struct decode_setup *setup, double bytes) {
    return bytes / (setup->gpu->memory_tb_per_s * 1e12 * setup->decode->memory_efficiency);
}

/* Tokens that a new one looks back on, mean of all layers: where there is a window every second one has it (model_shape.h). */
static double seen_tokens(const struct decode_setup *setup) {
    const double whole = setup->decode->context_tokens, window = setup->shape->window_tokens;
    return window > 0 && window < whole ? (whole + window) / 2 : whole;
}

static double cache_bytes(const struct decode_setup *setup) {
    return setup->sequences * seen_tokens(setup) * cached_elements(setup->shape) * setup->decode->cache_bytes;
}

/* All of a layer but its routed experts, for one micro-batch. */
static double before_s(const struct decode_setup *setup, enum model_layer layer) {
    const struct experiment_training *training = setup->training;
    const struct model_operations one = model_shape_operations(setup->shape, setup->preset, layer, 1);
    const struct model_parameters held = model_shape_parameters(setup->shape, setup->preset, layer);
    const bool attends = one.projections > 0;
    const double context = attends ? seen_tokens(setup) : 0, n = setup->sequences;
    const double matrices = n * (one.projections + one.dense + one.router + one.logits);
    const double computing = seconds_of(matrices, setup, training->precision, training->matrix_efficiency) +
                             seconds_of(n * attention_operations(setup->shape, context), setup,
                                        training->attention_precision, training->attention_efficiency);
    const double reading =
        read_s(setup, held.shared * setup->decode->weight_bytes + (attends ? cache_bytes(setup) : 0));
    return fmax(computing, reading);
}

static double experts_s(const struct decode_setup *setup) {
    const struct model_operations one = model_shape_operations(setup->shape, setup->preset, MODEL_LAYER_MOE, 1);
    const struct model_parameters held = model_shape_parameters(setup->shape, setup->preset, MODEL_LAYER_MOE);
    const double operations = setup->sequences * one.experts * setup->expert_load;
    return fmax(seconds_of(operations, setup, setup->training->expert_precision, setup->training->expert_efficiency),
                read_s(setup, held.experts / setup->group * setup->decode->weight_bytes));
}

static uint32_t count(const struct decode_setup *setup, enum model_layer layer) {
    return model_shape_count(setup->shape, setup->preset, layer);
}

static double memory_of(const struct decode_setup *setup, uint32_t batches) {
    static const enum model_layer layers[] = {MODEL_LAYER_EMBEDDING, MODEL_LAYER_DENSE, MODEL_LAYER_MOE,
                                              MODEL_LAYER_LOGITS};
    double bytes = 0;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        const struct model_parameters held = model_shape_parameters(setup->shape, setup->preset, layers[i]);
        bytes += count(setup, layers[i]) * (held.shared + held.experts / setup->group) * setup->decode->weight_bytes;
    }
    return bytes + batches * cache_bytes(setup) * (count(setup, MODEL_LAYER_DENSE) + count(setup, MODEL_LAYER_MOE));
}

struct decode_step decode_step_of(const struct decode_setup *setup) {
    const uint32_t batches = setup->decode->overlap ? 2 : 1;
    struct decode_step step = {.attention_s = before_s(setup, MODEL_LAYER_MOE), .experts_s = experts_s(setup)};
    const double computing = step.attention_s + step.experts_s;
    step.exposed_s = setup->decode->overlap ? fmax(0, setup->exchange_s - computing) : setup->exchange_s;
    step.token_s = batches * (count(setup, MODEL_LAYER_MOE) * (computing + step.exposed_s) +
                              count(setup, MODEL_LAYER_DENSE) * before_s(setup, MODEL_LAYER_DENSE) +
                              before_s(setup, MODEL_LAYER_LOGITS));
    step.tokens_per_s = batches * setup->sequences / step.token_s;
    step.memory_bytes = memory_of(setup, batches);
    return step;
}
