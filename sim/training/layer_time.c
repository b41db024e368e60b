// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/layer_time.h"

#include "base/memory.h"
#include "training/contention.h"
#include "training/kernel_bytes.h"
#include "training/parallel_exchange.h"

#include <stdlib.h>

#define PS_PER_S 1e12

enum {
    SEGMENTS = 14 /* of a layer, at most */
};
#define ATTENTION_BACKWARD_FACTOR 2.5

const char *const layer_time_exchange_names[TRAINING_PHASES] = {"dispatch", "combine", "combine, backward",
                                                                "dispatch, backward"};

uint64_t layer_time_ps(double seconds) {
    const double ps = seconds * PS_PER_S + 0.5;
    return ps < LAYER_TIME_LONGEST_PS ? (uint64_t)ps : (uint64_t)LAYER_TIME_LONGEST_PS;
}

static uint64_t compute_ps(const struct training_setup *setup, double operations, enum experiment_precision precision,
                           double efficiency) {
    return layer_time_ps(operations * setup->groups.tokens / (setup->gpu->tflops[precision] * 1e12 * efficiency));
}

/* Of a layer in a direction; looking up embeddings counts as none. */
static uint64_t kernels_of(const struct training_setup *setup, const struct layer_time *layer, int direction) {
    return layer->kind == MODEL_LAYER_EMBEDDING ? 0
                                                : (uint64_t)setup->training->kernels_per_layer *
                                                      (direction == PIPELINE_BACKWARD ? LAYER_TIME_BACKWARD_FACTOR : 1);
}

/* Kernels that only read and write, and backward twice as much: gradients beside what was kept. */
static uint64_t memory_ps(const struct training_setup *setup, double bytes, bool backward) {
    const double rate = setup->gpu->memory_tb_per_s * 1e12 * setup->training->memory_efficiency;
    return bytes <= 0
               ? 0
               : layer_time_ps(bytes * (backward ? LAYER_TIME_BACKWARD_FACTOR : 1) * setup->groups.tokens / rate);
}

/* FP32 of nine products of pieces in BF16: three pieces of each number. */
#define PIECES 9

static uint64_t router_ps(const struct training_setup *setup, double operations) {
    const struct experiment_training *training = setup->training;
    const double tflops = training->router == EXPERIMENT_ROUTER_CUDA_CORES ? setup->gpu->fp32_tflops
                          : training->router == EXPERIMENT_ROUTER_TENSOR_CORES
                              ? setup->gpu->tflops[EXPERIMENT_PRECISION_BF16] / PIECES
                              : setup->gpu->tflops[training->precision];
    return layer_time_ps(operations * setup->groups.tokens / (tflops * 1e12 * training->matrix_efficiency));
}

/* The host has to know how many tokens come. */
static uint64_t host_sync_ps(const struct training_setup *setup, const struct layer_time *layer) {
    return setup->training->cuda_graphs || !model_shape_has_experts(layer->kind) ? 0 : setup->training->host_sync_ps;
}

/* Backward passes go forward again through layers that keep no more than their input. */
static bool goes_again(const struct training_setup *setup, const struct layer_time *layer) {
    return setup->training->recompute == EXPERIMENT_RECOMPUTE_LAYERS && layer->kind != MODEL_LAYER_LOGITS;
}

/* Of two times with their shares of gaps, that of both. */
static double gaps_of_both(const uint64_t ps[PIPELINE_DIRECTIONS], const double gaps[PIPELINE_DIRECTIONS]) {
    const double forward_ps = (double)ps[PIPELINE_FORWARD], backward_ps = (double)ps[PIPELINE_BACKWARD];
    const double sum_ps = forward_ps + backward_ps;
    return sum_ps > 0 ? (forward_ps * gaps[PIPELINE_FORWARD] + backward_ps * gaps[PIPELINE_BACKWARD]) / sum_ps : 0;
}

static void go_again(struct layer_time *layer) {
    layer->before_gaps[PIPELINE_BACKWARD] = gaps_of_both(layer->before_ps, layer->before_gaps);
    layer->experts_gaps[PIPELINE_BACKWARD] = gaps_of_both(layer->experts_ps, layer->experts_gaps);
    layer->before_ps[PIPELINE_BACKWARD] += layer->before_ps[PIPELINE_FORWARD];
    layer->experts_ps[PIPELINE_BACKWARD] += layer->experts_ps[PIPELINE_FORWARD];
    layer->tensor_ps[PIPELINE_BACKWARD] += layer->tensor_ps[PIPELINE_FORWARD];
    layer->context_ps[PIPELINE_BACKWARD] += layer->context_ps[PIPELINE_FORWARD];
}

