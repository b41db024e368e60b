// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/recommender.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "training/gradients.h"
#include "training/layer_time.h"

#include <math.h>

#define VECTOR_BYTES 2 /* of an element: FP16 with use_mixed_precision */
#define ROW_BYTES                                                                                                      \
    4 /* of an element of a table, of its gradient and of its sum of squares: FP32 (sharding/__init__.py: 8 B for both) */
#define KEY_BYTES 4    /* of a row's number: mlcommons/training_results_v5.0, NVIDIA dlrm_dcnv2: columns of 4 B */
#define WEIGHT_BYTES 2 /* of an element of a matrix, FP16 */
#define PS_PER_S 1e12

/* What takes how long, on the GPU that takes longest. */
struct parts {
    uint64_t copied_ps[PIPELINE_DIRECTIONS];   /* rows of tables that every GPU has */
    uint64_t look_up_ps, add_up_ps, update_ps; /* of rows, of pieces' vectors, of rows */
    uint64_t bottom_ps[PIPELINE_DIRECTIONS],
        top_ps[PIPELINE_DIRECTIONS];     /* layers; with the top ones those that cross */
    uint64_t forward_ps, backward_ps;    /* exchanges */
    uint64_t gradients_ps, optimiser_ps; /* of matrices */
};

/* A step being timed. */
struct timeline {
    void (*observe)(void *, const struct pipeline_span *);
    void *context;
    uint64_t free_ps; /* from when on nothing is computed */
    struct pipeline_stage_time time;
};

uint64_t recommender_samples(const struct training_setup *setup) {
    return (uint64_t)setup->groups.micro_batches * setup->training->micro_batch;
}

struct table_plan recommender_plan(const struct training_setup *setup) {
    return table_plan_create(setup->recommender, setup->groups.gpus, setup->training->copied_tables_bytes);
}

static double vector_bytes(const struct training_setup *setup) {
    return (double)setup->recommender->width * VECTOR_BYTES;
}

uint64_t recommender_message_bytes(const struct training_setup *setup, const struct table_plan *plan) {
    return (uint64_t)table_plan_most_pieces(plan) * setup->recommender->width * VECTOR_BYTES *
           recommender_samples(setup);
}

/* ---- what takes how long ---- */

static uint64_t memory_ps(const struct training_setup *setup, double bytes) {
    return layer_time_ps(bytes / (setup->gpu->memory_tb_per_s * 1e12 * setup->training->memory_efficiency));
}

/* Rows and their numbers are read, a vector of each piece and sample is written. */
static double look_up_bytes(const struct training_setup *setup, const struct table_plan *plan, uint32_t gpu) {
    const double row = (double)setup->recommender->width * ROW_BYTES;
    return setup->training->global_batch *
           (table_plan_looked_up(plan, gpu) * (row + KEY_BYTES) + table_plan_pieces(plan, gpu) * vector_bytes(setup));
}

/* A gradient is read for each row that was looked up and added to the row's; that, the row and its sum of squares are read, the latter two written. */
static double update_bytes(const struct training_setup *setup, const struct table_plan *plan, uint32_t gpu) {
    const double samples = setup->training->global_batch, row = (double)setup->recommender->width * ROW_BYTES;
    return samples * table_plan_looked_up(plan, gpu) * (vector_bytes(setup) + KEY_BYTES) +
           table_plan_distinct(plan, gpu, samples) * (2 + 2 * 2) * row;
}

/* Whose vectors come from other GPUs. */
static double spread_tables(const struct table_plan *plan) {
    return (double)plan->shape->n_tables - table_plan_copied(plan).tables;
}

static void time_rows(const struct training_setup *setup, const struct table_plan *plan, struct parts *parts) {
    double look_up = 0, update = 0;
    for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
        look_up = fmax(look_up, look_up_bytes(setup, plan, gpu));
        update = fmax(update, update_bytes(setup, plan, gpu));
    }
    parts->look_up_ps = memory_ps(setup, look_up);
    parts->update_ps = memory_ps(setup, update);
    parts->add_up_ps = memory_ps(setup, (double)recommender_samples(setup) * vector_bytes(setup) *
                                            ((double)plan->first[plan->gpus] + spread_tables(plan)));
}

