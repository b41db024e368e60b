// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_step.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "training/gradients.h"
#include "training/layer_time.h"
#include "training/recommender.h"
#include "training/training_cut.h"
#include "training/training_memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_S 1e12
enum { LOOK_EVERY = 16 };  /* ours: copies tried between two looks at whether the rest can be slower */
#define MOST_PASSES 0x1p26 /* ours: 5 GB of memory */

const char *const training_phase_names[TRAINING_PHASES] = {"dispatch", "combine", "combine_backward",
                                                           "dispatch_backward"};

/* A step being put together. */
struct making {
    const struct training_setup *setup;
    struct layer_time *layers;
    uint32_t n_layers, n_parts;
    struct pipeline_pass (*passes)[PIPELINE_DIRECTIONS];
    struct pipeline_pass *gradients; /* [n_parts] */
    uint64_t *gather_ps;             /* [n_parts] */
};

static void make_passes(struct making *making, const struct pipeline_layout *layout) {
    making->passes = memory_allocate(making->n_parts, sizeof *making->passes);
    for (uint32_t part = 0; part < making->n_parts; part++) {
        const uint32_t first = layout->first[part], n = layout->first[part + 1] - first;
        for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
            making->passes[part][direction] =
                layer_time_pass(&making->layers[first], n, (enum pipeline_direction)direction, making->setup);
        }
    }
}

/* ---- gradients and parameters ---- */

static void make_gradients(struct making *making, const struct pipeline_layout *layout) {
    making->gradients = memory_allocate(making->n_parts, sizeof *making->gradients);
    making->gather_ps = memory_allocate(making->n_parts, sizeof *making->gather_ps);
    for (uint32_t part = 0; part < making->n_parts && !making->setup->free_gradients; part++) {
        const struct model_parameters held =
            training_memory_held(making->setup, layout->first[part], layout->first[part + 1]);
        making->gradients[part] = gradients_pass(making->setup, &held, making->setup->training->gradient_bytes);
        making->gather_ps[part] = gradients_exchange_ps(making->setup, &held, making->setup->training->parameter_bytes);
    }
}

/* Parameters are gathered for the next step: with overlap only those that it needs first, else all of a stage. */
static uint64_t exposed_gather_ps(const struct making *making, uint32_t stages) {
    uint64_t most_ps = 0;
    for (uint32_t stage = 0; stage < stages; stage++) {
        uint64_t sum_ps = 0;
        for (uint32_t part = stage; part < making->n_parts; part += stages) {
            sum_ps += part < stages || !making->setup->training->overlap_parameters ? making->gather_ps[part] : 0;
        }
        most_ps = number_larger(most_ps, sum_ps);
    }
    return most_ps;
}

/* Memory is what it waits for; then all GPUs agree on the norm of the gradients. */
static uint64_t optimiser_ps(const struct making *making, const struct pipeline_layout *layout, uint32_t stages) {
    const struct training_setup *setup = making->setup;
    const double rate = setup->gpu->memory_tb_per_s * 1e12 * setup->training->memory_efficiency;
    double most = 0;
    for (uint32_t stage = 0; stage < stages; stage++) {
        double sum = 0;
        for (uint32_t part = stage; part < making->n_parts; part += stages) {
            const struct model_parameters held =
                training_memory_held(setup, layout->first[part], layout->first[part + 1]);
            sum += training_memory_optimiser_bytes(setup, &held);
        }
        most = sum > most ? sum : most;
    }
    return layer_time_ps(most / rate) + gradients_norm_ps(setup);
}

/* ---- the step ---- */

/* Of all GPUs, forward and backward; a micro-batch's tokens are on all tensor-parallel GPUs. */
static double operations_of(const struct making *making) {
    double operations = 0;
    for (uint32_t i = 0; i < making->n_layers; i++) {
        const struct model_operations one = model_shape_operations(
            making->setup->shape, making->setup->preset, making->layers[i].kind, layer_time_sequence(making->setup));
        operations += one.projections + one.attention + one.dense + one.router + one.experts + one.logits;
    }
    return (1 + model_shape_backward(making->setup->shape)) * operations * layer_time_sequence(making->setup) *
           making->setup->training->global_batch;
}