/* Stretches a time, and a part of it, by what is waited in it. Returns the share of waiting. */
static double stretch(uint64_t *ps, uint64_t *part_ps, uint64_t waits_ps) {
    const double kernels_ps = (double)*ps, all_ps = kernels_ps + (double)waits_ps;
    *ps += waits_ps;
    if (part_ps != NULL && kernels_ps > 0) {
        *part_ps = (uint64_t)((double)*part_ps * (all_ps / kernels_ps) + 0.5);
    }
    return all_ps > 0 ? (double)waits_ps / all_ps : 0;
}

/* Gaps are where kernels are, so as time is; the host is waited for before the exchange. */
static void add_gaps(const struct training_setup *setup, struct layer_time *layer, int direction) {
    const struct experiment_training *training = setup->training;
    const bool backward = direction == PIPELINE_BACKWARD;
    const uint64_t kernels = kernels_of(setup, layer, direction), gaps_ps = kernels * training->kernel_gap_ps;
    const double before_ps = (double)layer->before_ps[direction], experts_ps = (double)layer->experts_ps[direction];
    const uint64_t of_experts_ps =
        experts_ps > 0 ? (uint64_t)((double)gaps_ps * (experts_ps / (before_ps + experts_ps))) : 0;
    const uint64_t sync_ps = backward ? 0 : host_sync_ps(setup, layer);
    const uint64_t least_ps = training->cuda_graphs ? 0 : kernels * training->launch_ps; // the host launches each
    const uint64_t taken_ps = layer->before_ps[direction] + layer->experts_ps[direction] + gaps_ps + sync_ps;
    const uint64_t waits_ps = gaps_ps - of_experts_ps + sync_ps + (least_ps > taken_ps ? least_ps - taken_ps : 0);
    layer->before_gaps[direction] =
        stretch(&layer->before_ps[direction], backward ? &layer->before_weights_ps : NULL, waits_ps);
    layer->experts_gaps[direction] =
        stretch(&layer->experts_ps[direction], backward ? &layer->experts_weights_ps : NULL, of_experts_ps);
}

/* Matrices are cut over tensor-parallel GPUs, tokens too: each has its own tokens × whole layers ÷ 1 of the operations. */
static void time_layer(const struct training_setup *setup, uint32_t sequence_tokens, struct layer_time *layer) {
    const struct experiment_training *training = setup->training;
    const struct model_operations operations =
        model_shape_operations(setup->shape, setup->preset, layer->kind, sequence_tokens);
    const double matrices = operations.projections + operations.dense;
    const struct kernel_bytes bytes = kernel_bytes_of(setup, layer->kind);
    const int cut = (operations.projections > 0) + (operations.dense > 0); // experts are whole: tokens go to them
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        const bool backward = direction == PIPELINE_BACKWARD;
        const double factor = backward ? model_shape_backward(setup->shape) : 1;
        const uint64_t matrices_ps =
            compute_ps(setup, factor * matrices, training->precision, training->matrix_efficiency) +
            compute_ps(setup, factor * operations.logits, training->logits_precision, training->matrix_efficiency);
        layer->before_weights_ps =
            compute_ps(setup, (factor - 1) * matrices, training->precision, training->matrix_efficiency) +
            compute_ps(setup, (factor - 1) * operations.logits, training->logits_precision,
                       training->matrix_efficiency);
        const uint64_t attention_ps =
            compute_ps(setup, (backward ? ATTENTION_BACKWARD_FACTOR : 1) * operations.attention,
                       training->attention_precision, training->attention_efficiency);
        layer->before_ps[direction] = matrices_ps + attention_ps + router_ps(setup, factor * operations.router) +
                                      memory_ps(setup, bytes.before, backward);
        layer->tensor_ps[direction] = parallel_exchange_tensor_ps(&setup->groups, cut, setup->preset->hidden,
                                                                  training->overlap_tensor ? matrices_ps : 0);
        layer->context_ps[direction] =
            parallel_exchange_context_ps(&setup->groups, operations.attention > 0 ? setup->shape : NULL,
                                         training->context_exchange, backward, attention_ps);
        layer->experts_ps[direction] = compute_ps(setup, factor * operations.experts * setup->exchange.expert_load,
                                                  training->expert_precision, training->expert_efficiency) +
                                       memory_ps(setup, bytes.experts * setup->exchange.expert_load, backward);
        layer->experts_weights_ps = compute_ps(setup, (factor - 1) * operations.experts * setup->exchange.expert_load,
                                               training->expert_precision, training->expert_efficiency);
        add_gaps(setup, layer, direction);
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
            if (goes_again(setup, layer)) {
                go_again(layer);
            }
        }
    }
    return layers;
}

