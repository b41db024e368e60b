// SPDX-License-Identifier: GPL-3.0-or-later
/* A step against closed forms. */
#include "fixture.h"
#include "run_suite.h"
#include "training/gradients.h"
#include "training/kernel_bytes.h"
#include "training/layer_time.h"
#include "training/training_memory.h"
#include "training/training_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct experiment experiment;

static void describe(void) {
    fixture_deepseek_v3(&experiment);
}

static struct training_setup setup_of(void) {
    return fixture_setup(&experiment);
}

static uint64_t step_of(const struct training_setup *setup, struct training_result *result) {
    *result = fixture_step(setup);
    return result->step_ps;
}

static void exchange_all(struct training_setup *setup, uint64_t ps) {
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        setup->exchange.phase_ps[phase] = ps;
    }
}

START_TEST(without_stages_and_exchanges_a_step_is_operations_by_peak) {
    describe();
    experiment.training.pipeline_parallelism = 1;
    experiment.training.virtual_stages = 1;
    experiment.training.gpus = 64;
    struct training_setup setup = setup_of();
    setup.groups.replicas = setup.groups.expert_data = 1; // no gradients to reduce
    double seconds = 0;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        const struct model_operations one =
            model_shape_operations(setup.shape, setup.preset, (enum model_layer)kind, 4096);
        const double each = 3 * (one.projections + one.dense + one.router) / (5000e12 * 0.5) +
                            3 * one.logits / (2500e12 * 0.5) + 3.5 * one.attention / (2500e12 * 0.4) +
                            3 * one.experts / (5000e12 * 0.25);
        seconds += model_shape_count(setup.shape, setup.preset, (enum model_layer)kind) * each;
    }
    struct training_result result;
    const double step_s = (double)(step_of(&setup, &result) - result.optimiser_ps) / 1e12;
    ck_assert_double_eq_tol(step_s, 8 * 4096 * seconds, 1e-9);
    ck_assert_uint_eq(result.stages[0].exposed_ps + result.stages[0].waiting_ps, 0);
    training_result_fini(&result);
}
END_TEST

START_TEST(the_busiest_gpu_sets_the_experts_time) {
    describe();
    struct training_setup setup = setup_of();
    struct training_result even, uneven;
    step_of(&setup, &even);
    setup.exchange.expert_load = 2;
    step_of(&setup, &uneven);
    const double experts =
        59 * 3 * 2.0 * 8 * 3 * 7168 * 2048 / (5000e12 * 0.25) * 4096 * 8; // layers, with the prediction's
    double added = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        added += (double)uneven.stages[stage].compute_ps - (double)even.stages[stage].compute_ps;
    }
    ck_assert_double_eq_tol(added / 1e12, experts, experts * 1e-6);
    training_result_fini(&even);
    training_result_fini(&uneven);
}
END_TEST

START_TEST(overlap_hides_exchanges_that_are_shorter_than_computing) {
    describe();
    experiment.training.global_batch = 64 * 64;
    struct training_setup setup = setup_of();
    exchange_all(&setup, UINT64_C(400000000));
    struct training_result exposed, hidden;
    const uint64_t exposed_ps = step_of(&setup, &exposed);
    experiment.training.schedule = EXPERIMENT_SCHEDULE_1F1B_OVERLAP;
    const uint64_t hidden_ps = step_of(&setup, &hidden);
    ck_assert_uint_lt(hidden_ps, exposed_ps);
    for (uint32_t stage = 0; stage < 4; stage++) {
        ck_assert_uint_eq(exposed.stages[stage].exposed_ps, exposed.stages[stage].network_ps);
        ck_assert_uint_lt(hidden.stages[stage].exposed_ps, hidden.stages[stage].network_ps / 5);
    }
    training_result_fini(&exposed);
    training_result_fini(&hidden);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_with_the_sum) {
    describe();
    experiment.training.memory_refuses = true;
    struct training_setup setup = setup_of();
    struct training_result result;
    struct error error = {0};
    step_of(&setup, &result);
    const double none = result.memory.activations;
    ck_assert_double_eq_tol(result.memory.gradients / result.memory.weights, experiment.training.gradient_bytes / 2.0,
                            1e-9);
    ck_assert(training_memory_check(&setup, &result.memory, &error));
    result.memory.activations = 1e12;
    ck_assert(!training_memory_check(&setup, &result.memory, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "does not fit: weights"));
    ck_assert_ptr_nonnull(strstr(error.message, "activations 1000.0"));
    training_result_fini(&result);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_OPERATORS;
    step_of(&setup, &result);
    const double operators = result.memory.activations;
    training_result_fini(&result);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    step_of(&setup, &result);
    ck_assert_double_lt(operators, none);
    ck_assert_double_lt(result.memory.activations, operators / 4);
    training_result_fini(&result);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_NONE;
    experiment.training.expert_buffers = EXPERIMENT_EXPERT_BUFFERS_WORST_CASE; // 64 GPUs × 4 of a token's 8
    step_of(&setup, &result);
    ck_assert_double_gt(result.memory.activations, 10 * none);
    training_result_fini(&result);
}
END_TEST

