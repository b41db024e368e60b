// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_memory.h"

#include "base/error_id.h"
#include "base/number.h"
#include "training/layer_time.h"
#include "training/training_cut.h"

#include <math.h>

enum {
    WEIGHT_BYTES = 2, /* BF16 */
    ELEMENT = 2,      /* BF16 */
    STATISTIC = 4     /* FP32: of a head's softmax, of an expert's score */
};

double training_memory_sum(const struct training_memory *memory) {
    return memory->weights + memory->gradients + memory->optimiser + memory->activations;
}

static enum model_layer kind_of(const struct training_setup *setup, uint32_t layer) {
    return model_shape_kind(setup->shape, setup->preset, layer);
}

struct model_parameters training_memory_held(const struct training_setup *setup, uint32_t first, uint32_t end) {
    struct model_parameters sum = {0};
    for (uint32_t i = first; i < end; i++) {
        const struct model_parameters one = model_shape_parameters(setup->shape, setup->preset, kind_of(setup, i));
        sum.shared += one.shared / setup->groups.tensor;
        sum.trained += one.trained / setup->groups.tensor;
        sum.experts += one.experts / setup->groups.expert;
    }
    return sum;
}

/*
 * The distributed optimiser's share of elements: state read and written, gradient read twice (its norm comes first), weight written. And gradients of all
 * that a GPU holds are set to zero for the next step.
 */
double training_memory_optimiser_bytes(const struct training_setup *setup, const struct model_parameters *held) {
    const struct training_groups *groups = &setup->groups;
    const double share = held->trained / groups->replicas + held->experts / groups->expert_data;
    const double gradient = setup->training->gradient_bytes;
    return share * (2.0 * setup->training->optimiser_state_bytes + 2 * gradient + WEIGHT_BYTES) +
           (held->trained + held->experts) * gradient;
}

/* Queries, keys, values and what comes of them. Latent attention makes them again from its ranks if operators are computed again. */
static double attention_bytes(const struct training_setup *setup) {
    const struct model_shape *shape = setup->shape;
    const double heads = shape->heads, out = heads * shape->value_width * ELEMENT + heads * STATISTIC;
    const double queries = heads * shape->key_width * ELEMENT;
    const bool again = setup->training->recompute == EXPERIMENT_RECOMPUTE_OPERATORS;
    if (shape->query_rank > 0) {
        const double ranks = ((double)shape->query_rank + shape->kv_rank + shape->rope_width) * ELEMENT;
        return ranks + out + (again ? 0 : queries + heads * ((double)shape->key_width + shape->value_width) * ELEMENT);
    }
    return queries + shape->kv_heads * ((double)shape->key_width + shape->value_width) * ELEMENT + out;
}

/* Of a feed-forward part of so many inputs and so wide: its input, what its first matrices give, and the activation. Where that is computed again, what it
 * is computed of is kept in the precision of matrices (arXiv:2412.19437, section 3.3.3). */
static double feed_bytes(const struct training_setup *setup, double hidden, double width,
                         enum experiment_precision precision) {
    const double kept = gpu_element_bytes(precision);
    const bool again = setup->training->recompute == EXPERIMENT_RECOMPUTE_OPERATORS;
    return hidden * kept + 2 * width * (again ? kept : ELEMENT) + (again ? 0 : width * kept);
}

/* Copies of a token at experts, that a GPU must have room for ÷ tokens that it sends. */
static double copies_of(const struct training_setup *setup) {
    const struct training_groups *groups = &setup->groups;
    const double picks = setup->preset->top_k, own = (double)setup->preset->experts / groups->expert;
    if (setup->training->expert_buffers == EXPERIMENT_EXPERT_BUFFERS_WORST_CASE) {
        return groups->expert * fmin(picks, fmax(1, own)); // every token of the group comes here
    }
    return picks * setup->exchange.expert_load;
}