static double imbalance_of(const struct training_result *result) {
    double most = 0, sum = 0;
    for (uint32_t stage = 0; stage < result->n_stages; stage++) {
        const double busy = (double)result->stages[stage].compute_ps + (double)result->stages[stage].exposed_ps;
        most = busy > most ? busy : most;
        sum += busy;
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
    const struct training_groups *groups = &setup->groups;
    const double bytes = (double)groups->tokens * setup->preset->hidden * LAYER_TIME_STATE_BYTES;
    return setup->send_latency_ps +
           layer_time_ps(bytes / (groups->pipeline_in_domain ? groups->nvlink_bytes_per_s : groups->nic_bytes_per_s));
}

static double evaluation_micro_batches(const struct training_setup *setup) {
    return (double)setup->training->evaluation_batch / ((double)setup->groups.data * setup->training->micro_batch);
}

/* Layers one after the other, as often as they are passed: no step or evaluation takes longer, but for its gradients. */
static bool check_length(const struct making *making, struct error *error) {
    const struct training_setup *setup = making->setup;
    const double times = setup->groups.micro_batches + evaluation_micro_batches(setup) + 1;
    const struct pipeline_sharing sharing = layer_time_sharing(setup);
    double once_ps = 2.0 * (double)send_ps(setup) * making->n_parts;
    for (uint32_t i = 0; i < making->n_layers; i++) {
        const struct layer_time *layer = &making->layers[i];
        once_ps += (double)layer_time_computing_ps(layer) + (double)layer_time_sharing_ps(layer) +
                   (double)layer_time_exchanges_ps(setup, layer);
    }
    once_ps *= pipeline_sharing_slowest(&sharing);
    if (once_ps * times >= LAYER_TIME_LONGEST_PS || times * making->n_parts > MOST_PASSES) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "a step is too long: %.4g micro-batches through %" PRIu32 " virtual stages, %.4g s each", times,
                  making->n_parts, once_ps / PS_PER_S);
        error_hint(error, "all of them one after the other must take less than %.0e s, and be less than %.2g passes",
                   LAYER_TIME_LONGEST_PS / PS_PER_S, MOST_PASSES);
        return false;
    }
    return true;
}

/* Gradients and parameters of all parts come to the rest of a step. */
static bool check_gradients(const struct making *making, struct error *error) {
    const struct pipeline_sharing sharing = layer_time_sharing(making->setup);
    double sum_ps = 0;
    for (uint32_t part = 0; part < making->n_parts; part++) {
        for (uint32_t i = 0; i < making->gradients[part].n_segments; i++) {
            sum_ps += (double)making->gradients[part].segments[i].duration_ps;
        }
        sum_ps += (double)making->gather_ps[part];
    }
    sum_ps *= pipeline_sharing_slowest(&sharing);
    return sum_ps < LAYER_TIME_LONGEST_PS ||
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
        .sharing = layer_time_sharing(making->setup),
        .send_ps = send_ps(making->setup),
        .gradients = making->gradients,
        .overlap_gradients = training->overlap_gradients,
        .observe = observe,
        .context = context,
    };
    result->n_stages = groups->pipeline;
    result->stages = memory_allocate(groups->pipeline, sizeof *result->stages);
    result->gather_ps = exposed_gather_ps(making, groups->pipeline);
    result->optimiser_ps = optimiser_ps(making, &result->layout, groups->pipeline);
    result->step_ps =
        pipeline_run(&pipeline, result->stages) + result->optimiser_ps + result->gather_ps + training->step_overhead_ps;
    result->imbalance = imbalance_of(result);
    result->evaluation_ps = evaluate(making, &pipeline);
    result->operations = operations_of(making);
    result->memory = training_memory_most(making->setup, &result->layout);
}

