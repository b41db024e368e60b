// SPDX-License-Identifier: GPL-3.0-or-later
/* Parameters and operations of models against what their authors print. */
#include "run_suite.h"
#include "training/gpu.h"
#include "training/model_shape.h"

#include <check.h>

static double parameters_of(const char *name, bool with_prediction) {
    const struct model_shape *shape = model_shape_find(name);
    const struct experiment_preset *preset = experiment_preset_find(name);
    double sum = 0;
    for (int layer = 0; layer < MODEL_LAYER_KINDS; layer++) {
        const struct model_parameters one = model_shape_parameters(shape, preset, (enum model_layer)layer);
        const uint32_t count = model_shape_count(shape, preset, (enum model_layer)layer);
        sum += layer == MODEL_LAYER_MTP && !with_prediction ? 0 : count * (one.shared + one.experts);
    }
    return sum;
}

/* Parameters that a token meets: half its forward operations without attention's scores. */
static double active_of(const char *name) {
    const struct model_shape *shape = model_shape_find(name);
    const struct experiment_preset *preset = experiment_preset_find(name);
    double sum = 0;
    for (int layer = 0; layer < MODEL_LAYER_KINDS; layer++) {
        const struct model_operations one = model_shape_operations(shape, preset, (enum model_layer)layer, 4096);
        const uint32_t count = layer == MODEL_LAYER_MTP ? 0 : model_shape_count(shape, preset, (enum model_layer)layer);
        sum += count * (one.projections + one.dense + one.router + one.experts + one.logits) / 2;
    }
    return sum;
}

static const struct {
    const char *name;
    double parameters_e9, active_e9, tolerance;
} published[] = {
    {"deepseek-v3", 671.0, 37.0, 0.03},     /* arXiv:2412.19437: 671 B, 37 B activated (with the embedding) */
    {"kimi-k2", 1026, 32, 0.03},            /* Kimi K2 (arXiv:2507.20534): 1.04 T, 32 B */
    {"gpt-oss-20b", 20.9, 3.6, 0.03},       /* model card: 20.9 B, 3.6 B */
    {"gpt-oss-120b", 116.8, 5.1, 0.03},     /* model card: 116.8 B, 5.1 B */
    {"qwen3-235b-a22b", 235, 22, 0.03},     /* Qwen3 (arXiv:2505.09388) */
    {"mixtral-8x7b", 46.7, 12.9, 0.03},     /* arXiv:2401.04088: 47 B, 13 B */
    {"llama-3.1-405b", 405.8, 403.7, 0.01}, /* arXiv:2407.21783; active: without the embedding */
    {"llama-3.1-8b", 8.03, 7.5, 0.01},
    {"llama-2-70b-lora", 69.0, 68.7, 0.01}, /* arXiv:2307.09288; 68.98 B as released */
    {"flux.1", 11.9, 6.5, 0.01},            /* 11.9 B as released; active: 57 × 12 h², by hand */
};

START_TEST(parameters_are_as_published) {
    const double all = parameters_of(published[_i].name, false) / 1e9;
    ck_assert_double_eq_tol(all, published[_i].parameters_e9, published[_i].parameters_e9 * published[_i].tolerance);
    const double active = active_of(published[_i].name) / 1e9;
    ck_assert_double_eq_tol(active, published[_i].active_e9, published[_i].active_e9 * published[_i].tolerance);
}
END_TEST

START_TEST(a_latent_attention_layer_by_hand) {
    const struct model_operations dense = model_shape_operations(
        model_shape_find("deepseek-v3"), experiment_preset_find("deepseek-v3"), MODEL_LAYER_DENSE, 4096);
    /* queries 7168·1536 + 1536·128·192, keys and values 7168·576 + 512·128·256, out 128·128·7168 */
    ck_assert_double_eq(dense.projections, 2.0 * (11010048 + 37748736 + 4128768 + 16777216 + 117440512));
    ck_assert_double_eq(dense.attention, 2.0 * 128 * (192 + 128) * 2048);
    ck_assert_double_eq(dense.dense, 2.0 * 3 * 7168 * 18432);
    ck_assert_double_eq(dense.experts + dense.router + dense.logits, 0);
}
END_TEST

