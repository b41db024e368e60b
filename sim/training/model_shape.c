// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/model_shape.h"

#include <string.h>

/* name, heads, kv_heads, key, value, query_rank, kv_rank, rope, window, dense_hidden, vocabulary, mtp, feed_matrices, bidirectional, unseen_matrices, adapter_rank, source */
#define LLM 3, false, 0, 0
#define SHAPES(X)                                                                                                      \
    X("deepseek-v3", 128, 128, 192, 128, 1536, 512, 64, 0, 18432, 129280, 1, LLM,                                      \
      "config.json of deepseek-ai/DeepSeek-V3 (arXiv:2412.19437, section 4.2)")                                        \
    X("kimi-k2", 64, 64, 192, 128, 1536, 512, 64, 0, 18432, 163840, 0, LLM,                                            \
      "config.json of moonshotai/Kimi-K2-Instruct")                                                                    \
    X("gpt-oss-20b", 64, 8, 64, 64, 0, 0, 0, 128, 0, 201088, 0, LLM, "OpenAI gpt-oss model card (arXiv:2508.10925)")   \
    X("gpt-oss-120b", 64, 8, 64, 64, 0, 0, 0, 128, 0, 201088, 0, LLM, "OpenAI gpt-oss model card (arXiv:2508.10925)")  \
    X("qwen3-235b-a22b", 64, 4, 128, 128, 0, 0, 0, 0, 0, 151936, 0, LLM, "config.json of Qwen/Qwen3-235B-A22B")        \
    X("mixtral-8x7b", 32, 8, 128, 128, 0, 0, 0, 0, 0, 32000, 0, LLM, "config.json of mistralai/Mixtral-8x7B-v0.1")     \
    X("llama-3.1-405b", 128, 8, 128, 128, 0, 0, 0, 0, 53248, 128256, 0, LLM,                                           \
      "The Llama 3 herd of models (arXiv:2407.21783), table 3")                                                        \
    X("llama-3.1-8b", 32, 8, 128, 128, 0, 0, 0, 0, 14336, 128256, 0, LLM,                                              \
      "The Llama 3 herd of models (arXiv:2407.21783), table 3")                                                        \
    X("llama-2-70b-lora", 64, 8, 128, 128, 0, 0, 0, 0, 28672, 32000, 0, 3, false, 0, 16,                               \
      "config.json of meta-llama/Llama-2-70b-hf; adapters of rank 16 on attention: mlcommons/training "                \
      "llama2_70b_lora (00baefa)")                                                                                     \
    X("flux.1", 24, 24, 128, 128, 0, 0, 0, 0, 12288, 64, 0, 2, true, 10, 0,                                            \
      "black-forest-labs/flux src/flux (1f71c43): 19 blocks of two streams (36 h² parameters), 38 of one (15 h²), "  \
      "22 h² on average, of which a token meets 12")

#define NAME(name, ...) name,
#define SHAPE(...) {__VA_ARGS__},

const char *const model_shape_names[] = {SHAPES(NAME) NULL};
static const struct model_shape shapes[] = {SHAPES(SHAPE)};

const struct model_shape *model_shape_find(const char *preset) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strcmp(shapes[i].name, preset) == 0) {
            return &shapes[i];
        }
    }
    return NULL;
}

/* Weights of the linear maps around attention. Latent attention: arXiv:2412.19437, equations 1 to 11. */
static double projection_weights(const struct model_shape *shape, double hidden) {
    const double heads = shape->heads, out = heads * shape->value_width * hidden;
    if (shape->query_rank > 0) {
        const double queries = hidden * shape->query_rank + shape->query_rank * heads * shape->key_width;
        const double keys = hidden * (shape->kv_rank + shape->rope_width) +
                            shape->kv_rank * heads * (shape->key_width - shape->rope_width + shape->value_width);
        return queries + keys + out;
    }
    return hidden * heads * shape->key_width +
           hidden * shape->kv_heads * ((double)shape->key_width + shape->value_width) + out;
}

/* Multiply-adds of scores and values: a token sees half the sequence on average, all of it, or its window. */
static double attention_products(const struct model_shape *shape, uint32_t sequence_tokens) {
    const double whole = sequence_tokens / (shape->bidirectional ? 1.0 : 2.0), window = shape->window_tokens;
    const double seen = window > 0 && window < whole ? (whole + window) / 2 : whole; // every second layer
    return shape->heads * ((double)shape->key_width + shape->value_width) * seen;
}