static void finish(struct making *making) {
    for (uint32_t part = 0; making->passes && part < making->n_parts; part++) {
        free(making->passes[part][PIPELINE_FORWARD].segments);
        free(making->passes[part][PIPELINE_BACKWARD].segments);
        free(making->gradients[part].segments);
    }
    free(making->passes);
    free(making->gradients);
    free(making->gather_ps);
    free(making->layers);
}

/* GPUs that are slow slow down what their stage computes; the layers stay where they are. */
static void slow_down(struct making *making, const struct pipeline_layout *layout,
                      const struct straggler_slowness *slowness) {
    for (uint32_t part = 0; slowness != NULL && part < making->n_parts; part++) {
        const struct straggler_slowness *of_stage = &slowness[part % making->setup->groups.pipeline];
        for (uint32_t i = layout->first[part]; i < layout->first[part + 1]; i++) {
            making->layers[i].before_weights_ps =
                (uint64_t)((double)making->layers[i].before_weights_ps * of_stage->dense);
            making->layers[i].experts_weights_ps =
                (uint64_t)((double)making->layers[i].experts_weights_ps * of_stage->experts);
            for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
                struct layer_time *layer = &making->layers[i];
                layer->before_ps[direction] = (uint64_t)((double)layer->before_ps[direction] * of_stage->dense + 0.5);
                layer->experts_ps[direction] =
                    (uint64_t)((double)layer->experts_ps[direction] * of_stage->experts + 0.5);
            }
        }
    }
}

/* Layers are cut once for all copies, as if no GPU was slow: that takes longer than a step. */
static bool cut(struct making *making, const struct pipeline_layout *known, struct pipeline_layout *layout,
                struct error *error) {
    if (known == NULL) {
        return training_cut(making->setup, making->layers, making->n_layers, layout, error);
    }
    *layout = (struct pipeline_layout){.n_parts = known->n_parts,
                                       .first = memory_allocate(known->n_parts + 1, sizeof *layout->first)};
    memcpy(layout->first, known->first, (known->n_parts + 1) * sizeof *layout->first);
    return true;
}

static bool step_of_copy(const struct training_setup *setup, const struct straggler_slowness *slowness,
                         const struct pipeline_layout *known, void (*observe)(void *, const struct pipeline_span *),
                         void *context, struct training_result *result, struct error *error) {
    struct making making = {.setup = setup, .n_parts = training_cut_parts(setup)};
    *result = (struct training_result){0};
    making.layers = layer_time_create(setup, &making.n_layers);
    bool done = check_length(&making, error) && cut(&making, known, &result->layout, error);
    if (done) {
        slow_down(&making, &result->layout, slowness);
        done = check_length(&making, error);
    }
    if (done) {
        make_passes(&making, &result->layout);
        make_gradients(&making, &result->layout);
        done = check_gradients(&making, error);
    }
    if (done) {
        run(&making, observe, context, result);
    } else {
        training_result_fini(result);
    }
    finish(&making);
    return done;
}

/* ---- the slowest of many copies ---- */

/* A copy, and the most that any of its stages is slowed. */
struct ranked {
    double most;
    uint32_t copy;
};

/* Looks for the copy whose step is longest. */
struct search {
    const struct training_setup *setup;
    struct pipeline_layout *layout; /* of the first copy, and then of all */
    uint64_t longest_ps;
    uint32_t slowest;
};

static int compare_ranked(const void *one, const void *other) {
    const struct ranked *a = one, *b = other;
    return a->most != b->most ? (a->most < b->most ? 1 : -1) : a->copy < b->copy ? -1 : a->copy > b->copy;
}

/* The slowest first; to be freed. */
static struct ranked *rank_copies(const struct straggler_copies *copies) {
    struct ranked *ranked = memory_allocate(copies->n, sizeof *ranked);
    for (uint32_t copy = 0; copy < copies->n; copy++) {
        ranked[copy].copy = copy;
        for (uint32_t stage = 0; stage < copies->stages; stage++) {
            const struct straggler_slowness *one = &copies->slowness[(size_t)copy * copies->stages + stage];
            ranked[copy].most = fmax(ranked[copy].most, fmax(one->dense, one->experts));
        }
    }
    qsort(ranked, copies->n, sizeof *ranked, compare_ranked);
    return ranked;
}