START_TEST(kernels_beside_matrices_take_what_the_memory_takes) {
    describe();
    struct training_setup setup = setup_of();
    const enum experiment_kernels order[] = {EXPERIMENT_KERNELS_MATRICES, EXPERIMENT_KERNELS_FUSED_PERMUTE,
                                             EXPERIMENT_KERNELS_FUSED, EXPERIMENT_KERNELS_SEPARATE};
    uint64_t before_ps = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct training_result result;
        uint64_t computing_ps = 0;
        experiment.training.kernels = order[i];
        step_of(&setup, &result);
        for (uint32_t stage = 0; stage < 4; stage++) {
            computing_ps += result.stages[stage].compute_ps;
        }
        ck_assert_uint_gt(computing_ps, before_ps);
        before_ps = computing_ps;
        training_result_fini(&result);
    }
    /* permutation: eight copies read and written twice, of BF16, in 59 layers, forward once and backward twice */
    experiment.training.kernels = EXPERIMENT_KERNELS_FUSED;
    const struct kernel_bytes with = kernel_bytes_of(&setup, MODEL_LAYER_MOE);
    experiment.training.kernels = EXPERIMENT_KERNELS_FUSED_PERMUTE;
    const struct kernel_bytes without = kernel_bytes_of(&setup, MODEL_LAYER_MOE);
    ck_assert_double_eq(with.experts - without.experts, 8 * 2 * 4 * 7168.0);
    ck_assert_double_eq(with.before, without.before);
}
END_TEST

START_TEST(layers_computed_again_take_their_forward_pass_once_more) {
    describe();
    struct training_setup setup = setup_of();
    struct training_result once, again;
    step_of(&setup, &once);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    step_of(&setup, &again);
    for (uint32_t stage = 0; stage < 4; stage++) {
        ck_assert_uint_gt(again.stages[stage].compute_ps, once.stages[stage].compute_ps / 100 * 125);
        ck_assert_uint_lt(again.stages[stage].compute_ps, once.stages[stage].compute_ps / 100 * 135);
    }
    training_result_fini(&once);
    training_result_fini(&again);
}
END_TEST

static uint64_t network_ps_of(const struct training_setup *setup) {
    struct training_result result = fixture_step(setup);
    uint64_t sum_ps = 0;
    for (uint32_t stage = 0; stage < result.n_stages; stage++) {
        sum_ps += result.stages[stage].network_ps;
    }
    training_result_fini(&result);
    return sum_ps;
}

