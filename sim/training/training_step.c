// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_step.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_S 1e12
#define LONGEST_PS 1e18    /* ours: a step of eleven days; far below what 64 bits hold */
#define MOST_PASSES 0x1p26 /* ours: 5 GB of memory */

const char *const training_phase_names[TRAINING_PHASES] = {"dispatch", "combine", "combine_backward",
                                                           "dispatch_backward"};

enum {
    BACKWARD_FACTOR = 2,   /* gradients of inputs and of weights */
    SEGMENTS = 5,          /* of a layer, at most */
    WEIGHT_BYTES = 2,      /* BF16 */
    OPTIMISER_BYTES = 12,  /* FP32 master copy and Adam's two moments (arXiv:1910.02054) */
    STATE_BYTES = 2,       /* of an element between stages, BF16 */
    TENSOR_COLLECTIVES = 2 /* gather and scatter around what is cut: attention, and dense parts (arXiv:2205.05198) */
};
#define ATTENTION_BACKWARD_FACTOR 2.5

/* A layer of the model on a GPU. */
struct layer {
    enum model_layer kind;
    uint64_t before_ps[PIPELINE_DIRECTIONS];  /* all but experts */
    uint64_t experts_ps[PIPELINE_DIRECTIONS]; /* on the busiest GPU of the group */
    uint64_t tensor_ps;                       /* collectives of tensor parallelism, in either direction */
};

/* A step being put together. */
struct making {
    const struct training_setup *setup;
    struct layer *layers;
    uint32_t n_layers, n_parts;
    struct pipeline_pass (*passes)[PIPELINE_DIRECTIONS];
    uint64_t *gradient_ps, *gather_ps; /* [n_parts] */
};

/* What is too long for a step stays at that limit, which check_length refuses. */
static uint64_t whole_ps(double seconds) {
    const double ps = seconds * PS_PER_S + 0.5;
    return ps < LONGEST_PS ? (uint64_t)ps : (uint64_t)LONGEST_PS;
}

/* ---- layers ---- */

static uint64_t compute_ps(const struct training_setup *setup, double operations, enum experiment_precision precision,
                           double efficiency) {
    return whole_ps(operations * setup->groups.tokens / (setup->gpu->tflops[precision] * 1e12 * efficiency));
}

/* A host that launches every kernel is the limit of small layers. */
static uint64_t launch_ps(const struct training_setup *setup, enum pipeline_direction direction) {
    const struct experiment_training *training = setup->training;
    const uint64_t kernels =
        (uint64_t)training->kernels_per_layer * (direction == PIPELINE_BACKWARD ? BACKWARD_FACTOR : 1);
    return training->cuda_graphs ? 0 : kernels * training->launch_ps;
}

/* Matrices are cut over tensor-parallel GPUs, tokens too: each has its own tokens × whole layers ÷ 1 of the operations. */
static void time_layer(const struct training_setup *setup, uint32_t sequence_tokens, struct layer *layer) {
    const struct experiment_training *training = setup->training;
    const struct model_operations operations =
        model_shape_operations(setup->shape, setup->preset, layer->kind, sequence_tokens);
    const double matrices = operations.projections + operations.dense + operations.router + operations.logits;
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        const bool backward = direction == PIPELINE_BACKWARD;
        const double factor = backward ? BACKWARD_FACTOR : 1;
        layer->before_ps[direction] =
            compute_ps(setup, factor * matrices, training->precision, training->matrix_efficiency) +
            compute_ps(setup, (backward ? ATTENTION_BACKWARD_FACTOR : 1) * operations.attention,
                       training->attention_precision, training->attention_efficiency);
        layer->experts_ps[direction] = compute_ps(setup, factor * operations.experts * setup->exchange.expert_load,
                                                  training->expert_precision, training->expert_efficiency);
        const uint64_t least_ps =
            layer->kind == MODEL_LAYER_EMBEDDING ? 0 : launch_ps(setup, (enum pipeline_direction)direction);
        const uint64_t taken_ps = layer->before_ps[direction] + layer->experts_ps[direction];
        layer->before_ps[direction] += least_ps > taken_ps ? least_ps - taken_ps : 0;
    }
    const double share = 1 - 1.0 / setup->groups.tensor,
                 whole_tokens = (double)setup->groups.tokens * setup->groups.tensor;
    const int cut = (operations.projections > 0) + (operations.dense > 0); // experts are whole: tokens go to them
    layer->tensor_ps = setup->groups.tensor > 1
                           ? whole_ps(TENSOR_COLLECTIVES * cut * share * whole_tokens * setup->preset->hidden *
                                      STATE_BYTES / setup->groups.nvlink_bytes_per_s)
                           : 0;
}