/* Every GPU looks up what its own samples need; backward the gradients of all rows are written, for they are reduced. */
static void time_copies(const struct training_setup *setup, const struct table_plan *plan, struct parts *parts) {
    const struct table_plan_copies copies = table_plan_copied(plan);
    const double samples = (double)recommender_samples(setup), row = (double)setup->recommender->width * ROW_BYTES;
    parts->copied_ps[PIPELINE_FORWARD] =
        memory_ps(setup, samples * (copies.looked_up * (row + KEY_BYTES) + copies.tables * vector_bytes(setup)));
    parts->copied_ps[PIPELINE_BACKWARD] =
        memory_ps(setup, samples * copies.looked_up * (vector_bytes(setup) + KEY_BYTES) + copies.rows * row);
}

/* Matrices, or launches of their kernels if the host has to launch each. */
static uint64_t layers_ps(const struct training_setup *setup, double operations, uint32_t layers, bool backward) {
    const struct experiment_training *training = setup->training;
    const uint32_t factor = backward ? LAYER_TIME_BACKWARD_FACTOR : 1;
    const double rate = setup->gpu->tflops[training->precision] * 1e12 * training->matrix_efficiency;
    const double launches_s =
        training->cuda_graphs ? 0
                              : (double)layers * training->kernels_per_layer * (double)training->launch_ps / PS_PER_S;
    return layer_time_ps(factor * fmax(operations * (double)recommender_samples(setup) / rate, launches_s));
}

static void time_matrices(const struct training_setup *setup, struct parts *parts) {
    const struct recommender_operations operations = recommender_shape_operations(setup->recommender);
    const uint32_t layers = recommender_shape_layers(setup->recommender);
    uint32_t below = 0;
    while (setup->recommender->bottom[below] > 0) {
        below++;
    }
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        const bool backward = direction == PIPELINE_BACKWARD;
        parts->bottom_ps[direction] = layers_ps(setup, operations.bottom, below, backward);
        parts->top_ps[direction] = layers_ps(setup, operations.crossing + operations.top, layers - below, backward);
    }
}

/* All GPUs have all matrices and copied tables: their gradients are reduced and gathered, and each GPU's optimiser goes through all of them. */
static void time_gradients(const struct training_setup *setup, const struct table_plan *plan, struct parts *parts) {
    const struct experiment_training *training = setup->training;
    const double elements = recommender_shape_dense(setup->recommender);
    const double copied = table_plan_copied(plan).rows * setup->recommender->width;
    const struct model_parameters held = {.shared = elements + copied, .trained = elements + copied};
    parts->gradients_ps = setup->free_gradients ? 0 : 2 * gradients_exchange_ps(setup, &held, training->gradient_bytes);
    parts->optimiser_ps =
        memory_ps(setup, elements * (2.0 * training->optimiser_state_bytes + training->gradient_bytes + WEIGHT_BYTES) +
                             copied * (2 * 2 * ROW_BYTES + training->gradient_bytes));
}

/* All GPUs wait for the slowest, in every exchange. */
static double slowness_of(const struct training_setup *setup, uint32_t *copy) {
    const struct straggler_copies *copies = setup->copies;
    double slowest = 0;
    for (uint32_t i = 0; copies != NULL && i < copies->n; i++) {
        const double dense = copies->slowness[(size_t)i * copies->stages].dense;
        *copy = dense > slowest ? i : *copy;
        slowest = fmax(slowest, dense);
    }
    return slowest > 0 ? slowest : 1;
}

static uint64_t slowed_ps(uint64_t ps, double slowness) {
    return layer_time_ps((double)ps * slowness / PS_PER_S);
}