START_TEST(adapters_are_all_that_is_trained) {
    const struct model_shape *shape = model_shape_find("llama-2-70b-lora");
    const struct experiment_preset *preset = experiment_preset_find("llama-2-70b-lora");
    const struct model_parameters layer = model_shape_parameters(shape, preset, MODEL_LAYER_DENSE);
    ck_assert_double_eq(80 * layer.trained, 44564480); // by hand: 16 × (8,192 + 10,240 + 8,192 + 8,192) each
    ck_assert_double_eq(model_shape_parameters(shape, preset, MODEL_LAYER_LOGITS).trained, 0);
    ck_assert_double_eq(model_shape_backward(shape), 1);
    const struct model_parameters all = model_shape_parameters(
        model_shape_find("llama-3.1-8b"), experiment_preset_find("llama-3.1-8b"), MODEL_LAYER_DENSE);
    ck_assert_double_eq(all.trained, all.shared);
    ck_assert_double_eq(model_shape_backward(model_shape_find("llama-3.1-8b")), 2);
}
END_TEST

START_TEST(images_see_the_whole_sequence) {
    const struct model_operations block =
        model_shape_operations(model_shape_find("flux.1"), experiment_preset_find("flux.1"), MODEL_LAYER_DENSE, 512);
    ck_assert_double_eq(block.attention, 2.0 * 24 * 256 * 512);
    ck_assert_double_eq(block.projections + block.dense, 2.0 * 12 * 3072 * 3072);
}
END_TEST

START_TEST(windows_shorten_every_second_layer) {
    const struct model_operations layer = model_shape_operations(
        model_shape_find("gpt-oss-20b"), experiment_preset_find("gpt-oss-20b"), MODEL_LAYER_MOE, 8192);
    ck_assert_double_eq(layer.attention, 2.0 * 64 * 128 * (4096 + 128) / 2);
}
END_TEST

START_TEST(layers_are_numbered_kind_by_kind) {
    const struct model_shape *shape = model_shape_find("deepseek-v3");
    const struct experiment_preset *preset = experiment_preset_find("deepseek-v3");
    const uint32_t last_of[] = {0, 3, 61, 62, 63}; // embedding, 3 dense, 58 with experts, prediction, logits
    for (uint32_t kind = 0, layer = 0; kind < MODEL_LAYER_KINDS; kind++) {
        for (; layer <= last_of[kind]; layer++) {
            ck_assert_int_eq(model_shape_kind(shape, preset, layer), kind);
        }
    }
    ck_assert_int_eq(model_shape_kind(model_shape_find("gpt-oss-20b"), experiment_preset_find("gpt-oss-20b"), 25),
                     MODEL_LAYER_LOGITS);
}
END_TEST

START_TEST(racks_add_up_to_their_data_sheets) {
    const struct gpu *gpu = gpu_find(EXPERIMENT_GPU_GB300);
    ck_assert_double_eq(72 * gpu->tflops[EXPERIMENT_PRECISION_NVFP4], 1080e3);
    ck_assert_double_eq(72 * gpu->tflops[EXPERIMENT_PRECISION_MXFP8], 360e3);
    ck_assert_double_eq(8 * gpu_find(EXPERIMENT_GPU_B200)->tflops[EXPERIMENT_PRECISION_NVFP4], 72e3);
    ck_assert_double_eq(8 * gpu_find(EXPERIMENT_GPU_B300)->tflops[EXPERIMENT_PRECISION_NVFP4], 105e3);
    ck_assert_double_eq(8 * gpu_find(EXPERIMENT_GPU_B300)->tflops[EXPERIMENT_PRECISION_FP8], 36e3);
    ck_assert_double_eq(gpu_find(EXPERIMENT_GPU_H100)->tflops[EXPERIMENT_PRECISION_MXFP8], 0);
    ck_assert_double_eq(gpu_find(EXPERIMENT_GPU_H100)->tflops[EXPERIMENT_PRECISION_NVFP4], 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("model-shape");
    TCase *tests = tcase_create("shapes");
    tcase_add_loop_test(tests, parameters_are_as_published, 0, (int)(sizeof published / sizeof *published));
    tcase_add_test(tests, a_latent_attention_layer_by_hand);
    tcase_add_test(tests, adapters_are_all_that_is_trained);
    tcase_add_test(tests, images_see_the_whole_sequence);
    tcase_add_test(tests, windows_shorten_every_second_layer);
    tcase_add_test(tests, layers_are_numbered_kind_by_kind);
    tcase_add_test(tests, racks_add_up_to_their_data_sheets);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
