// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/model.h"

#include "config/experiment_preset.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(token_bytes_are_those_of_the_kernels) {
    ck_assert_uint_eq(model_token_bytes(EXPERIMENT_TYPE_FP8, 7168), 7392);
    ck_assert_uint_eq(model_token_bytes(EXPERIMENT_TYPE_BF16, 7168), 14336);
    ck_assert_uint_eq(model_token_bytes(EXPERIMENT_TYPE_NVFP4, 7168), 4032);
}
END_TEST

START_TEST(started_scale_blocks_count_whole) {
    ck_assert_uint_eq(model_token_bytes(EXPERIMENT_TYPE_FP8, 2880), 2880 + 23 * 4);
    ck_assert_uint_eq(model_token_bytes(EXPERIMENT_TYPE_NVFP4, 17), 9 + 2);
}
END_TEST

START_TEST(preset_fills_what_is_not_given) {
    struct experiment_model given = {.preset = "deepseek-v3", .experts = 288}, resolved;
    ck_assert(model_resolve(&given, &resolved, NULL));
    ck_assert_uint_eq(resolved.hidden, 7168);
    ck_assert_uint_eq(resolved.experts, 288);
    ck_assert_uint_eq(resolved.top_k, 8);
    ck_assert_uint_eq(resolved.groups, 8);
    ck_assert_uint_eq(resolved.groups_kept, 4);
    given = (struct experiment_model){.preset = "gpt-oss-20b"};
    ck_assert(model_resolve(&given, &resolved, NULL));
    ck_assert_uint_eq(resolved.hidden, 2880);
    ck_assert_uint_eq(resolved.experts, 32);
    ck_assert_uint_eq(resolved.top_k, 4);
    ck_assert_uint_eq(resolved.groups, 1);
}
END_TEST

START_TEST(every_preset_is_found_by_name_and_possible) {
    for (uint32_t i = 0; experiment_preset_names[i] != NULL; i++) {
        struct experiment_model given = {0}, resolved;
        const struct experiment_preset *preset = experiment_preset_find(experiment_preset_names[i]);
        snprintf(given.preset, sizeof given.preset, "%s", experiment_preset_names[i]);
        ck_assert_uint_gt(preset->layers, 0);
        ck_assert_ptr_nonnull(preset->source);
        ck_assert_int_eq(preset->moe_layers > 0, preset->experts > 0);
        ck_assert_int_eq(model_resolve(&given, &resolved, NULL), preset->experts > 0);
        if (preset->experts == 0) { // dense
            ck_assert_uint_gt(resolved.hidden, 0);
            continue;
        }
        ck_assert_uint_le(resolved.top_k, resolved.experts);
        ck_assert_uint_eq(resolved.experts % resolved.groups, 0);
        ck_assert_uint_le(resolved.groups_kept, resolved.groups);
        ck_assert_uint_eq(resolved.hidden % 64, 0);
    }
}
END_TEST

START_TEST(unknown_preset_is_named_with_the_known_ones) {
    const struct experiment_model given = {.preset = "deepseek-v4"};
    struct experiment_model resolved;
    struct error error;
    ck_assert(!model_resolve(&given, &resolved, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_ptr_nonnull(strstr(error.message, "deepseek-v4"));
    ck_assert_ptr_nonnull(strstr(error.hint, "deepseek-v3"));
    ck_assert_ptr_nonnull(strstr(error.hint, "qwen2-57b-a14b"));
}
END_TEST

START_TEST(model_without_preset_needs_its_sizes) {
    const struct experiment_model given = {.hidden = 1024, .experts = 16};
    struct experiment_model resolved;
    struct error error;
    ck_assert(!model_resolve(&given, &resolved, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    const struct experiment_model whole = {.hidden = 1024, .experts = 16, .top_k = 2};
    ck_assert(model_resolve(&whole, &resolved, &error));
    ck_assert_uint_eq(resolved.groups, 1);
    ck_assert_uint_eq(resolved.groups_kept, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("model");
    TCase *cases = tcase_create("model");
    tcase_add_test(cases, token_bytes_are_those_of_the_kernels);
    tcase_add_test(cases, started_scale_blocks_count_whole);
    tcase_add_test(cases, preset_fills_what_is_not_given);
    tcase_add_test(cases, every_preset_is_found_by_name_and_possible);
    tcase_add_test(cases, unknown_preset_is_named_with_the_known_ones);
    tcase_add_test(cases, model_without_preset_needs_its_sizes);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