static uint32_t sequence_of(const struct training_setup *setup) {
    return setup->training->sequence_tokens ? setup->training->sequence_tokens : setup->preset->sequence_tokens;
}

static void make_layers(struct making *making) {
    const struct training_setup *setup = making->setup;
    uint32_t n = 0;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        n += model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
    }
    making->layers = memory_allocate(n, sizeof *making->layers);
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        const uint32_t count = model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
        for (uint32_t i = 0; i < count; i++) {
            struct layer *layer = &making->layers[making->n_layers++];
            layer->kind = (enum model_layer)kind;
            time_layer(setup, sequence_of(setup), layer);
        }
    }
}

static bool has_experts(const struct layer *layer) {
    return layer->kind == MODEL_LAYER_MOE || layer->kind == MODEL_LAYER_MTP;
}

static uint64_t computing_ps(const struct layer *layer) {
    return layer->before_ps[0] + layer->before_ps[1] + layer->experts_ps[0] + layer->experts_ps[1];
}

static bool cut(struct making *making, struct pipeline_layout *layout, struct error *error) {
    const char *text = making->setup->training->pipeline_layout;
    if (making->n_parts > making->n_layers) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%" PRIu32 " layers, embedding and logits counted, cannot fill %" PRIu32 " virtual stages",
                         making->n_layers, making->n_parts);
    }
    if (strcmp(text, "auto") != 0) {
        return pipeline_layout_read(layout, text, making->n_layers, making->n_parts, error);
    }
    uint64_t *costs = memory_allocate(making->n_layers, sizeof *costs);
    for (uint32_t i = 0; i < making->n_layers; i++) {
        costs[i] = computing_ps(&making->layers[i]) + 2 * making->layers[i].tensor_ps;
    }
    pipeline_layout_balance(layout, costs, making->n_layers, making->n_parts);
    free(costs);
    return true;
}

/* ---- passes ---- */

static void add(struct pipeline_pass *pass, enum pipeline_resource resource, uint64_t duration_ps, const char *name) {
    if (duration_ps > 0) {
        pass->segments[pass->n_segments++] =
            (struct pipeline_segment){.duration_ps = duration_ps, .resource = resource, .name = name};
    }
}

static void add_forward(struct pipeline_pass *pass, const struct layer *layer,
                        const struct training_exchange *exchange) {
    add(pass, PIPELINE_NETWORK, layer->tensor_ps, "tensor-parallel collectives");
    add(pass, PIPELINE_COMPUTE, layer->before_ps[PIPELINE_FORWARD], "attention and dense");
    if (has_experts(layer)) {
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_DISPATCH], "dispatch");
        add(pass, PIPELINE_COMPUTE, layer->experts_ps[PIPELINE_FORWARD], "experts");
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_COMBINE], "combine");
    }
}