START_TEST(layers_computed_again_exchange_and_gather_again) {
    describe();
    experiment.training.tensor_parallelism = 4;
    experiment.training.global_batch = 128; // as many micro-batches, of a quarter of the tokens on a GPU
    experiment.traffic.tokens_per_gpu = 1024;
    struct training_setup setup = setup_of();
    const uint64_t gathered_ps = network_ps_of(&setup), once_ps = UINT64_C(400000000);
    exchange_all(&setup, once_ps);
    ck_assert_uint_eq(network_ps_of(&setup), gathered_ps + 59 * 8 * 4 * once_ps); // layers, micro-batches, exchanges
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    ck_assert_uint_eq(network_ps_of(&setup), gathered_ps / 2 * 3 + 59 * 8 * 6 * once_ps);
}
END_TEST

/* What a layer keeps its stage busy for is what cuts go by; all that the logits need is kept. */
START_TEST(exchanges_of_a_layer_are_counted_with_those_that_are_repeated) {
    describe();
    struct training_setup setup = setup_of();
    uint32_t n;
    struct layer_time *once = layer_time_create(&setup, &n);
    const struct layer_time *moe = &once[10], *logits = &once[n - 1];
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        setup.exchange.phase_ps[phase] = (uint64_t)(phase + 1) * 1000;
    }
    ck_assert_uint_eq(layer_time_exchanges_ps(&setup, moe), 10000);
    experiment.training.rank_skew_ps = 100;
    experiment.training.notify = true;
    ck_assert_uint_eq(layer_time_exchanges_ps(&setup, moe), 10000 + 4 * 200);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    ck_assert_uint_eq(layer_time_exchanges_ps(&setup, moe), 13000 + 6 * 200);
    ck_assert_uint_eq(layer_time_exchanges_ps(&setup, logits), 0);
    struct layer_time *again = layer_time_create(&setup, &n);
    ck_assert_uint_gt(again[10].before_ps[PIPELINE_BACKWARD], moe->before_ps[PIPELINE_BACKWARD]);
    ck_assert_uint_eq(again[n - 1].before_ps[PIPELINE_BACKWARD], logits->before_ps[PIPELINE_BACKWARD]);
    free(once);
    free(again);
}
END_TEST

/* The optimiser waits for memory on the fullest stage, then for trees: six levels in a rack, two above four of them, up and down. */
START_TEST(the_optimiser_takes_what_the_slowest_stage_takes) {
    describe();
    experiment.training.gradient_bytes = 4;
    const struct training_setup setup = setup_of();
    struct training_result result = fixture_step(&setup);
    double most = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        double bytes = 0;
        for (uint32_t part = stage; part < 16; part += 4) {
            const struct model_parameters held =
                training_memory_held(&setup, result.layout.first[part], result.layout.first[part + 1]);
            bytes += training_memory_optimiser_bytes(&setup, &held);
        }
        most = fmax(most, bytes);
    }
    ck_assert_double_eq_tol((double)result.optimiser_ps, most / (8e12 * 0.9) * 1e12 + 2 * (6 * 0.6e6 + 2 * 2.7e6), 2);
    training_result_fini(&result);
}
END_TEST

START_TEST(parameters_of_later_parts_are_gathered_behind_forward_passes) {
    describe();
    experiment.training.parameter_bytes = 2;
    const struct training_setup setup = setup_of();
    struct training_result all = fixture_step(&setup);
    experiment.training.overlap_parameters = true;
    struct training_result first = fixture_step(&setup);
    uint64_t parts_ps[16] = {0}, first_ps = 0, all_ps = 0;
    for (uint32_t part = 0; part < 16; part++) {
        const struct model_parameters held =
            training_memory_held(&setup, all.layout.first[part], all.layout.first[part + 1]);
        parts_ps[part] = gradients_exchange_ps(&setup, &held, 2);
    }
    for (uint32_t stage = 0; stage < 4; stage++) {
        const uint64_t sum_ps = parts_ps[stage] + parts_ps[stage + 4] + parts_ps[stage + 8] + parts_ps[stage + 12];
        first_ps = parts_ps[stage] > first_ps ? parts_ps[stage] : first_ps;
        all_ps = sum_ps > all_ps ? sum_ps : all_ps;
    }
    ck_assert_uint_gt(first_ps, 0);
    ck_assert_uint_eq(first.gather_ps, first_ps);
    ck_assert_uint_eq(all.gather_ps, all_ps);
    ck_assert_uint_eq(all.step_ps - first.step_ps, all_ps - first_ps);
    training_result_fini(&all);
    training_result_fini(&first);
}
END_TEST

