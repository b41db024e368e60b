// SPDX-License-Identifier: GPL-3.0-or-later
/* Who is beside whom in an NVLink domain, and what sharing a layer or a sequence costs, against figures by hand. */
#include "fixture.h"
#include "run_suite.h"
#include "training/parallel_exchange.h"

#include <string.h>

static struct experiment experiment;

/* Llama 3.1 405B on 4,096 GPUs of racks of 72: tensor 4, context 2, pipeline 8. */
static void describe(void) {
    memset(&experiment, 0, sizeof experiment);
    strcpy(experiment.model.preset, "llama-3.1-405b");
    experiment.topology = fixture_rack(1);
    experiment.training = (struct experiment_training){.gpus = 4096,
                                                       .tensor_parallelism = 4,
                                                       .context_parallelism = 2,
                                                       .pipeline_parallelism = 8,
                                                       .virtual_stages = 1,
                                                       .micro_batch = 1,
                                                       .global_batch = 1024};
}

static struct training_groups groups_of(void) {
    struct training_groups groups;
    struct error error = {0};
    ck_assert_msg(training_groups_fill(&groups, &experiment, &error), "%s", error.message);
    groups.nvlink_bytes_per_s = 720e9;
    return groups;
}

START_TEST(a_dense_model_needs_no_exchange_to_agree_with) {
    describe();
    const struct training_groups groups = groups_of();
    ck_assert_uint_eq(groups.data, 64);
    ck_assert_uint_eq(groups.replicas, 128);
    ck_assert_uint_eq(groups.expert, 1);
    ck_assert_uint_eq(groups.micro_batches, 16);
    ck_assert_uint_eq(groups.tokens, 1024);
}
END_TEST

START_TEST(copies_or_stages_share_a_domain_as_the_order_says) {
    describe();
    struct training_groups groups = groups_of(); // a stage has 512 GPUs that follow each other
    ck_assert_uint_eq(groups.stage_in_domain, 64);
    ck_assert(!groups.pipeline_in_domain);
    experiment.training.group_order = EXPERIMENT_GROUP_ORDER_PIPELINE_DATA;
    groups = groups_of(); // eight stages of eight GPUs each
    ck_assert_uint_eq(groups.stage_in_domain, 8);
    ck_assert(groups.pipeline_in_domain);
    experiment.training.pipeline_parallelism = 4;
    groups = groups_of(); // twice four stages of eight
    ck_assert_uint_eq(groups.stage_in_domain, 16);
    experiment.training.pipeline_parallelism = 16;
    groups = groups_of(); // a pipeline is longer than a domain
    ck_assert_uint_eq(groups.stage_in_domain, 8);
    ck_assert(!groups.pipeline_in_domain);
}
END_TEST

/* Mixtral over 96 GPUs, groups of 12 for experts and of 8 for layers: 24 follow each other in a stage. */
START_TEST(groups_of_layers_and_experts_that_overlap_are_one_block) {
    describe();
    strcpy(experiment.model.preset, "mixtral-8x7b");
    experiment.traffic.expert_parallelism = 12;
    experiment.traffic.tokens_per_gpu = 512;
    experiment.training.sequence_tokens = 4096;
    experiment.training.gpus = 96;
    experiment.training.pipeline_parallelism = 2;
    experiment.training.global_batch = 1020;
    experiment.training.group_order = EXPERIMENT_GROUP_ORDER_PIPELINE_DATA;
    const struct training_groups groups = groups_of();
    ck_assert_uint_eq(groups.block, 24);
    ck_assert_uint_eq(groups.stage_in_domain, 24); // of 64 GPUs: twice 48 do not fit
    ck_assert(groups.pipeline_in_domain);
}
END_TEST

START_TEST(groups_that_do_not_divide_a_domain_reach_beyond_it) {
    const struct training_groups groups = {.gpus_per_domain = 72};
    ck_assert(training_groups_in_domain(&groups, 8, 1));
    ck_assert(training_groups_in_domain(&groups, 9, 8));
    ck_assert(!training_groups_in_domain(&groups, 16, 1));
    ck_assert(!training_groups_in_domain(&groups, 144, 1));
}
END_TEST