static void add_backward(struct pipeline_pass *pass, const struct layer *layer,
                         const struct training_exchange *exchange) {
    if (has_experts(layer)) {
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_COMBINE_BACKWARD], "combine, backward");
        add(pass, PIPELINE_COMPUTE, layer->experts_ps[PIPELINE_BACKWARD], "experts, backward");
        add(pass, PIPELINE_NETWORK, exchange->phase_ps[TRAINING_DISPATCH_BACKWARD], "dispatch, backward");
    }
    add(pass, PIPELINE_COMPUTE, layer->before_ps[PIPELINE_BACKWARD], "attention and dense, backward");
    add(pass, PIPELINE_NETWORK, layer->tensor_ps, "tensor-parallel collectives, backward");
}

static void make_passes(struct making *making, const struct pipeline_layout *layout) {
    making->passes = memory_allocate(making->n_parts, sizeof *making->passes);
    for (uint32_t part = 0; part < making->n_parts; part++) {
        const uint32_t first = layout->first[part], end = layout->first[part + 1];
        for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
            struct pipeline_pass *pass = &making->passes[part][direction];
            pass->segments = memory_allocate(SEGMENTS * (size_t)(end - first), sizeof *pass->segments);
            for (uint32_t i = first; i < end; i++) {
                if (direction == PIPELINE_FORWARD) {
                    add_forward(pass, &making->layers[i], &making->setup->exchange);
                } else {
                    add_backward(pass, &making->layers[first + (end - 1 - i)], &making->setup->exchange);
                }
            }
        }
    }
}

/* ---- gradients and parameters ---- */

/* A ring over n GPUs, some of them in one NVLink domain: as many rings as those are, so that all their NICs carry a share. */
static double ring_seconds(const struct training_groups *groups, double bytes, uint32_t n, uint32_t in_domain) {
    const double passed = n > 1 ? bytes * (n - 1) / n : 0;
    const double nvlink = in_domain > 1 ? passed / groups->nvlink_bytes_per_s : 0;
    const double nic = n > in_domain ? passed / in_domain / groups->nic_bytes_per_s : 0;
    return nvlink > nic ? nvlink : nic;
}

static uint32_t in_domain(const struct training_groups *groups, uint32_t n, uint32_t stride) {
    const uint32_t fit = groups->gpus_per_domain / stride;
    return fit == 0 ? 1 : n < fit ? n : fit;
}

static struct model_parameters parameters_of(const struct making *making, uint32_t first, uint32_t end) {
    struct model_parameters sum = {0};
    for (uint32_t i = first; i < end; i++) {
        const struct model_parameters one =
            model_shape_parameters(making->setup->shape, making->setup->preset, making->layers[i].kind);
        sum.shared += one.shared / making->setup->groups.tensor;
        sum.experts += one.experts / making->setup->groups.expert;
    }
    return sum;
}

/* To reduce or gather elements of so many bytes of what a GPU holds of a part. */
static uint64_t exchange_ps(const struct training_groups *groups, const struct model_parameters *parameters,
                            uint32_t bytes) {
    const double shared =
        ring_seconds(groups, parameters->shared * bytes, groups->data, in_domain(groups, groups->data, groups->tensor));
    const double experts = ring_seconds(groups, parameters->experts * bytes, groups->expert_data,
                                        in_domain(groups, groups->expert_data, groups->expert));
    return whole_ps(shared + experts);
}

static void make_gradients(struct making *making, const struct pipeline_layout *layout) {
    const struct training_groups *groups = &making->setup->groups;
    making->gradient_ps = memory_allocate(making->n_parts, sizeof *making->gradient_ps);
    making->gather_ps = memory_allocate(making->n_parts, sizeof *making->gather_ps);
    for (uint32_t part = 0; part < making->n_parts; part++) {
        const struct model_parameters held = parameters_of(making, layout->first[part], layout->first[part + 1]);
        making->gradient_ps[part] = exchange_ps(groups, &held, making->setup->training->gradient_bytes);
        making->gather_ps[part] = exchange_ps(groups, &held, making->setup->training->parameter_bytes);
    }
}