START_TEST(a_step_is_told_with_its_operations_and_how_uneven_it_is) {
    describe();
    const struct training_setup setup = setup_of();
    struct training_result result = fixture_step(&setup);
    /* six for each of 36.6 G parameters that a token meets and 1.6 G of the prediction and its logits, and scores of half a sequence of 4,096 */
    const double parameters = 6 * 38.2e9, scores = 3 * 62 * 2.0 * 128 * (192 + 128) * 2048;
    ck_assert_double_eq_tol(result.operations / ((parameters + scores) * 4096 * 512), 1, 0.01);
    double most = 0, sum = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        most = fmax(most, (double)result.stages[stage].compute_ps);
        sum += (double)result.stages[stage].compute_ps;
    }
    ck_assert_double_gt(result.imbalance, 1);
    ck_assert_double_eq_tol(result.imbalance, 4 * most / sum, 1e-12);
    training_result_fini(&result);
}
END_TEST

/* 64 copies: 65 sequences are two for one of them, as 128 are. */
START_TEST(evaluations_take_as_long_as_their_busiest_copy) {
    static const uint32_t sequences[] = {0, 64, 65, 128};
    uint64_t taken_ps[4];
    describe();
    const struct training_setup setup = setup_of();
    for (int i = 0; i < 4; i++) {
        experiment.training.evaluation_batch = sequences[i];
        struct training_result result = fixture_step(&setup);
        taken_ps[i] = result.evaluation_ps;
        training_result_fini(&result);
    }
    ck_assert_uint_eq(taken_ps[0], 0);
    ck_assert_uint_gt(taken_ps[2], taken_ps[1]);
    ck_assert_uint_lt(taken_ps[2], 2 * taken_ps[1]); // the second is behind the first
    ck_assert_uint_eq(taken_ps[2], taken_ps[3]);
}
END_TEST

START_TEST(messages_and_all_else_come_to_a_step) {
    describe();
    struct training_setup setup = setup_of();
    struct training_result result;
    const uint64_t plain_ps = step_of(&setup, &result);
    training_result_fini(&result);
    experiment.training.step_overhead_ps = 12345;
    ck_assert_uint_eq(step_of(&setup, &result), plain_ps + 12345);
    training_result_fini(&result);
    setup.send_latency_ps = 1000000;
    ck_assert_uint_ge(step_of(&setup, &result),
                      plain_ps + 12345 + 2 * 3 * 1000000); // there and back through four stages at least
    training_result_fini(&result);
}
END_TEST

/* Layers with experts become longer than others by exchanges that are not hidden. */
START_TEST(cuts_go_by_what_is_not_hidden) {
    describe();
    experiment.training.virtual_stages = 1;
    struct training_setup setup = setup_of();
    struct training_result without = fixture_step(&setup), with, hidden;
    const size_t size = 5 * sizeof *without.layout.first;
    exchange_all(&setup, UINT64_C(6000000000)); // in all no more than a layer computes
    step_of(&setup, &with);
    ck_assert_mem_ne(with.layout.first, without.layout.first, size);
    experiment.training.schedule = EXPERIMENT_SCHEDULE_1F1B_OVERLAP;
    step_of(&setup, &hidden);
    ck_assert_mem_eq(hidden.layout.first, without.layout.first, size);
    training_result_fini(&without);
    training_result_fini(&with);
    training_result_fini(&hidden);
}
END_TEST

