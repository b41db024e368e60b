// SPDX-License-Identifier: GPL-3.0-or-later
/* Decode steps: published sizes of DeepSeek-V3, arithmetic on paper, and what must hold for any step. */
#include "config/experiment_preset.h"
#include "run_suite.h"
#include "sizing/decode.h"

#include <check.h>
#include <math.h>

static const struct experiment_training training = {.precision = EXPERIMENT_PRECISION_FP8,
                                                    .expert_precision = EXPERIMENT_PRECISION_FP8,
                                                    .attention_precision = EXPERIMENT_PRECISION_BF16,
                                                    .matrix_efficiency = 0.5,
                                                    .attention_efficiency = 0.5,
                                                    .expert_efficiency = 0.5};
static const struct experiment_decode overlapped = {
    .context_tokens = 5000, .overlap = true, .memory_efficiency = 0.8, .weight_bytes = 1, .cache_bytes = 2};

static struct decode_setup setup_of(const struct experiment_decode *decode) {
    return (struct decode_setup){.decode = decode,
                                 .training = &training,
                                 .preset = experiment_preset_find("deepseek-v3"),
                                 .shape = model_shape_find("deepseek-v3"),
                                 .gpu = gpu_find(EXPERIMENT_GPU_H800),
                                 .sequences = 64,
                                 .group = 128,
                                 .expert_load = 1,
                                 .exchange_s = 100e-6};
}

START_TEST(weights_and_cache_are_as_published) {
    struct experiment_decode decode = overlapped;
    struct decode_setup setup = setup_of(&decode);
    decode.context_tokens = 0;
    decode.overlap = false;
    setup.group = 1;
    const double weights =
        decode_step_of(&setup).memory_bytes; /* 671 billion parameters, without the prediction layer */
    ck_assert_double_eq_tol(weights, 671e9, 0.01 * 671e9);
    decode.context_tokens = 1000;
    setup.sequences = 1;
    /* 576 elements of 2 bytes in 61 layers: 70.3 KB a token (DeepSeek, arXiv:2505.09343, table 1: 70.272 KB) */
    ck_assert_double_eq_tol(decode_step_of(&setup).memory_bytes - weights, 70.272e6, 1e3);
}
END_TEST

START_TEST(a_window_is_all_that_every_second_layer_caches) {
    struct experiment_decode decode = overlapped;
    struct decode_setup setup = setup_of(&decode);
    setup.preset = experiment_preset_find("gpt-oss-20b");
    setup.shape = model_shape_find("gpt-oss-20b");
    setup.sequences = 1;
    setup.group = 8;
    decode.overlap = false;
    decode.context_tokens = 128;
    const double short_bytes = decode_step_of(&setup).memory_bytes;
    decode.context_tokens = 4096;
    /* 12 of 24 layers cache 3,968 tokens more: 8 heads of keys and values of 64, 2 bytes each */
    ck_assert_double_eq_tol(decode_step_of(&setup).memory_bytes - short_bytes, 12 * 3968.0 * 8 * 128 * 2, 1);
}
END_TEST

START_TEST(few_sequences_wait_for_memory) {
    struct experiment_decode decode = overlapped;
    struct decode_setup setup = setup_of(&decode);
    decode.context_tokens = 1;
    setup.sequences = 1;
    /* 2 experts of 3 × 7168 × 2048 bytes at 0.8 × 3.35 TB/s */
    ck_assert_double_eq_tol(decode_step_of(&setup).experts_s, 2 * 3 * 7168 * 2048 / 2.68e12, 1e-9);
    setup.sequences = 4096; /* 8 experts of 2 × 3 × 7168 × 2048 operations a token at half of 1,979 TFLOPS */
    ck_assert_double_eq_tol(decode_step_of(&setup).experts_s, 4096 * 8 * 2.0 * 3 * 7168 * 2048 / 989.5e12, 1e-9);
}
END_TEST

START_TEST(overlap_hides_what_is_shorter_than_computing) {
    struct decode_setup setup = setup_of(&overlapped);
    const struct decode_step step = decode_step_of(&setup);
    const double computing = step.attention_s + step.experts_s;
    setup.exchange_s = computing / 2;
    const struct decode_step hidden = decode_step_of(&setup);
    ck_assert_double_eq(hidden.exposed_s, 0);
    setup.exchange_s = 0;
    ck_assert_double_eq(decode_step_of(&setup).token_s, hidden.token_s);
    setup.exchange_s = computing + 50e-6;
    const struct decode_step exposed = decode_step_of(&setup);
    ck_assert_double_eq_tol(exposed.exposed_s, 50e-6, 1e-12);
    ck_assert_double_eq_tol(exposed.token_s - hidden.token_s, 2 * 58 * 50e-6,
                            1e-9); /* two micro-batches, 58 layers with experts */
    ck_assert_double_eq_tol(exposed.tokens_per_s * exposed.token_s, 128, 1e-9);
}
END_TEST

START_TEST(without_overlap_a_layer_waits_for_its_exchange) {
    struct experiment_decode decode = overlapped;
    decode.overlap = false;
    struct decode_setup setup = setup_of(&decode);
    const double with_s = decode_step_of(&setup).token_s;
    setup.exchange_s = 0;
    ck_assert_double_eq_tol(with_s - decode_step_of(&setup).token_s, 58 * 100e-6, 1e-9);
    ck_assert_double_eq_tol(decode_step_of(&setup).tokens_per_s * decode_step_of(&setup).token_s, 64, 1e-9);
}
END_TEST

/* More to do never takes less time, and more GPUs to share experts never more memory. */
START_TEST(more_work_is_never_faster) {
    struct experiment_decode decode = overlapped;
    for (uint32_t context = 1; context < 100000; context *= 3) {
        decode.context_tokens = context;
        struct decode_setup setup = setup_of(&decode);
        const struct decode_step step = decode_step_of(&setup);
        setup.expert_load = 2;
        ck_assert_double_ge(decode_step_of(&setup).token_s, step.token_s);
        setup.expert_load = 1;
        setup.exchange_s *= 4;
        ck_assert_double_ge(decode_step_of(&setup).token_s, step.token_s);
        setup.exchange_s /= 4;
        setup.group *= 2;
        ck_assert_double_lt(decode_step_of(&setup).memory_bytes, step.memory_bytes);
        setup.group /= 2;
        decode.context_tokens *= 2;
        ck_assert_double_ge(decode_step_of(&setup).token_s, step.token_s);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("decode");
    TCase *tests = tcase_create("decode");
    tcase_add_test(tests, weights_and_cache_are_as_published);
    tcase_add_test(tests, a_window_is_all_that_every_second_layer_caches);
    tcase_add_test(tests, few_sequences_wait_for_memory);
    tcase_add_test(tests, overlap_hides_what_is_shorter_than_computing);
    tcase_add_test(tests, without_overlap_a_layer_waits_for_its_exchange);
    tcase_add_test(tests, more_work_is_never_faster);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