/* Parameters are gathered for the next step: with overlap only those that it needs first, else all of a stage. */
static uint64_t exposed_gather_ps(const struct making *making, uint32_t stages) {
    uint64_t most_ps = 0;
    for (uint32_t stage = 0; stage < stages; stage++) {
        uint64_t sum_ps = 0;
        for (uint32_t part = stage; part < making->n_parts; part += stages) {
            sum_ps += part < stages || !making->setup->training->overlap_gradients ? making->gather_ps[part] : 0;
        }
        most_ps = number_larger(most_ps, sum_ps);
    }
    return most_ps;
}

static double state_bytes(const struct making *making, const struct pipeline_layout *layout, uint32_t stages) {
    const struct training_groups *groups = &making->setup->groups;
    const double held = WEIGHT_BYTES + making->setup->training->gradient_bytes;
    double most = 0;
    for (uint32_t stage = 0; stage < stages; stage++) {
        double sum = 0;
        for (uint32_t part = stage; part < making->n_parts; part += stages) {
            const struct model_parameters own = parameters_of(making, layout->first[part], layout->first[part + 1]);
            sum += own.shared * (held + (double)OPTIMISER_BYTES / groups->data) +
                   own.experts * (held + (double)OPTIMISER_BYTES / groups->expert_data);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* ---- the step ---- */

/* Of all GPUs, forward and backward; a micro-batch's tokens are on all tensor-parallel GPUs. */
static double operations_of(const struct making *making) {
    double operations = 0;
    for (uint32_t i = 0; i < making->n_layers; i++) {
        const struct model_operations one = model_shape_operations(making->setup->shape, making->setup->preset,
                                                                   making->layers[i].kind, sequence_of(making->setup));
        operations += one.projections + one.attention + one.dense + one.router + one.experts + one.logits;
    }
    return (1 + BACKWARD_FACTOR) * operations * sequence_of(making->setup) * making->setup->training->global_batch;
}

static double imbalance_of(const struct training_result *result) {
    double most = 0, sum = 0;
    for (uint32_t stage = 0; stage < result->n_stages; stage++) {
        const double computing = (double)result->stages[stage].compute_ps;
        most = computing > most ? computing : most;
        sum += computing;
    }
    return sum > 0 ? most * result->n_stages / sum : 1;
}

/* Copies share an evaluation's sequences; where there are more copies than sequences, one passes through the pipeline all the same. */
static uint64_t evaluate(const struct making *making, const struct pipeline *training) {
    const uint64_t batch = making->setup->training->evaluation_batch;
    const uint64_t at_once = (uint64_t)making->setup->groups.data * making->setup->training->micro_batch;
    struct pipeline pipeline = *training;
    if (batch == 0) {
        return 0;
    }
    struct pipeline_stage_time *times = memory_allocate(pipeline.stages, sizeof *times);
    pipeline.forward_only = true;
    pipeline.observe = NULL;
    pipeline.micro_batches = (uint32_t)number_divide_up(batch, at_once);
    const uint64_t end_ps = pipeline_run(&pipeline, times);
    free(times);
    return end_ps;
}

/* Messages from a stage to the next. */
static uint64_t send_ps(const struct training_setup *setup) {
    const double bytes = (double)setup->groups.tokens * setup->preset->hidden * STATE_BYTES;
    return setup->send_latency_ps + whole_ps(bytes / setup->groups.nic_bytes_per_s);
}

static double evaluation_micro_batches(const struct training_setup *setup) {
    return (double)setup->training->evaluation_batch / ((double)setup->groups.data * setup->training->micro_batch);
}

/* Layers one after the other, as often as they are passed: no step or evaluation takes longer, but for its gradients. */
static bool check_length(const struct making *making, struct error *error) {
    const struct training_setup *setup = making->setup;
    const double times = setup->groups.micro_batches + evaluation_micro_batches(setup) + 1;
    double once_ps = 2.0 * (double)send_ps(setup) * making->n_parts;
    for (uint32_t i = 0; i < making->n_layers; i++) {
        once_ps += (double)computing_ps(&making->layers[i]) + 2.0 * (double)making->layers[i].tensor_ps;
        for (int phase = 0; phase < TRAINING_PHASES; phase++) {
            once_ps += (double)setup->exchange.phase_ps[phase];
        }
    }
    if (once_ps * times >= LONGEST_PS || times * making->n_parts > MOST_PASSES) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "a step is too long: %.4g micro-batches through %" PRIu32 " virtual stages, %.4g s each", times,
                  making->n_parts, once_ps / PS_PER_S);
        error_hint(error, "all of them one after the other must take less than %.0e s, and be less than %.2g passes",
                   LONGEST_PS / PS_PER_S, MOST_PASSES);
        return false;
    }
    return true;
}

/* Gradients and parameters of all parts come to the rest of a step. */
static bool check_gradients(const struct making *making, struct error *error) {
    double sum_ps = 0;
    for (uint32_t part = 0; part < making->n_parts; part++) {
        sum_ps += (double)making->gradient_ps[part] + (double)making->gather_ps[part];
    }
    return sum_ps < LONGEST_PS ||
           error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                     "a step is too long: its gradients and parameters take %.4g s or more", sum_ps / PS_PER_S);
}

