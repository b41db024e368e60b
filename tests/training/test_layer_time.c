// SPDX-License-Identifier: GPL-3.0-or-later
/* What a layer of DeepSeek-V3 takes beside its matrices, by hand, and the segments that its passes have. */
#include "fixture.h"
#include "run_suite.h"
#include "training/kernel_bytes.h"
#include "training/layer_time.h"

#include <math.h>
#include <stdlib.h>

/* Places of layers in their order: three dense ones follow the embedding, the logits are the last of 64. */
enum { DENSE = 1, MOE = 10, LOGITS = 63, TOKENS = 4096 };

static struct experiment experiment;

static struct training_setup setup_of(void) {
    fixture_deepseek_v3(&experiment);
    return fixture_setup(&experiment);
}

static struct layer_time layer_of(const struct training_setup *setup, int place) {
    uint32_t n;
    struct layer_time *layers = layer_time_create(setup, &n);
    const struct layer_time layer = layers[place];
    ck_assert_uint_eq(n, LOGITS + 1);
    free(layers);
    return layer;
}

/*
 * Of a token, 7,168 wide: norms read and write, residuals read two and write one, BF16; rope turns 64 of each of 128 heads and 64 of the key; the shared expert
 * is 2,048 wide, attention's output 16,384. A conversion to MXFP8 reads 2 B and writes it twice. Scores of 256 experts are FP32.
 */
START_TEST(kernels_by_themselves_read_and_write_this) {
    const struct training_setup setup = setup_of();
    experiment.training.kernels = EXPERIMENT_KERNELS_SEPARATE;
    const struct kernel_bytes bytes = kernel_bytes_of(&setup, MODEL_LAYER_MOE);
    const double norms = 2 * 4 * 7168 + 2 * 6 * 7168, rope = 4 * (128 * 64 + 64), activation = 6 * 2048;
    const double conversions = 4 * (2 * 7168 + 16384 + 2048), scores = 2 * 2 * 4 * 256, sum = 4 * 7168;
    ck_assert_double_eq(bytes.before, norms + rope + activation + conversions + scores + sum);
    ck_assert_double_eq(bytes.experts, 8 * (2 * 4 * 7168 + 6 * 2048 + 4 * (7168 + 2048)));
    experiment.training.precision = EXPERIMENT_PRECISION_BF16; // nothing is converted
    ck_assert_double_eq(kernel_bytes_of(&setup, MODEL_LAYER_MOE).before, bytes.before - conversions);
    ck_assert_double_eq(kernel_bytes_of(&setup, MODEL_LAYER_LOGITS).before, 0);
}
END_TEST

START_TEST(fused_kernels_read_and_write_this) {
    const struct training_setup setup = setup_of();
    experiment.training.kernels = EXPERIMENT_KERNELS_FUSED;
    const struct kernel_bytes bytes = kernel_bytes_of(&setup, MODEL_LAYER_MOE);
    ck_assert_double_eq(bytes.before, 2 * (6 + 2) * 7168 + 4 * (128 * 64 + 64) + 2 * 2048 + 4 * 256);
    ck_assert_double_eq(bytes.experts, 8 * (2 * 2048 + 2 * 4 * 7168));
}
END_TEST

START_TEST(memory_is_waited_for_twice_as_long_backward) {
    const struct training_setup setup = setup_of();
    const struct layer_time matrices = layer_of(&setup, MOE);
    experiment.training.kernels = EXPERIMENT_KERNELS_FUSED;
    const struct layer_time all = layer_of(&setup, MOE);
    const double ps = kernel_bytes_of(&setup, MODEL_LAYER_MOE).before * TOKENS / (8e12 * 0.9) * 1e12;
    ck_assert_double_eq_tol((double)(all.before_ps[0] - matrices.before_ps[0]), ps, 2);
    ck_assert_double_eq_tol((double)(all.before_ps[1] - matrices.before_ps[1]), 2 * ps, 2);
}
END_TEST