/* A gated feed-forward layer has three matrices. */
static double feed_forward(const struct model_shape *shape, double hidden, double width) {
    return shape->feed_matrices * hidden * width;
}

/* Of queries, keys and values together, and of the output: two low-rank matrices each. */
static double adapter_weights(const struct model_shape *shape, double hidden) {
    const double into =
        shape->heads * (double)shape->key_width + shape->kv_heads * ((double)shape->key_width + shape->value_width);
    return shape->adapter_rank * (hidden + into + shape->heads * (double)shape->value_width + hidden);
}

bool model_shape_has_experts(enum model_layer layer) {
    return layer == MODEL_LAYER_MOE || layer == MODEL_LAYER_MTP;
}

struct model_operations model_shape_operations(const struct model_shape *shape, const struct experiment_preset *preset,
                                               enum model_layer layer, uint32_t sequence_tokens) {
    const double hidden = preset->hidden, each = 2; // a multiplication and an addition
    struct model_operations operations = {0};
    if (layer == MODEL_LAYER_EMBEDDING) {
        return operations; // looked up
    }
    if (layer == MODEL_LAYER_LOGITS || layer == MODEL_LAYER_MTP) {
        operations.logits = each * hidden * shape->vocabulary;
    }
    if (layer == MODEL_LAYER_LOGITS) {
        return operations;
    }
    operations.projections = each * projection_weights(shape, hidden);
    operations.attention = each * attention_products(shape, sequence_tokens);
    if (layer == MODEL_LAYER_MTP) {
        operations.projections += each * 2 * hidden * hidden; // the projection of two states to one
    }
    if (model_shape_has_experts(layer)) {
        operations.router = each * hidden * preset->experts;
        operations.dense = each * feed_forward(shape, hidden, preset->shared_hidden);
        operations.experts = each * preset->top_k * feed_forward(shape, hidden, preset->ffn_hidden);
    } else {
        operations.dense = each * feed_forward(shape, hidden, shape->dense_hidden);
    }
    return operations;
}

struct model_parameters model_shape_parameters(const struct model_shape *shape, const struct experiment_preset *preset,
                                               enum model_layer layer) {
    const double hidden = preset->hidden;
    struct model_parameters parameters = {0};
    if (layer == MODEL_LAYER_EMBEDDING || layer == MODEL_LAYER_LOGITS) {
        parameters.shared = hidden * shape->vocabulary;
        parameters.trained = shape->adapter_rank > 0 ? 0 : parameters.shared;
        return parameters;
    }
    parameters.shared = projection_weights(shape, hidden) + (layer == MODEL_LAYER_MTP ? 2 * hidden * hidden : 0);
    if (model_shape_has_experts(layer)) {
        parameters.shared += hidden * preset->experts + feed_forward(shape, hidden, preset->shared_hidden);
        parameters.experts = preset->experts * feed_forward(shape, hidden, preset->ffn_hidden);
    } else {
        parameters.shared += feed_forward(shape, hidden, shape->dense_hidden);
    }
    parameters.shared += shape->unseen_matrices * hidden * hidden;
    parameters.trained = shape->adapter_rank > 0 ? adapter_weights(shape, hidden) : parameters.shared;
    return parameters;
}

double model_shape_backward(const struct model_shape *shape) {
    return shape->adapter_rank > 0 ? 1 : 2;
}

uint32_t model_shape_count(const struct model_shape *shape, const struct experiment_preset *preset,
                           enum model_layer layer) {
    switch (layer) {
    case MODEL_LAYER_DENSE:
        return preset->layers - preset->moe_layers;
    case MODEL_LAYER_MOE:
        return preset->moe_layers;
    case MODEL_LAYER_MTP:
        return shape->mtp_layers;
    default:
        return 1;
    }
}

enum model_layer model_shape_kind(const struct model_shape *shape, const struct experiment_preset *preset,
                                  uint32_t layer) {
    int kind = 0;
    for (uint32_t end = 0; kind < MODEL_LAYER_KINDS - 1; kind++) {
        end += model_shape_count(shape, preset, (enum model_layer)kind);
        if (layer < end) {
            break;
        }
    }
    return (enum model_layer)kind;
}