START_TEST(exchanges_wait_for_the_last_gpu) {
    describe();
    struct training_setup setup = setup_of();
    struct training_result without, with;
    exchange_all(&setup, UINT64_C(400000000));
    step_of(&setup, &without);
    experiment.training.rank_skew_ps = UINT64_C(100000000);
    step_of(&setup, &with);
    uint64_t longer_ps = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        longer_ps += with.stages[stage].network_ps - without.stages[stage].network_ps;
    }
    ck_assert_uint_eq(longer_ps, 59 * 4 * 8 * UINT64_C(100000000)); // layers, exchanges, micro-batches
    training_result_fini(&with);
    experiment.training.notify = true;
    step_of(&setup, &with);
    longer_ps = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        longer_ps += with.stages[stage].network_ps - without.stages[stage].network_ps;
    }
    ck_assert_uint_eq(longer_ps, 2 * 59 * 4 * 8 * UINT64_C(100000000));
    training_result_fini(&with);
    training_result_fini(&without);
}
END_TEST

START_TEST(a_pair_hides_what_it_computes_beside) {
    describe();
    struct training_setup setup = setup_of();
    struct training_pair pair;
    struct error error = {0};
    ck_assert(training_pair(&setup, 5, &pair, &error));
    ck_assert_uint_eq(pair.exchange_ps + pair.hidden_ps, 0);
    ck_assert_uint_eq(pair.span_ps, pair.compute_ps);
    const uint64_t computing_ps = pair.compute_ps;
    exchange_all(&setup, UINT64_C(100000000));
    ck_assert(training_pair(&setup, 5, &pair, &error));
    ck_assert_uint_eq(pair.compute_ps, computing_ps);
    ck_assert_uint_eq(pair.exchange_ps % UINT64_C(400000000), 0);
    ck_assert_uint_gt(pair.hidden_ps, pair.exchange_ps / 2);
    ck_assert_uint_eq(pair.span_ps - pair.compute_ps, pair.exchange_ps - pair.hidden_ps); // nothing else is exposed
    const uint64_t hidden_ps = pair.hidden_ps;
    experiment.training.kernels_per_layer = 60;
    experiment.training.kernel_gap_ps = 2000000;
    ck_assert(training_pair(&setup, 5, &pair, &error));
    ck_assert_uint_lt(pair.hidden_ps, hidden_ps);
    ck_assert_uint_le(pair.span_ps - pair.compute_ps, pair.exchange_ps - pair.hidden_ps + 100); // but for rounding
    ck_assert_uint_ge(pair.span_ps - pair.compute_ps + 100, pair.exchange_ps - pair.hidden_ps);
    experiment.training.kernel_gap_ps = 0;
    experiment.training.contention = true;
    setup.exchange_sms = 37; // a quarter
    ck_assert(training_pair(&setup, 5, &pair, &error));
    ck_assert_uint_gt(pair.compute_ps, computing_ps);
    ck_assert_uint_le(pair.compute_ps, computing_ps / 3 * 4 + 4);
    ck_assert(!training_pair(&setup, 16, &pair, &error));
}
END_TEST

START_TEST(pairs_of_all_parts_add_up) {
    describe();
    struct training_setup setup = setup_of();
    struct training_pair pair, all, sum = {0};
    struct error error = {0};
    exchange_all(&setup, UINT64_C(100000000));
    ck_assert(training_pair_all(&setup, &all, &error));
    for (uint32_t part = 0; part < 16; part++) {
        ck_assert(training_pair(&setup, part, &pair, &error));
        sum.exchange_ps += pair.exchange_ps;
        sum.hidden_ps += pair.hidden_ps;
        sum.span_ps += pair.span_ps;
    }
    ck_assert_uint_eq(all.exchange_ps, sum.exchange_ps);
    ck_assert_uint_eq(all.hidden_ps, sum.hidden_ps);
    ck_assert_uint_eq(all.span_ps, sum.span_ps);
    ck_assert_uint_eq(all.exchange_ps, 59 * 4 * UINT64_C(100000000)); // every layer with experts is in one pair
}
END_TEST