START_TEST(scores_of_experts_take_what_computes_them) {
    const struct training_setup setup = setup_of();
    const double operations = 2.0 * 7168 * 256 * TOKENS, ps = 1e12;
    const double matrices_ps = (double)layer_of(&setup, MOE).before_ps[0] - operations / (5000e12 * 0.5) * ps;
    experiment.training.router = EXPERIMENT_ROUTER_CUDA_CORES;
    ck_assert_double_eq_tol((double)layer_of(&setup, MOE).before_ps[0], matrices_ps + operations / (80e12 * 0.5) * ps,
                            3);
    experiment.training.router = EXPERIMENT_ROUTER_TENSOR_CORES; // nine products in BF16
    ck_assert_double_eq_tol((double)layer_of(&setup, MOE).before_ps[0],
                            matrices_ps + 9 * operations / (2500e12 * 0.5) * ps, 3);
}
END_TEST

START_TEST(the_host_is_waited_for_where_tokens_have_to_be_counted) {
    const struct training_setup setup = setup_of();
    experiment.training.host_sync_ps = 1000;
    const struct layer_time moe = layer_of(&setup, MOE), dense = layer_of(&setup, DENSE);
    experiment.training.cuda_graphs = false; // without a kernel to launch
    ck_assert_uint_eq(layer_of(&setup, MOE).before_ps[0], moe.before_ps[0] + 1000);
    ck_assert_uint_eq(layer_of(&setup, MOE).before_ps[1], moe.before_ps[1]);
    ck_assert_uint_eq(layer_of(&setup, DENSE).before_ps[0], dense.before_ps[0]);
}
END_TEST

static uint64_t computing_of(const struct pipeline_pass *pass, bool put_off) {
    uint64_t sum_ps = 0;
    for (uint32_t i = 0; i < pass->n_segments; i++) {
        const struct pipeline_segment *segment = &pass->segments[i];
        sum_ps += segment->resource == PIPELINE_COMPUTE && segment->put_off == put_off ? segment->duration_ps : 0;
    }
    return sum_ps;
}

START_TEST(gradients_of_weights_are_put_off_and_no_more) {
    const struct training_setup setup = setup_of();
    const struct layer_time layer = layer_of(&setup, MOE);
    struct pipeline_pass at_once = layer_time_pass(&layer, 1, PIPELINE_BACKWARD, &setup);
    experiment.training.defer_weight_gradients = true;
    struct pipeline_pass later = layer_time_pass(&layer, 1, PIPELINE_BACKWARD, &setup);
    ck_assert_uint_eq(computing_of(&at_once, true), 0);
    ck_assert_uint_eq(computing_of(&later, true), layer.before_weights_ps + layer.experts_weights_ps);
    ck_assert_uint_eq(computing_of(&later, true) + computing_of(&later, false), computing_of(&at_once, false));
    /* half of the experts' backward pass */
    ck_assert_double_eq_tol((double)layer.experts_weights_ps, (double)layer.experts_ps[PIPELINE_BACKWARD] / 2, 1);
    free(at_once.segments);
    free(later.segments);
}
END_TEST

START_TEST(layers_computed_again_gather_keys_and_values_again) {
    setup_of();
    experiment.training.context_parallelism = 4;
    experiment.training.context_exchange = EXPERIMENT_CONTEXT_ALL_GATHER;
    experiment.traffic.tokens_per_gpu = TOKENS / 4;
    const struct training_setup setup = fixture_setup(&experiment);
    const struct layer_time once = layer_of(&setup, MOE);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    ck_assert_uint_gt(once.context_ps[0], 0);
    ck_assert_uint_eq(layer_of(&setup, MOE).context_ps[1], once.context_ps[0] + once.context_ps[1]);
}
END_TEST

