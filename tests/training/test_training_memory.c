// SPDX-License-Identifier: GPL-3.0-or-later
/* What a GPU holds of DeepSeek-V3 and what its optimiser moves, by hand. */
#include "fixture.h"
#include "run_suite.h"
#include "training/training_memory.h"

#include <stdlib.h>

static struct experiment experiment;

static struct training_setup setup_of(uint32_t gpus, uint32_t stages) {
    fixture_deepseek_v3(&experiment);
    experiment.training.gpus = gpus;
    experiment.training.pipeline_parallelism = stages;
    experiment.training.virtual_stages = 1;
    experiment.training.schedule = EXPERIMENT_SCHEDULE_1F1B;
    experiment.training.gradient_bytes = 4;
    return fixture_setup(&experiment);
}

/* Of attention: both ranks and the key's rope, queries, keys, values and outputs of 128 heads, and a statistic of each. */
static double attention_bytes(bool again) {
    const double ranks = 2 * (1536 + 512 + 64), out = 2 * 128 * 128 + 4 * 128, made = 2 * 128 * (192 + 192 + 128);
    return ranks + out + (again ? 0 : made);
}

START_TEST(a_layer_keeps_what_its_backward_pass_needs) {
    const struct training_setup setup = setup_of(64, 1);
    /* inputs of two norms and of attention's parts; the input of each feed-forward part in MXFP8, gate and value in BF16, what comes of them in MXFP8 */
    const double feed = 7168 + 2 * 2 * 2048 + 2048;
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_MOE),
                        2 * 2 * 7168 + attention_bytes(false) + 4 * 256 + 8 * feed + feed);
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_DENSE),
                        2 * 2 * 7168 + attention_bytes(false) + 7168 + 2 * 2 * 18432 + 18432);
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_LOGITS), 2 * 7168 + 4 * 129280);
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_EMBEDDING), 0);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_OPERATORS; // gate and value in MXFP8, no activation
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_DENSE),
                        2 * 2 * 7168 + attention_bytes(true) + 7168 + 2 * 18432);
    experiment.training.recompute = EXPERIMENT_RECOMPUTE_LAYERS;
    ck_assert_double_eq(training_memory_layer_bytes(&setup, MODEL_LAYER_MOE), 2 * 7168);
}
END_TEST

static double layers_bytes(const struct training_setup *setup, uint32_t first, uint32_t end) {
    double sum = 0;
    for (uint32_t i = first; i < end; i++) {
        sum += training_memory_layer_bytes(setup, model_shape_kind(setup->shape, setup->preset, i));
    }
    return sum;
}

/* Two stages on 128 GPUs: copies share the optimiser of all but experts, of which there is one. Two micro-batches are on the way through the first stage. */
START_TEST(the_fullest_stage_is_told) {
    const struct training_setup setup = setup_of(128, 2);
    uint32_t first[] = {0, 32, 64};
    const struct pipeline_layout layout = {.n_parts = 2, .first = first};
    const struct training_memory memory = training_memory_most(&setup, &layout);
    const struct model_parameters held = training_memory_held(&setup, 0, 32);
    ck_assert_double_eq_tol(held.experts, 28 * 256 * 3.0 * 7168 * 2048 / 64, 1); // 28 layers' on 64 GPUs
    ck_assert_double_eq(memory.passes, 2);
    ck_assert_double_eq_tol(memory.weights, 2 * (held.shared + held.experts), 1);
    ck_assert_double_eq_tol(memory.gradients, 4 * (held.trained + held.experts), 1);
    ck_assert_double_eq_tol(memory.optimiser, 12 * (held.trained / 64 + held.experts), 1);
    ck_assert_double_eq_tol(memory.activations, 2 * 4096 * layers_bytes(&setup, 0, 32), 1);
    ck_assert_double_eq(training_memory_sum(&memory),
                        memory.weights + memory.gradients + memory.optimiser + memory.activations);
}
END_TEST

/* A state read and written, a gradient read twice, a weight written; all gradients set to zero. */
START_TEST(the_optimiser_moves_its_share) {
    const struct training_setup setup = setup_of(128, 2);
    const struct model_parameters held = {.shared = 640, .trained = 640, .experts = 100};
    ck_assert_double_eq(training_memory_optimiser_bytes(&setup, &held),
                        (10 + 100) * (2 * 12 + 2 * 4 + 2) + (640 + 100) * 4);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("training-memory");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, a_layer_keeps_what_its_backward_pass_needs);
    tcase_add_test(tests, the_fullest_stage_is_told);
    tcase_add_test(tests, the_optimiser_moves_its_share);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