START_TEST(launches_are_the_least_that_a_layer_takes) {
    describe();
    experiment.training.cuda_graphs = false;
    experiment.training.launch_ps = UINT64_C(1000000000); // 1 ms a kernel: more than any computing
    experiment.training.kernels_per_layer = 50;
    experiment.training.pipeline_parallelism = experiment.training.virtual_stages = 1;
    experiment.training.gpus = 64;
    struct training_setup setup = setup_of();
    setup.groups.replicas = setup.groups.expert_data = 1;
    struct training_result result;
    const uint64_t layers = 61 + 1 + 1; // with the prediction and the logits
    ck_assert_uint_eq(step_of(&setup, &result) - result.optimiser_ps, layers * 150 * UINT64_C(1000000000) * 8);
    training_result_fini(&result);
}
END_TEST

START_TEST(copies_that_share_nics_reduce_their_gradients_faster) {
    describe();
    experiment.training.gpus = 2048;
    experiment.training.global_batch = 512 * 32;
    experiment.training.gradient_bytes = 4;
    struct training_setup setup = setup_of();
    struct training_result result;
    step_of(&setup, &result);
    /* experts go between 8 copies, one in each rack: by one NIC each */
    double reduced_s = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        reduced_s += (double)result.stages[stage].gradient_ps / 1e12;
    }
    double shared = 0;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        shared += model_shape_count(setup.shape, setup.preset, (enum model_layer)kind) *
                  model_shape_parameters(setup.shape, setup.preset, (enum model_layer)kind).shared;
    }
    const double experts_s = 59 * 256 * 3.0 * 7168 * 2048 / 64 * 4 * 7 / 8 / setup.groups.nic_bytes_per_s;
    /* what all GPUs of a stage hold goes around 64 of a rack by NVLink, and between racks by 64 NICs, which is less */
    const double shared_s = shared * 4 * 511 / 512 / 720e9;
    ck_assert_double_gt(shared_s, shared * 4 * 511 / 512 / 64 / setup.groups.nic_bytes_per_s);
    /* and steps of each ring, in each of sixteen parts: 7 between racks; 503 in racks and 8 between them */
    const double steps_s = 16 * (7 * 14e-6 + 503 * 3.4e-6 + 8 * 14e-6);
    ck_assert_double_le(reduced_s, experts_s + shared_s + steps_s + 1e-6);
    ck_assert_double_ge(reduced_s, experts_s + shared_s + 13 * steps_s / 16 - 1e-6); // some parts hold no experts
    training_result_fini(&result);
}
END_TEST

static uint64_t network_of(const char *preset, uint32_t tensor) {
    describe();
    strcpy(experiment.model.preset, preset);
    experiment.traffic.expert_parallelism = 8;
    experiment.traffic.tokens_per_gpu = 4096 / tensor;
    experiment.training.tensor_parallelism = tensor;
    experiment.training.sequence_tokens = 4096;
    experiment.training.gpus = 64;
    experiment.training.pipeline_parallelism = experiment.training.virtual_stages = 1;
    const struct training_setup setup = setup_of();
    struct training_result result;
    step_of(&setup, &result);
    const uint64_t network_ps = result.stages[0].network_ps / setup.groups.micro_batches;
    training_result_fini(&result);
    return network_ps;
}

START_TEST(tensor_collectives_are_around_what_is_cut) {
    /* forward and backward a gather and a scatter of 4,096 tokens' other three quarters; of experts, which are whole, none */
    const double one_ps = 0.75 * 4096 * 2 / 720e9 * 1e12;
    ck_assert_double_eq_tol((double)network_of("mixtral-8x7b", 4), 2 * 2 * 32 * 4096 * one_ps, 200);
    /* with shared experts or a dense part: around that too, in 61 layers and one of prediction */
    ck_assert_double_eq_tol((double)network_of("deepseek-v3", 4), 2 * 4 * 62 * 7168 * one_ps, 200);
    ck_assert_uint_eq(network_of("deepseek-v3", 1), 0);
}
END_TEST

static void take_ages(struct training_setup *setup) {
    experiment.training.cuda_graphs = false;
    experiment.training.kernels_per_layer = 100000;
    experiment.training.launch_ps = UINT64_C(1000000000);
    setup->groups.micro_batches = 100000;
}