/* 37 of 148 SMs. The others read rows and columns of 1,907 elements a side for 2,500 TFLOPS: 1.31 of 8 TB/s. */
START_TEST(an_exchange_and_matrices_share_sms_and_memory) {
    struct training_setup setup = setup_of();
    setup.exchange_sms = 37;
    struct pipeline_sharing sharing = layer_time_sharing(&setup);
    const struct pipeline_load links = {.nvlink = 0.9};
    ck_assert_double_eq(pipeline_sharing_factors(&sharing, true, &links, &links).compute, 1);
    ck_assert_double_eq(pipeline_sharing_factors(&sharing, true, &links, &links).network, 1);
    experiment.training.contention = true;
    experiment.training.gradient_sms = 37;
    sharing = layer_time_sharing(&setup);
    struct pipeline_factors factors = pipeline_sharing_factors(&sharing, true, &links, NULL);
    ck_assert_double_eq_tol(factors.compute, 148.0 / 111, 1e-12);
    const double latency = 1 / (1 - 2500e12 / sqrt(111.0 * 128 * 256) / 8e12);
    ck_assert_double_eq_tol(factors.network, latency, 1e-9);
    factors = pipeline_sharing_factors(&sharing, true, NULL, &links);
    ck_assert_double_eq_tol(factors.compute, 148.0 / 111, 1e-12);
    ck_assert_double_eq_tol(factors.gradients, 0.9 * latency, 1e-9); // the tenth that they leave of NVLink is theirs
    ck_assert_double_eq_tol(pipeline_sharing_factors(&sharing, true, &links, &links).compute, 2, 1e-12);
    ck_assert_double_eq_tol(pipeline_sharing_factors(&sharing, false, &links, &links).network, 0.9 / 0.5, 1e-12);
}
END_TEST

/* 60 kernels forward and 120 backward, 2 us after each: as long as they take, so as they share the time. */
START_TEST(a_gap_follows_each_kernel) {
    const struct training_setup setup = setup_of();
    const struct layer_time without = layer_of(&setup, MOE);
    experiment.training.kernels_per_layer = 60;
    experiment.training.kernel_gap_ps = 2000000;
    const struct layer_time with = layer_of(&setup, MOE);
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        const double before_ps = (double)without.before_ps[direction],
                     experts_ps = (double)without.experts_ps[direction];
        const double gaps_ps = 60 * 2e6 * (direction + 1), all_ps = before_ps + experts_ps + gaps_ps;
        ck_assert_double_eq_tol((double)(with.before_ps[direction] + with.experts_ps[direction]), all_ps, 0.5);
        ck_assert_double_eq_tol(with.before_gaps[direction], gaps_ps / all_ps, 1e-8);
        ck_assert_double_eq_tol(with.experts_gaps[direction], gaps_ps / all_ps, 1e-8);
    }
    const double longer = (double)with.before_ps[1] / (double)without.before_ps[1];
    ck_assert_double_eq_tol((double)with.before_weights_ps, longer * (double)without.before_weights_ps, 1);
    ck_assert_uint_eq(layer_of(&setup, 0).before_ps[0], 0); // the embedding has none
    ck_assert_double_eq(without.before_gaps[0], 0);
}
END_TEST

/* Without graphs a layer takes its kernels and gaps, or its launches if that is longer: then all but its kernels is a gap. */
START_TEST(launches_make_gaps_where_they_are_longer) {
    const struct training_setup setup = setup_of();
    const struct layer_time without = layer_of(&setup, MOE);
    const double kernels_ps = (double)(without.before_ps[0] + without.experts_ps[0]);
    experiment.training.kernels_per_layer = 60;
    experiment.training.kernel_gap_ps = 2000000;
    const uint64_t with_ps = layer_of(&setup, MOE).before_ps[0];
    experiment.training.cuda_graphs = false;
    experiment.training.launch_ps = 1000000; // in the time of the kernels before
    ck_assert_uint_eq(layer_of(&setup, MOE).before_ps[0], with_ps);
    experiment.training.launch_ps = UINT64_C(1000000000);
    const struct layer_time launched = layer_of(&setup, MOE);
    const double experts_ps = (double)launched.experts_ps[0], before_ps = 60e9 - experts_ps;
    ck_assert_double_eq_tol((double)launched.before_ps[0], before_ps, 1);
    const double gaps_ps = launched.before_gaps[0] * before_ps + launched.experts_gaps[0] * experts_ps;
    ck_assert_double_eq_tol(gaps_ps, 60e9 - kernels_ps, 1000);
}
END_TEST