double training_memory_layer_bytes(const struct training_setup *setup, enum model_layer layer) {
    const struct experiment_training *training = setup->training;
    const double hidden = setup->preset->hidden, tensor = setup->groups.tensor;
    const bool experts = model_shape_has_experts(layer);
    if (layer == MODEL_LAYER_EMBEDDING) {
        return 0;
    }
    if (layer == MODEL_LAYER_LOGITS) {
        return hidden * ELEMENT + (double)setup->shape->vocabulary / tensor * STATISTIC;
    }
    if (training->recompute == EXPERIMENT_RECOMPUTE_LAYERS) {
        return hidden * ELEMENT;
    }
    double bytes = 2 * hidden * ELEMENT + attention_bytes(setup); // inputs of both norms
    if (experts) {
        bytes += setup->preset->experts * STATISTIC +
                 copies_of(setup) * feed_bytes(setup, hidden, setup->preset->ffn_hidden, training->expert_precision);
    }
    const double width = experts ? setup->preset->shared_hidden : setup->shape->dense_hidden;
    return bytes + (width > 0 ? feed_bytes(setup, hidden, width, training->precision) : 0);
}

static uint32_t passes_of(const struct training_setup *setup, uint32_t stage, uint32_t parts) {
    const struct pipeline pipeline = {.stages = setup->groups.pipeline,
                                      .parts_per_stage = parts,
                                      .micro_batches = setup->groups.micro_batches,
                                      .overlapped = setup->training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP};
    return pipeline_on_the_way(&pipeline, stage);
}

static struct training_memory of_stage(const struct training_setup *setup, const struct pipeline_layout *layout,
                                       uint32_t stage) {
    const struct training_groups *groups = &setup->groups;
    const uint32_t parts = layout->n_parts / groups->pipeline;
    struct training_memory memory = {.passes = passes_of(setup, stage, parts)};
    for (uint32_t part = stage; part < layout->n_parts; part += groups->pipeline) {
        const struct model_parameters held = training_memory_held(setup, layout->first[part], layout->first[part + 1]);
        memory.weights += (held.shared + held.experts) * WEIGHT_BYTES;
        memory.gradients += (held.trained + held.experts) * setup->training->gradient_bytes;
        memory.optimiser += (held.trained / groups->replicas + held.experts / groups->expert_data) *
                            setup->training->optimiser_state_bytes;
        for (uint32_t i = layout->first[part]; i < layout->first[part + 1]; i++) {
            memory.activations +=
                groups->tokens * training_memory_layer_bytes(setup, kind_of(setup, i)) * memory.passes / parts;
        }
    }
    return memory;
}

struct training_memory training_memory_most(const struct training_setup *setup, const struct pipeline_layout *layout) {
    struct training_memory most = {0};
    for (uint32_t stage = 0; stage < setup->groups.pipeline; stage++) {
        const struct training_memory memory = of_stage(setup, layout, stage);
        if (training_memory_sum(&memory) > training_memory_sum(&most)) {
            most = memory;
        }
    }
    return most;
}

bool training_memory_check(const struct training_setup *setup, const struct training_memory *memory,
                           struct error *error) {
    const double gb = 1e9, has_gb = setup->gpu->memory_gb, sum_gb = training_memory_sum(memory) / gb;
    const double state_gb = sum_gb - memory->activations / gb;
    if (sum_gb <= has_gb || !setup->training->memory_refuses) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "does not fit: weights %.1f + gradients %.1f + optimiser %.1f + activations %.1f (%.0f passes on the "
              "way) = %.1f GB on a GPU of %.0f GB",
              memory->weights / gb, memory->gradients / gb, memory->optimiser / gb, memory->activations / gb,
              memory->passes, sum_gb, has_gb);
    if (state_gb >= has_gb) {
        error_hint(error, "more pipeline stages, larger expert-parallel groups or more data-parallel copies take less");
    } else if (setup->training->expert_buffers == EXPERIMENT_EXPERT_BUFFERS_WORST_CASE) {
        error_hint(error, "training.expert_buffers: paged holds what came, not the worst case");
    } else {
        error_hint(error,
                   "activations have %.1f GB: training.recompute: operators or layers keeps less of a layer, smaller "
                   "micro-batches or more tensor and context parallelism make it smaller",
                   has_gb - state_gb);
    }
    return false;
}