static void crawl_between_stages(struct training_setup *setup) {
    setup->groups.nic_bytes_per_s = 1e-9;
}

static void crawl_with_gradients(struct training_setup *setup) {
    setup->groups.tokens = 1;
    setup->groups.nic_bytes_per_s = 100;
    setup->groups.replicas = setup->groups.expert_data = 64;
    experiment.training.gradient_bytes = 4;
}

static void evaluate_for_ages(struct training_setup *setup) {
    experiment.training.evaluation_batch = 16777216;
    setup->groups.data = 1;
}

static const struct {
    void (*change)(struct training_setup *setup);
    const char *message;
} ages[] = {
    {take_ages, "a step is too long: 1e+05 micro-batches through 16 virtual stages"},
    {crawl_between_stages, "a step is too long: 9 micro-batches through 16 virtual stages"},
    {crawl_with_gradients, "a step is too long: its gradients and parameters take"},
    {evaluate_for_ages, "a step is too long: 1.678e+07 micro-batches through 16 virtual stages"},
};

START_TEST(steps_beyond_what_64_bits_hold_are_refused) {
    describe();
    struct training_setup setup = setup_of();
    struct training_result result;
    struct error error = {0};
    ages[_i].change(&setup);
    ck_assert(!training_step(&setup, NULL, NULL, &result, &error));
    ck_assert_msg(strstr(error.message, ages[_i].message) != NULL, "%s", error.message);
    ck_assert_ptr_null(result.layout.first); // nothing is left to be freed
}
END_TEST

START_TEST(more_virtual_stages_than_layers_are_refused) {
    describe();
    experiment.training.virtual_stages = 17;
    struct training_setup setup = setup_of();
    struct training_result result;
    struct error error = {0};
    ck_assert(!training_step(&setup, NULL, NULL, &result, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "64 layers, embedding and logits counted, cannot fill 68"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("training-step");
    TCase *tests = tcase_create("steps");
    tcase_add_test(tests, without_stages_and_exchanges_a_step_is_operations_by_peak);
    tcase_add_test(tests, the_busiest_gpu_sets_the_experts_time);
    tcase_add_test(tests, overlap_hides_exchanges_that_are_shorter_than_computing);
    tcase_add_test(tests, what_does_not_fit_is_refused_with_the_sum);
    tcase_add_test(tests, kernels_beside_matrices_take_what_the_memory_takes);
    tcase_add_test(tests, layers_computed_again_take_their_forward_pass_once_more);
    tcase_add_test(tests, layers_computed_again_exchange_and_gather_again);
    tcase_add_test(tests, exchanges_of_a_layer_are_counted_with_those_that_are_repeated);
    tcase_add_test(tests, the_optimiser_takes_what_the_slowest_stage_takes);
    tcase_add_test(tests, parameters_of_later_parts_are_gathered_behind_forward_passes);
    tcase_add_test(tests, a_step_is_told_with_its_operations_and_how_uneven_it_is);
    tcase_add_test(tests, evaluations_take_as_long_as_their_busiest_copy);
    tcase_add_test(tests, messages_and_all_else_come_to_a_step);
    tcase_add_test(tests, cuts_go_by_what_is_not_hidden);
    tcase_add_test(tests, exchanges_wait_for_the_last_gpu);
    tcase_add_test(tests, a_pair_hides_what_it_computes_beside);
    tcase_add_test(tests, pairs_of_all_parts_add_up);
    tcase_add_test(tests, launches_are_the_least_that_a_layer_takes);
    tcase_add_test(tests, tensor_collectives_are_around_what_is_cut);
    tcase_add_test(tests, copies_that_share_nics_reduce_their_gradients_faster);
    tcase_add_loop_test(tests, steps_beyond_what_64_bits_hold_are_refused, 0, sizeof ages / sizeof ages[0]);
    tcase_add_test(tests, more_virtual_stages_than_layers_are_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