START_TEST(tensor_collectives_hide_all_but_one_piece) {
    describe();
    const struct training_groups groups = groups_of();
    const double whole_ps = 2.0 * 2 * 0.75 * 4096 * 16384 * 2 / 720e9 * 1e12; // around attention and feed-forward
    ck_assert_double_eq_tol((double)parallel_exchange_tensor_ps(&groups, 2, 16384, 0), whole_ps, 1);
    ck_assert_double_eq_tol((double)parallel_exchange_tensor_ps(&groups, 2, 16384, UINT64_C(10000000000)), whole_ps / 4,
                            1);
    const uint64_t half_ps = (uint64_t)(whole_ps / 2); // computing of half the time hides three quarters of itself
    ck_assert_double_eq_tol((double)parallel_exchange_tensor_ps(&groups, 2, 16384, half_ps),
                            whole_ps / 4 + whole_ps / 2 * 0.75, 2);
}
END_TEST

static double context_us(const struct training_groups *groups, enum experiment_context_exchange exchange, bool backward,
                         double attention_us) {
    return (double)parallel_exchange_context_ps(groups, model_shape_find("llama-3.1-405b"), exchange, backward,
                                                (uint64_t)(attention_us * 1e6)) /
           1e6;
}

START_TEST(keys_and_values_by_hand) {
    describe();
    experiment.training.context_parallelism = 8;
    const struct training_groups groups = groups_of(); // 256 tokens a GPU
    const double own_us = 256 * 8 * 256 * 2 / 720e9 * 1e6;
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_ALL_GATHER, false, 0), 7 * own_us, 1e-6);
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_ALL_GATHER, true, 0), 14 * own_us, 1e-6);
    /* a ring is hidden by as much computing a turn, and shows what is longer */
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_RING, false, 8 * own_us * 1.001), 0, 1e-6);
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_RING, true, 8 * own_us), 7 * own_us, 1e-5);
    /* queries and outputs of 128 heads go with keys and values of 8 */
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_ALL_TO_ALL, false, 0), 7.0 / 8 * own_us * 17, 1e-6);
    ck_assert_uint_eq(parallel_exchange_context_ps(&groups, NULL, EXPERIMENT_CONTEXT_ALL_GATHER, false, 0), 0);
}
END_TEST

START_TEST(beyond_a_domain_keys_and_values_take_the_nic) {
    describe();
    experiment.training.context_parallelism = 32;
    const struct training_groups groups = groups_of(); // 128 GPUs share a sequence
    const double own_us = 64 * 8 * 256 * 2 / (50e9 * 4096 / 4160) * 1e6;
    ck_assert_double_eq_tol(context_us(&groups, EXPERIMENT_CONTEXT_ALL_GATHER, false, 0), 31 * own_us, 1e-5);
}
END_TEST

START_TEST(groups_are_worked_out) {
    fixture_deepseek_v3(&experiment);
    const struct training_groups groups = groups_of();
    ck_assert_uint_eq(groups.data, 64);
    ck_assert_uint_eq(groups.expert_data, 1);
    ck_assert_uint_eq(groups.micro_batches, 8);
    ck_assert_uint_eq(groups.tokens, 4096);
    ck_assert_double_eq_tol(groups.nic_bytes_per_s, 100e9 * 4096 / 4160, 1);
}
END_TEST

static void change_gpus(void) {
    experiment.training.gpus = 255;
}
static void change_experts(void) {
    experiment.traffic.expert_parallelism = 48;
}
static void change_batch(void) {
    experiment.training.global_batch = 500;
}
static void change_rounds(void) {
    experiment.training.global_batch = 64 * 6;
}
static void change_tokens(void) {
    experiment.traffic.tokens_per_gpu = 1024;
}
static void change_sequence(void) {
    experiment.training.sequence_tokens = 4096 * 17; // with so many sequences 2^32 + 4,096 tokens
    experiment.training.micro_batch = 61681;
    experiment.training.global_batch = 64 * 61681 * 4;
}
static void change_tensor(void) {
    experiment.training.tensor_parallelism = 3;
    experiment.training.gpus = 768;
}