/* Passes that take longer make no step shorter (two that overlap can, by list scheduling's anomalies, a little: neglected, as where copies are dropped): copies
 * whose stages are slowed by `most` at most end before one in which all are. */
static bool rest_is_faster(const struct search *search, double most) {
    struct straggler_slowness *even = memory_allocate(search->setup->copies->stages, sizeof *even);
    struct training_result result;
    struct error error;
    for (uint32_t stage = 0; stage < search->setup->copies->stages; stage++) {
        even[stage] = (struct straggler_slowness){most, most};
    }
    const bool known = step_of_copy(search->setup, even, search->layout, NULL, NULL, &result, &error);
    const bool faster = known && result.step_ps < search->longest_ps;
    if (known) {
        training_result_fini(&result);
    }
    free(even);
    return faster;
}

static bool try_copy(struct search *search, uint32_t copy, struct error *error) {
    const struct straggler_copies *copies = search->setup->copies;
    const struct pipeline_layout *known = search->layout->first != NULL ? search->layout : search->setup->layout;
    struct training_result result;
    if (!step_of_copy(search->setup, copies->slowness + (size_t)copy * copies->stages, known, NULL, NULL, &result,
                      error)) {
        return false;
    }
    if (result.step_ps > search->longest_ps || (result.step_ps == search->longest_ps && copy < search->slowest)) {
        search->slowest = copy;
        search->longest_ps = result.step_ps;
    }
    if (search->layout->first == NULL) {
        *search->layout = result.layout;
        result.layout = (struct pipeline_layout){0};
    }
    training_result_fini(&result);
    return true;
}

/* The layout is that of all copies. */
static bool find_slowest(const struct training_setup *setup, struct pipeline_layout *layout, uint32_t *slowest,
                         struct error *error) {
    const uint32_t n = setup->copies->n;
    struct search search = {.setup = setup, .layout = layout};
    struct ranked *ranked = rank_copies(setup->copies);
    bool done = true;
    for (uint32_t i = 0; i < n && done; i++) {
        const bool look = i % LOOK_EVERY == 0 || (i & (i - 1)) == 0;
        if (i > 0 && look && rest_is_faster(&search, ranked[i].most)) {
            break;
        }
        done = try_copy(&search, ranked[i].copy, error);
        if (done && setup->stop != NULL && setup->stop()) {
            done = error_set(error, EXIT_CODE_INTERRUPTED, ERROR_ID_RUN_LIMIT,
                             "interrupted: the slowest of %" PRIu32 " copies of the pipeline is not known yet", n);
        }
    }
    free(ranked);
    *slowest = search.slowest;
    return done;
}

bool training_step(const struct training_setup *setup, void (*observe)(void *, const struct pipeline_span *),
                   void *context, struct training_result *result, struct error *error) {
    const struct straggler_copies *copies = setup->copies;
    struct pipeline_layout layout = {0};
    uint32_t slowest = 0;
    if (setup->recommender != NULL) {
        return recommender_step(setup, observe, context, result, error);
    }
    bool done = copies == NULL || copies->n < 2 || find_slowest(setup, &layout, &slowest, error);
    if (done) {
        const struct straggler_slowness *slowness =
            copies == NULL || copies->n == 0 ? NULL : copies->slowness + (size_t)slowest * copies->stages;
        done = step_of_copy(setup, slowness, layout.first != NULL ? &layout : setup->layout, observe, context, result,
                            error);
        result->copy = slowest;
    }
    pipeline_layout_fini(&layout);
    return done;
}

void training_result_fini(struct training_result *result) {
    pipeline_layout_fini(&result->layout);
    free(result->stages);
    *result = (struct training_result){0};
}