static void slow_down(struct parts *parts, double slowness) {
    parts->look_up_ps = slowed_ps(parts->look_up_ps, slowness);
    parts->add_up_ps = slowed_ps(parts->add_up_ps, slowness);
    parts->update_ps = slowed_ps(parts->update_ps, slowness);
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        parts->copied_ps[direction] = slowed_ps(parts->copied_ps[direction], slowness);
        parts->bottom_ps[direction] = slowed_ps(parts->bottom_ps[direction], slowness);
        parts->top_ps[direction] = slowed_ps(parts->top_ps[direction], slowness);
    }
}

/* ---- what comes when ---- */

static uint64_t take(struct timeline *timeline, enum pipeline_resource resource, const char *name, uint64_t begin_ps,
                     uint64_t duration_ps) {
    const struct pipeline_span span = {
        .resource = resource, .name = name, .begin_ps = begin_ps, .end_ps = begin_ps + duration_ps};
    if (timeline->observe != NULL && duration_ps > 0) {
        timeline->observe(timeline->context, &span);
    }
    return span.end_ps;
}

/* One kernel after the other, this one not before it is ready. What is waited for it is added to *waited_ps. */
static uint64_t compute(struct timeline *timeline, const char *name, uint64_t ready_ps, uint64_t duration_ps,
                        uint64_t *waited_ps) {
    const uint64_t begin_ps = number_larger(timeline->free_ps, ready_ps);
    *waited_ps += begin_ps - timeline->free_ps;
    timeline->free_ps = take(timeline, PIPELINE_COMPUTE, name, begin_ps, duration_ps);
    timeline->time.compute_ps += duration_ps;
    return timeline->free_ps;
}

static uint64_t exchange(struct timeline *timeline, const char *name, uint64_t begin_ps, uint64_t duration_ps) {
    timeline->time.network_ps += duration_ps;
    return take(timeline, PIPELINE_NETWORK, name, begin_ps, duration_ps);
}

static void go_forward(struct timeline *timeline, const struct parts *parts) {
    uint64_t *exposed_ps = &timeline->time.exposed_ps;
    const uint64_t found_ps = compute(timeline, "rows looked up", 0, parts->look_up_ps, exposed_ps);
    const uint64_t there_ps = exchange(timeline, "vectors to their samples", found_ps, parts->forward_ps);
    compute(timeline, "bottom layers", 0, parts->bottom_ps[PIPELINE_FORWARD], exposed_ps);
    compute(timeline, "rows of copies looked up", 0, parts->copied_ps[PIPELINE_FORWARD], exposed_ps);
    compute(timeline, "pieces added up", there_ps, parts->add_up_ps, exposed_ps);
    compute(timeline, "cross and top layers", 0, parts->top_ps[PIPELINE_FORWARD], exposed_ps);
}

static void optimise(struct timeline *timeline, uint64_t reduced_ps, uint64_t duration_ps) {
    compute(timeline, "optimiser", reduced_ps, duration_ps, &timeline->time.exposed_gradients_ps);
    timeline->time.compute_ps -= duration_ps; // it is told apart
}

static void go_backward(struct timeline *timeline, const struct parts *parts) {
    uint64_t *exposed_ps = &timeline->time.exposed_ps;
    compute(timeline, "cross and top layers, backward", 0, parts->top_ps[PIPELINE_BACKWARD], exposed_ps);
    const uint64_t spread_ps = compute(timeline, "gradients of pieces", 0, parts->add_up_ps, exposed_ps);
    const uint64_t back_ps = exchange(timeline, "gradients to their rows", spread_ps, parts->backward_ps);
    compute(timeline, "gradients of copies", 0, parts->copied_ps[PIPELINE_BACKWARD], exposed_ps);
    const uint64_t known_ps =
        compute(timeline, "bottom layers, backward", 0, parts->bottom_ps[PIPELINE_BACKWARD], exposed_ps);
    const uint64_t reduced_ps = take(timeline, PIPELINE_GRADIENTS, "gradients", known_ps, parts->gradients_ps);
    timeline->time.gradient_ps = parts->gradients_ps;
    if (reduced_ps < back_ps) {
        optimise(timeline, reduced_ps, parts->optimiser_ps);
    }
    compute(timeline, "rows updated", back_ps, parts->update_ps, exposed_ps);
    if (reduced_ps >= back_ps) {
        optimise(timeline, reduced_ps, parts->optimiser_ps);
    }
}

