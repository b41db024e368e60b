// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/kernel_bytes.h"

enum {
    ELEMENT = 2, /* BF16 */
    PASS = 4,    /* an element read and written */
    ADD = 6,     /* two read, one written */
    NORMS = 2,   /* of a layer, with as many residuals */
    SCORE = 4    /* FP32 */
};

/* Written by rows and by columns; the scales of blocks are left out. */
static double converted(enum experiment_precision precision) {
    return precision == EXPERIMENT_PRECISION_BF16 ? 0 : 2 * gpu_element_bytes(precision);
}

/* A kernel that reads BF16 and writes what matrices read; in BF16 there is none. */
static double conversion(enum experiment_precision precision) {
    return converted(precision) > 0 ? ELEMENT + converted(precision) : 0;
}

static double attention_width(const struct model_shape *shape) {
    return (double)shape->heads * shape->value_width;
}

/* Queries and keys that are turned by their place. */
static double turned_width(const struct model_shape *shape) {
    return shape->query_rank > 0 ? (double)shape->heads * shape->rope_width + shape->rope_width
                                 : ((double)shape->heads + shape->kv_heads) * shape->key_width;
}

static double feed_width(const struct training_setup *setup, bool experts) {
    return experts ? setup->preset->shared_hidden : setup->shape->dense_hidden;
}

static struct kernel_bytes unfused(const struct training_setup *setup, bool experts) {
    const struct experiment_training *training = setup->training;
    const double hidden = setup->preset->hidden, feed = feed_width(setup, experts);
    const double picks = experts ? setup->preset->top_k : 0, width = setup->preset->ffn_hidden;
    const double wide = conversion(training->precision), narrow = conversion(training->expert_precision);
    return (struct kernel_bytes){
        .before = NORMS * (PASS + ADD) * hidden + PASS * turned_width(setup->shape) + ADD * feed +
                  wide * (2 * hidden + attention_width(setup->shape) + feed) +
                  (experts ? (double)PASS * SCORE * setup->preset->experts + PASS * hidden : 0),
        .experts = picks * (2 * PASS * hidden + ADD * width + narrow * (hidden + width)),
    };
}

static struct kernel_bytes fused(const struct training_setup *setup, bool experts) {
    const struct experiment_training *training = setup->training;
    const double hidden = setup->preset->hidden, feed = feed_width(setup, experts);
    const double picks = experts ? setup->preset->top_k : 0, width = setup->preset->ffn_hidden;
    const bool permutes = training->kernels == EXPERIMENT_KERNELS_FUSED;
    const double wide = converted(training->precision), narrow = converted(training->expert_precision);
    return (struct kernel_bytes){
        .before = NORMS * (ADD + wide) * hidden + PASS * turned_width(setup->shape) + wide * feed +
                  (experts ? (double)SCORE * setup->preset->experts : 0),
        .experts = picks * (narrow * width + (permutes ? 2 * PASS * hidden : 0)),
    };
}

struct kernel_bytes kernel_bytes_of(const struct training_setup *setup, enum model_layer layer) {
    const bool experts = model_shape_has_experts(layer);
    if (setup->training->kernels == EXPERIMENT_KERNELS_MATRICES || layer == MODEL_LAYER_EMBEDDING ||
        layer == MODEL_LAYER_LOGITS) {
        return (struct kernel_bytes){0};
    }
    return setup->training->kernels == EXPERIMENT_KERNELS_SEPARATE ? unfused(setup, experts) : fused(setup, experts);
}