uint64_t layer_time_computing_ps(const struct layer_time *layer) {
    return layer->before_ps[0] + layer->before_ps[1] + layer->experts_ps[0] + layer->experts_ps[1];
}

uint64_t layer_time_sharing_ps(const struct layer_time *layer) {
    return layer->tensor_ps[0] + layer->tensor_ps[1] + layer->context_ps[0] + layer->context_ps[1];
}

/* With waits for its GPUs. An exchange that is not there is waited for by nobody. */
static uint64_t exchange_ps(const struct training_setup *setup, enum training_phase phase) {
    const uint64_t alone_ps = setup->exchange.phase_ps[phase];
    return alone_ps > 0 ? alone_ps + setup->training->rank_skew_ps * (1 + setup->training->notify) : 0;
}

uint64_t layer_time_exchanges_ps(const struct training_setup *setup, const struct layer_time *layer) {
    uint64_t sum_ps = 0;
    for (int phase = 0; phase < TRAINING_PHASES && model_shape_has_experts(layer->kind); phase++) {
        const bool forward = phase == TRAINING_DISPATCH || phase == TRAINING_COMBINE;
        sum_ps += exchange_ps(setup, (enum training_phase)phase) * (forward && goes_again(setup, layer) ? 2 : 1);
    }
    return sum_ps;
}

/* ---- passes ---- */

static void add(struct pipeline_pass *pass, enum pipeline_resource resource, uint64_t duration_ps, const char *name) {
    if (duration_ps > 0) {
        pass->segments[pass->n_segments++] =
            (struct pipeline_segment){.duration_ps = duration_ps, .resource = resource, .name = name};
    }
}

static void add_sending(struct pipeline_pass *pass, uint64_t duration_ps, struct pipeline_load load, const char *name) {
    add(pass, PIPELINE_NETWORK, duration_ps, name);
    if (duration_ps > 0) {
        pass->segments[pass->n_segments - 1].load = load;
    }
}

static double share(double bytes, double bytes_per_s, uint64_t time_ps) {
    const double used = bytes_per_s > 0 ? bytes / bytes_per_s / ((double)time_ps / PS_PER_S) : 0;
    return used < 1 ? used : 1;
}

/* Of the busiest GPU's links, over all of its time: while it waits it sends nothing. */
static struct pipeline_load load_of(const struct training_setup *setup, enum training_phase phase, uint64_t time_ps) {
    const struct training_exchange *exchange = &setup->exchange;
    return (struct pipeline_load){share(exchange->nvlink_bytes[phase], setup->groups.nvlink_bytes_per_s, time_ps),
                                  share(exchange->nic_bytes[phase], setup->groups.nic_bytes_per_s, time_ps)};
}

/* GPUs meet before an exchange, and in it. */
static void add_exchange(struct pipeline_pass *pass, const struct training_setup *setup, enum training_phase phase) {
    const uint64_t skew_ps = setup->training->rank_skew_ps, alone_ps = setup->exchange.phase_ps[phase];
    if (alone_ps > 0) {
        add(pass, PIPELINE_NETWORK, setup->training->notify ? skew_ps : 0, "notify");
        add_sending(pass, alone_ps + skew_ps, load_of(setup, phase, alone_ps + skew_ps),
                    layer_time_exchange_names[phase]);
    }
}

static void compute(struct pipeline_pass *pass, uint64_t duration_ps, double gap_share, const char *name) {
    if (duration_ps > 0) {
        add(pass, PIPELINE_COMPUTE, duration_ps, name);
        pass->segments[pass->n_segments - 1].gap_share = gap_share;
    }
}