/* ---- the step ---- */

static struct training_memory memory_of(const struct training_setup *setup, const struct table_plan *plan) {
    const struct experiment_training *training = setup->training;
    const double dense = recommender_shape_dense(setup->recommender), samples = training->global_batch;
    const double row = (double)setup->recommender->width * ROW_BYTES, copied = table_plan_copied(plan).rows;
    struct training_memory memory = {.passes = 1};
    double rows = 0;
    for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
        if (table_plan_rows(plan, gpu) >= rows) {
            rows = table_plan_rows(plan, gpu);
            memory.gradients =
                (table_plan_distinct(plan, gpu, samples) + copied) * row + dense * training->gradient_bytes;
        }
    }
    memory.weights = (rows + copied) * row + dense * WEIGHT_BYTES;
    memory.optimiser = (rows + copied) * row + dense * training->optimiser_state_bytes;
    memory.activations = vector_bytes(setup) * (samples * table_plan_most_pieces(plan) +
                                                (double)recommender_samples(setup) * plan->first[plan->gpus]);
    return memory;
}

/* An evaluation goes forward, in batches as large as a step's. */
static bool evaluate(const struct training_setup *setup, const struct parts *parts, struct training_result *result,
                     struct error *error) {
    const struct experiment_training *training = setup->training;
    const uint64_t batches = number_divide_up(training->evaluation_batch, training->global_batch);
    struct timeline timeline = {0};
    go_forward(&timeline, parts);
    if ((double)timeline.free_ps * (double)batches >= LAYER_TIME_LONGEST_PS ||
        (double)result->step_ps >= LAYER_TIME_LONGEST_PS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "a step or an evaluation is too long: %.4g and %.4g s", (double)result->step_ps / PS_PER_S,
                         (double)timeline.free_ps * (double)batches / PS_PER_S);
    }
    result->evaluation_ps = timeline.free_ps * batches;
    return true;
}

static bool fill(const struct training_setup *setup, const struct parts *parts, struct timeline *timeline,
                 struct training_result *result, struct error *error) {
    const struct recommender_operations operations = recommender_shape_operations(setup->recommender);
    go_forward(timeline, parts);
    go_backward(timeline, parts);
    result->step_ps = timeline->free_ps + setup->training->step_overhead_ps;
    result->optimiser_ps = parts->optimiser_ps;
    result->imbalance = 1;
    result->operations = (1 + LAYER_TIME_BACKWARD_FACTOR) * (operations.bottom + operations.crossing + operations.top) *
                         setup->training->global_batch;
    if (!evaluate(setup, parts, result, error)) {
        return false;
    }
    result->n_stages = 1;
    result->stages = memory_allocate(1, sizeof *result->stages);
    result->stages[0] = timeline->time;
    return true;
}

bool recommender_step(const struct training_setup *setup, void (*observe)(void *, const struct pipeline_span *),
                      void *context, struct training_result *result, struct error *error) {
    struct table_plan plan = recommender_plan(setup);
    struct timeline timeline = {.observe = observe, .context = context};
    struct parts parts = {.forward_ps = setup->exchange.phase_ps[TRAINING_COMBINE],
                          .backward_ps = setup->exchange.phase_ps[TRAINING_COMBINE_BACKWARD]};
    *result = (struct training_result){0};
    time_rows(setup, &plan, &parts);
    time_copies(setup, &plan, &parts);
    time_matrices(setup, &parts);
    time_gradients(setup, &plan, &parts);
    slow_down(&parts, slowness_of(setup, &result->copy));
    result->memory = memory_of(setup, &plan);
    table_plan_fini(&plan);
    return fill(setup, &parts, &timeline, result, error);
}