/* A layer that is computed again has the gaps of both passes. */
START_TEST(layers_computed_again_have_their_gaps_again) {
    const struct training_setup setup = setup_of();
    experiment.training.kernels_per_layer = 60;
    experiment.training.kernel_gap_ps = 2000000;
    const struct layer_time once = layer_of(&setup, MOE);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    const struct layer_time again = layer_of(&setup, MOE);
    const double gaps_ps =
        once.before_gaps[0] * (double)once.before_ps[0] + once.before_gaps[1] * (double)once.before_ps[1];
    ck_assert_double_eq_tol(again.before_gaps[1] * (double)again.before_ps[1], gaps_ps, 2);
}
END_TEST

/* What a segment of this name takes of links. */
static struct pipeline_load load_of(const struct pipeline_pass *pass, const char *name) {
    for (uint32_t i = 0; i < pass->n_segments; i++) {
        if (strcmp(pass->segments[i].name, name) == 0) {
            return pass->segments[i].load;
        }
    }
    ck_abort_msg("no segment %s", name);
}

START_TEST(exchanges_take_of_links_what_they_send) {
    struct training_setup setup = setup_of();
    setup.exchange.phase_ps[TRAINING_DISPATCH] = setup.exchange.phase_ps[TRAINING_COMBINE] = 1000000000; // 1 ms
    setup.exchange.nvlink_bytes[TRAINING_DISPATCH] = 360e6;                                              // 0.36 TB/s
    setup.exchange.nic_bytes[TRAINING_COMBINE] = setup.groups.nic_bytes_per_s * 1e-3 / 4;
    uint32_t n;
    struct layer_time *layers = layer_time_create(&setup, &n);
    struct pipeline_pass pass = layer_time_pass(layers, n, PIPELINE_FORWARD, &setup);
    ck_assert_double_eq_tol(load_of(&pass, "dispatch").nvlink, 0.5, 1e-12);
    ck_assert_double_eq(load_of(&pass, "dispatch").nic, 0);
    ck_assert_double_eq_tol(load_of(&pass, "combine").nic, 0.25, 1e-12);
    ck_assert_double_eq(load_of(&pass, "attention and dense").nvlink, 0);
    free(pass.segments);
    experiment.training.rank_skew_ps = 1000000000; // a wait as long as the exchange, in which nothing is sent
    pass = layer_time_pass(layers, n, PIPELINE_FORWARD, &setup);
    ck_assert_double_eq_tol(load_of(&pass, "dispatch").nvlink, 0.25, 1e-12);
    free(pass.segments);
    free(layers);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("layer-time");
    TCase *tests = tcase_create("layers");
    tcase_add_test(tests, kernels_by_themselves_read_and_write_this);
    tcase_add_test(tests, fused_kernels_read_and_write_this);
    tcase_add_test(tests, memory_is_waited_for_twice_as_long_backward);
    tcase_add_test(tests, scores_of_experts_take_what_computes_them);
    tcase_add_test(tests, the_host_is_waited_for_where_tokens_have_to_be_counted);
    tcase_add_test(tests, gradients_of_weights_are_put_off_and_no_more);
    tcase_add_test(tests, layers_computed_again_gather_keys_and_values_again);
    tcase_add_test(tests, an_exchange_and_matrices_share_sms_and_memory);
    tcase_add_test(tests, exchanges_take_of_links_what_they_send);
    tcase_add_test(tests, a_gap_follows_each_kernel);
    tcase_add_test(tests, launches_make_gaps_where_they_are_longer);
    tcase_add_test(tests, layers_computed_again_have_their_gaps_again);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