/* Computing of a backward pass; weights_ps of it is for gradients of weights, which may wait. */
static void compute_backward(struct pipeline_pass *pass, const struct training_setup *setup, uint64_t all_ps,
                             uint64_t weights_ps, double gap_share, const char *name) {
    const uint64_t later_ps = setup->training->defer_weight_gradients ? weights_ps : 0;
    compute(pass, all_ps - later_ps, gap_share, name);
    if (later_ps > 0) {
        compute(pass, later_ps, gap_share, "gradients of weights");
        pass->segments[pass->n_segments - 1].put_off = true;
    }
}

/* What nothing hides is sent at the rate of the links. */
static struct pipeline_load context_load(const struct training_setup *setup) {
    const bool near = parallel_exchange_context_in_domain(&setup->groups);
    return (struct pipeline_load){.nvlink = near ? 1 : 0, .nic = near ? 0 : 1};
}

static void add_forward(struct pipeline_pass *pass, const struct layer_time *layer,
                        const struct training_setup *setup) {
    add_sending(pass, layer->tensor_ps[PIPELINE_FORWARD], (struct pipeline_load){.nvlink = 1},
                "tensor-parallel collectives");
    add_sending(pass, layer->context_ps[PIPELINE_FORWARD], context_load(setup), "keys and values");
    compute(pass, layer->before_ps[PIPELINE_FORWARD], layer->before_gaps[PIPELINE_FORWARD], "attention and dense");
    if (model_shape_has_experts(layer->kind)) {
        add_exchange(pass, setup, TRAINING_DISPATCH);
        compute(pass, layer->experts_ps[PIPELINE_FORWARD], layer->experts_gaps[PIPELINE_FORWARD], "experts");
        add_exchange(pass, setup, TRAINING_COMBINE);
    }
}

static void add_backward(struct pipeline_pass *pass, const struct layer_time *layer,
                         const struct training_setup *setup) {
    if (model_shape_has_experts(layer->kind)) {
        if (goes_again(setup, layer)) {
            add_exchange(pass, setup, TRAINING_DISPATCH);
            add_exchange(pass, setup, TRAINING_COMBINE);
        }
        add_exchange(pass, setup, TRAINING_COMBINE_BACKWARD);
        compute_backward(pass, setup, layer->experts_ps[PIPELINE_BACKWARD], layer->experts_weights_ps,
                         layer->experts_gaps[PIPELINE_BACKWARD], "experts, backward");
        add_exchange(pass, setup, TRAINING_DISPATCH_BACKWARD);
    }
    compute_backward(pass, setup, layer->before_ps[PIPELINE_BACKWARD], layer->before_weights_ps,
                     layer->before_gaps[PIPELINE_BACKWARD], "attention and dense, backward");
    add_sending(pass, layer->context_ps[PIPELINE_BACKWARD], context_load(setup), "keys and values, backward");
    add_sending(pass, layer->tensor_ps[PIPELINE_BACKWARD], (struct pipeline_load){.nvlink = 1},
                "tensor-parallel collectives, backward");
}

/* Memory is used as matrices use it, in their precision and at their share of the peak. */
struct pipeline_sharing layer_time_sharing(const struct training_setup *setup) {
    const struct experiment_training *training = setup->training;
    if (!training->contention) {
        return (struct pipeline_sharing){0};
    }
    const uint32_t left = setup->gpu->sms - setup->exchange_sms;
    const double operations = setup->gpu->tflops[training->precision] * 1e12 * training->matrix_efficiency;
    const double used = contention_memory_rate(operations, gpu_element_bytes(training->precision), left);
    return (struct pipeline_sharing){.sms = setup->gpu->sms,
                                     .exchange_sms = setup->exchange_sms,
                                     .gradient_sms = training->gradient_sms,
                                     .latency = contention_latency(0, used / (setup->gpu->memory_tb_per_s * 1e12))};
}

struct pipeline_pass layer_time_pass(const struct layer_time *layers, uint32_t n, enum pipeline_direction direction,
                                     const struct training_setup *setup) {
    struct pipeline_pass pass = {.segments = memory_allocate(SEGMENTS * (size_t)n, sizeof *pass.segments)};
    for (uint32_t i = 0; i < n; i++) {
        if (direction == PIPELINE_FORWARD) {
            add_forward(&pass, &layers[i], setup);
        } else {
            add_backward(&pass, &layers[n - 1 - i], setup);
        }
    }
    return pass;
}