static void run(struct making *making, void (*observe)(void *, const struct pipeline_span *), void *context,
                struct training_result *result) {
    const struct experiment_training *training = making->setup->training;
    const struct training_groups *groups = &making->setup->groups;
    const struct pipeline pipeline = {
        .stages = groups->pipeline,
        .parts_per_stage = making->n_parts / groups->pipeline,
        .micro_batches = groups->micro_batches,
        .overlapped = training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP,
        .passes = (const struct pipeline_pass(*)[PIPELINE_DIRECTIONS])making->passes,
        .send_ps = send_ps(making->setup),
        .gradient_ps = making->gradient_ps,
        .overlap_gradients = training->overlap_gradients,
        .observe = observe,
        .context = context,
    };
    result->n_stages = groups->pipeline;
    result->stages = memory_allocate(groups->pipeline, sizeof *result->stages);
    result->gather_ps = exposed_gather_ps(making, groups->pipeline);
    result->step_ps = pipeline_run(&pipeline, result->stages) + result->gather_ps + training->step_overhead_ps;
    result->imbalance = imbalance_of(result);
    result->evaluation_ps = evaluate(making, &pipeline);
    result->operations = operations_of(making);
    result->state_bytes = state_bytes(making, &result->layout, groups->pipeline);
}

static void finish(struct making *making) {
    for (uint32_t part = 0; making->passes && part < making->n_parts; part++) {
        free(making->passes[part][PIPELINE_FORWARD].segments);
        free(making->passes[part][PIPELINE_BACKWARD].segments);
    }
    free(making->passes);
    free(making->gradient_ps);
    free(making->gather_ps);
    free(making->layers);
}

bool training_step(const struct training_setup *setup, void (*observe)(void *, const struct pipeline_span *),
                   void *context, struct training_result *result, struct error *error) {
    const uint32_t parts = setup->training->schedule == EXPERIMENT_SCHEDULE_1F1B ? 1 : setup->training->virtual_stages;
    struct making making = {.setup = setup, .n_parts = setup->groups.pipeline * parts};
    *result = (struct training_result){0};
    make_layers(&making);
    bool done = check_length(&making, error) && cut(&making, &result->layout, error);
    if (done) {
        make_passes(&making, &result->layout);
        make_gradients(&making, &result->layout);
        done = check_gradients(&making, error);
    }
    if (done) {
        run(&making, observe, context, result);
    }
    finish(&making);
    return done;
}

void training_result_fini(struct training_result *result) {
    pipeline_layout_fini(&result->layout);
    free(result->stages);
    *result = (struct training_result){0};
}
