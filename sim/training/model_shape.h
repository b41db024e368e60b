// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a model's layers compute: multiplications and additions of one token, and parameters, from published dimensions.
 */
#ifndef MOEFABRIC_TRAINING_MODEL_SHAPE_H
#define MOEFABRIC_TRAINING_MODEL_SHAPE_H

#include "config/experiment.h"
#include "config/experiment_preset.h"

#include <stdbool.h>
#include <stdint.h>

/** Dimensions that the traffic of a layer does not need. */
struct model_shape {
    const char *name;         /**< of the preset */
    uint32_t heads, kv_heads; /**< attention; with latent attention kv_heads is not used */
    uint32_t key_width;       /**< of a head's keys and queries */
    uint32_t value_width;     /**< of a head's values */
    uint32_t query_rank;      /**< latent attention: of the queries' compression; 0 = ordinary attention */
    uint32_t kv_rank;         /**< latent attention: of keys and values together */
    uint32_t rope_width;      /**< latent attention: part of key_width that all heads share */
    uint32_t window_tokens;   /**< every second layer looks back only so far; 0 = none does */
    uint32_t dense_hidden;    /**< feed-forward layers without experts */
    uint32_t vocabulary;
    uint32_t mtp_layers;    /**< multi-token prediction: layers beyond the preset's */
    uint32_t feed_matrices; /**< of a feed-forward layer: 3 with a gate, 2 without */
    bool bidirectional;     /**< every token sees the whole sequence */
    uint32_t
        unseen_matrices; /**< of hidden × hidden in a layer, that a token does not meet: those of another stream of tokens, modulation */
    uint32_t
        adapter_rank; /**< low-rank adapters of attention's linear maps are all that is trained (arXiv:2106.09685); 0 = all is */
    const char *source;
};

/** The dimensions of a preset; NULL if they are not known. */
const struct model_shape *model_shape_find(const char *preset);

/** Names of all of them, NULL-terminated. */
extern const char *const model_shape_names[];

/** What a unit of a pipeline is. Units stand in this order. */
enum model_layer {
    MODEL_LAYER_EMBEDDING,
    MODEL_LAYER_DENSE,
    MODEL_LAYER_MOE,
    MODEL_LAYER_MTP, /**< a layer with experts, its projection and its logits */
    MODEL_LAYER_LOGITS,
    MODEL_LAYER_KINDS
};

/** True if a layer of the kind has experts, and so exchanges. */
bool model_shape_has_experts(enum model_layer layer);

/** Operations of one token, forward: a multiplication and an addition are two. */
struct model_operations {
    double projections; /**< linear maps of attention */
    double attention;   /**< scores and weighted values, causal: half the sequence on average */
    double dense;       /**< feed-forward without experts, and shared experts */
    double router;
    double experts; /**< of all experts that a token picks */
    double logits;
};

/** Operations of a layer for one token in a sequence of so many. */
struct model_operations model_shape_operations(const struct model_shape *shape, const struct experiment_preset *preset,
                                               enum model_layer layer, uint32_t sequence_tokens);

/** Parameters of a layer: those that every GPU of a stage holds, those of all experts, and of the former those that are trained. */
struct model_parameters {
    double shared, experts, trained;
};

/** Parameters of a layer. */
struct model_parameters model_shape_parameters(const struct model_shape *shape, const struct experiment_preset *preset,
                                               enum model_layer layer);

/** Operations backward ÷ forward of matrices: gradients of inputs, and of weights if they are trained. */
double model_shape_backward(const struct model_shape *shape);

/** How many layers of a kind there are. */
uint32_t model_shape_count(const struct model_shape *shape, const struct experiment_preset *preset,
                           enum model_layer layer);

/** The kind of a layer by its number in their order, from 0. */
enum model_layer model_shape_kind(const struct model_shape *shape, const struct experiment_preset *preset,
                                  uint32_t layer);

#endif