static const struct {
    void (*change)(void);
    const char *message;
} broken[] = {
    {change_gpus,
     "tensor 1 × context 1 × pipeline 4 parallelism = 4 GPUs for a copy of the model do not divide the 255 GPUs"},
    {change_experts, "GPUs of an expert-parallel group (48) do not divide the GPUs of a pipeline stage (64)"},
    {change_batch, "data-parallel copies × training.micro_batch (64) do not divide training.global_batch (500)"},
    {change_rounds, "pipeline stages (4) do not divide the micro-batches of a copy (6)"},
    {change_tokens, "4096 tokens of a sequence × 1 sequences ÷ 1 tensor-parallel GPUs = 4096 tokens, "
                    "traffic.tokens_per_gpu says 1024"},
    {change_sequence, "1 tensor-parallel GPUs = 4294971392 tokens, traffic.tokens_per_gpu says 4096"},
    {change_tensor, "training.tensor_parallelism GPUs (3) do not divide the tokens of a micro-batch (4096)"},
};

START_TEST(what_does_not_divide_is_refused_with_the_arithmetic) {
    struct training_groups groups;
    struct error error = {0};
    fixture_deepseek_v3(&experiment);
    broken[_i].change();
    ck_assert(!training_groups_fill(&groups, &experiment, &error));
    ck_assert_msg(strstr(error.message, broken[_i].message) != NULL, "%s", error.message);
}
END_TEST

START_TEST(too_few_gpus_for_a_copy_are_told_how_many_it_takes) {
    struct training_groups groups;
    struct error error = {0};
    fixture_deepseek_v3(&experiment);
    experiment.training.gpus = 3;
    ck_assert(!training_groups_fill(&groups, &experiment, &error));
    ck_assert_str_eq(error.hint, "one copy takes 4 GPUs");
    fixture_deepseek_v3(&experiment);
    change_batch();
    ck_assert(!training_groups_fill(&groups, &experiment, &error));
    ck_assert_str_eq(error.hint, "they divide 448 and 512");
}
END_TEST

START_TEST(tokens_of_more_than_32_bits_are_not_cut) {
    struct training_groups groups;
    struct error error = {0};
    fixture_deepseek_v3(&experiment);
    experiment.training.virtual_stages = 1;
    experiment.training.sequence_tokens = 65537;
    experiment.training.micro_batch = 65536;
    experiment.training.global_batch = 64 * 65536;
    experiment.traffic.tokens_per_gpu = 65536; // 65,537 × 65,536 modulo 2^32
    ck_assert(!training_groups_fill(&groups, &experiment, &error));
    ck_assert_msg(strstr(error.message, "= 4295032832 tokens, traffic.tokens_per_gpu says 65536") != NULL, "%s",
                  error.message);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("training-groups");
    TCase *tests = tcase_create("groups");
    tcase_add_test(tests, a_dense_model_needs_no_exchange_to_agree_with);
    tcase_add_test(tests, copies_or_stages_share_a_domain_as_the_order_says);
    tcase_add_test(tests, groups_of_layers_and_experts_that_overlap_are_one_block);
    tcase_add_test(tests, groups_that_do_not_divide_a_domain_reach_beyond_it);
    tcase_add_test(tests, tensor_collectives_hide_all_but_one_piece);
    tcase_add_test(tests, keys_and_values_by_hand);
    tcase_add_test(tests, beyond_a_domain_keys_and_values_take_the_nic);
    tcase_add_test(tests, groups_are_worked_out);
    tcase_add_loop_test(tests, what_does_not_divide_is_refused_with_the_arithmetic, 0,
                        (int)(sizeof broken / sizeof *broken));
    tcase_add_test(tests, too_few_gpus_for_a_copy_are_told_how_many_it_takes);
    tcase_add_test(tests, tokens_of_more_than_32_bits_are_not_cut);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
