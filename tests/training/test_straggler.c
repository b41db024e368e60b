// SPDX-License-Identifier: GPL-3.0-or-later
/* Slow GPUs: whom they hold up, and what a step takes then. */
#include "fixture.h"
#include "run_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct experiment experiment;

/* DeepSeek-V3 on 512 GPUs: two stages of four groups of 64. */
static struct training_setup setup_of(void) {
    fixture_deepseek_v3(&experiment);
    experiment.training.gpus = 512;
    experiment.training.pipeline_parallelism = 2;
    experiment.training.virtual_stages = 1;
    experiment.training.global_batch = 2048;
    experiment.training.schedule = EXPERIMENT_SCHEDULE_1F1B;
    return fixture_setup(&experiment);
}

static struct straggler_copies copies_of(const struct training_setup *setup, const char *slow, double clock,
                                         const double *loads) {
    struct straggler_copies copies;
    struct error error = {0};
    snprintf(experiment.training.stragglers.slow_gpus, sizeof experiment.training.stragglers.slow_gpus, "%s", slow);
    experiment.training.stragglers.slow_gpu_clock = clock;
    ck_assert_msg(straggler_copies_fill(&copies, &experiment.training.stragglers, &setup->groups,
                                        experiment.training.group_order, loads, &error),
                  "%s", error.message);
    return copies;
}

static double step_s(struct training_setup *setup, const struct straggler_copies *copies) {
    setup->copies = copies;
    struct training_result result = fixture_step(setup);
    const double seconds = (double)result.step_ps / 1e12;
    training_result_fini(&result);
    return seconds;
}

START_TEST(a_slow_gpu_holds_up_its_group_and_stage) {
    const struct training_setup setup = setup_of();
    struct straggler_copies copies = copies_of(&setup, "300", 0.8, NULL); // stage 1, whose first GPU is 256
    ck_assert_uint_eq(copies.n, 1);                                       // the other copies are no slower anywhere
    ck_assert_double_eq_tol(copies.slowness[0].dense, 1, 1e-12);
    ck_assert_double_eq_tol(copies.slowness[1].dense, 1.25, 1e-12);
    ck_assert_double_eq_tol(copies.slowness[1].experts, 1.25, 1e-12);
    straggler_copies_fini(&copies);
}
END_TEST

START_TEST(slow_gpus_of_two_copies_do_not_add_up) {
    struct training_setup setup = setup_of();
    const double all_s = step_s(&setup, NULL);
    struct straggler_copies one = copies_of(&setup, "0", 0.8, NULL);
    const double one_s = step_s(&setup, &one);
    struct straggler_copies two =
        copies_of(&setup, "0, 300, 320", 0.8, NULL); // 0: copy 0, stage 0; 300: copy 0, stage 1
    ck_assert_uint_eq(two.n, 1);
    const double two_s = step_s(&setup, &two);
    struct straggler_copies apart = copies_of(&setup, "0, 340", 0.8, NULL); // 340: copy 1, stage 1
    ck_assert_uint_eq(apart.n, 2);
    const double apart_s = step_s(&setup, &apart);
    ck_assert_double_gt(one_s, all_s * 1.01);
    ck_assert_double_gt(two_s, one_s * 1.01);
    ck_assert_double_lt(apart_s, two_s);
    ck_assert_double_ge(apart_s, one_s);
    straggler_copies_fini(&one);
    straggler_copies_fini(&two);
    straggler_copies_fini(&apart);
}
END_TEST

START_TEST(all_gpus_at_half_their_clock_compute_twice_as_long) {
    struct training_setup setup = setup_of();
    experiment.training.gradient_bytes = experiment.training.parameter_bytes = 0;
    experiment.training.memory_efficiency = 1e9; // the optimiser goes by memory, not by the clock
    setup.groups.nic_bytes_per_s = setup.groups.nvlink_bytes_per_s = 1e18;
    const double all_s = step_s(&setup, NULL);
    struct straggler_copies copies = copies_of(&setup, "all", 0.5, NULL);
    ck_assert_double_eq_tol(step_s(&setup, &copies) / all_s, 2, 1e-4); // but for the latencies of collectives
    straggler_copies_fini(&copies);
}
END_TEST

START_TEST(a_slow_gpu_with_few_tokens_costs_less) {
    const struct training_setup setup = setup_of();
    double loads[64];
    for (int i = 0; i < 64; i++) {
        loads[i] = i == 7 ? 200 : 100;
    }
    struct straggler_copies idle = copies_of(&setup, "5", 0.8, loads);
    ck_assert_double_eq_tol(idle.slowness[0].dense, 1.25, 1e-12);
    ck_assert_double_eq_tol(idle.slowness[0].experts, 1, 1e-12); // 125 of GPU 5 against 200 of GPU 7
    struct straggler_copies busy = copies_of(&setup, "7", 0.8, loads);
    ck_assert_double_eq_tol(busy.slowness[0].experts, 1.25, 1e-12);
    straggler_copies_fini(&idle);
    straggler_copies_fini(&busy);
}
END_TEST

START_TEST(the_order_of_groups_says_which_stage_is_held_up) {
    struct training_setup setup = setup_of();
    experiment.training.group_order = EXPERIMENT_GROUP_ORDER_PIPELINE_DATA; // stages follow each other group by group
    struct straggler_copies copies = copies_of(&setup, "64", 0.8, NULL);
    ck_assert_double_eq_tol(copies.slowness[0].dense, 1, 1e-12);
    ck_assert_double_eq_tol(copies.slowness[1].dense, 1.25, 1e-12);
    straggler_copies_fini(&copies);
}
END_TEST

/* Experts over 12 GPUs, layers over 8: the second of these has GPUs of both groups of experts, so all 24 of a stage wait for each other. */
START_TEST(groups_that_share_a_gpu_wait_for_each_other) {
    struct training_setup setup = setup_of();
    setup.groups = (struct training_groups){
        .gpus = 48, .tensor = 8, .context = 1, .data = 3, .expert = 12, .pipeline = 2, .block = 24};
    struct straggler_copies copies = copies_of(&setup, "0, 37", 0.8, NULL); // of each stage one, in another group
    ck_assert_uint_eq(copies.n, 1);
    ck_assert_double_eq_tol(copies.slowness[0].dense, 1.25, 1e-12);
    ck_assert_double_eq_tol(copies.slowness[1].dense, 1.25, 1e-12);
    straggler_copies_fini(&copies);
}
END_TEST

/* Copies that cannot be the slowest are not tried: the answer is that of trying each. */
START_TEST(the_slowest_copy_is_found_without_trying_all) {
    static const enum experiment_schedule schedules[] = {EXPERIMENT_SCHEDULE_1F1B, EXPERIMENT_SCHEDULE_INTERLEAVED,
                                                         EXPERIMENT_SCHEDULE_1F1B_OVERLAP};
    struct training_setup setup = setup_of();
    experiment.training.virtual_stages = 2;
    for (int i = 0; i < 6; i++) {
        experiment.training.schedule = schedules[i % 3];
        experiment.training.stragglers.clock_deviation = i < 3 ? 0.01 : 0.1;
        experiment.training.gpus = 4096;
        experiment.training.pipeline_parallelism = 8;
        experiment.training.global_batch = 512 * 16;
        setup = fixture_setup(&experiment);
        struct straggler_copies copies = copies_of(&setup, "", 1, NULL);
        ck_assert_uint_ge(copies.n, 8);
        double slowest_s = 0;
        for (uint32_t copy = 0; copy < copies.n; copy++) {
            const struct straggler_copies one = {
                .n = 1, .stages = copies.stages, .slowness = copies.slowness + (size_t)copy * copies.stages};
            slowest_s = fmax(slowest_s, step_s(&setup, &one));
        }
        ck_assert_double_eq(step_s(&setup, &copies), slowest_s);
        straggler_copies_fini(&copies);
    }
}
END_TEST

/* The smallest of 64 normal values lies 2.39 standard deviations below the mean (Harter 1961: 2.3898 for n = 64). */
START_TEST(the_slowest_clock_of_a_group_is_where_order_statistics_put_it) {
    const struct training_setup setup = setup_of();
    double sum = 0;
    enum { DRAWS = 400 };
    experiment.training.stragglers.clock_deviation = 0.01;
    for (uint32_t seed = 0; seed < DRAWS; seed++) {
        struct error error;
        double least = 1;
        experiment.training.stragglers.seed = seed;
        double *clocks = straggler_clocks(&experiment.training.stragglers, 64, &error);
        for (int i = 0; i < 64; i++) {
            least = fmin(least, clocks[i]);
        }
        free(clocks);
        sum += (1 - least) / 0.01 / DRAWS;
    }
    ck_assert_double_eq_tol(sum, 2.39, 4 * 0.45 / 20); // its standard deviation is 0.45
    struct straggler_copies copies = copies_of(&setup, "", 1, NULL);
    ck_assert_uint_ge(copies.n, 1);
    ck_assert_uint_le(copies.n, 4);
    straggler_copies_fini(&copies);
}
END_TEST

START_TEST(no_clock_is_drawn_that_stands_still) {
    struct error error;
    const struct experiment_stragglers stragglers = {.slow_gpu_clock = 1, .clock_deviation = 0.3, .seed = 1};
    enum { GPUS = 20000 }; // of which sixteen would be beyond 3.17 standard deviations
    double least = 1, *clocks = straggler_clocks(&stragglers, GPUS, &error);
    for (int i = 0; i < GPUS; i++) {
        least = fmin(least, clocks[i]);
    }
    ck_assert_double_eq(least, 0.05);
    free(clocks);
}
END_TEST

static bool at_once(void) {
    return true;
}

/* Two copies, each slower in one stage: the step is that of the slower one, and is given up where it is asked to. */
START_TEST(the_search_of_the_slowest_copy_finds_it_and_can_be_stopped) {
    struct training_setup setup = setup_of();
    struct straggler_slowness slowness[] = {{1.2, 1.2}, {1, 1}, {1, 1}, {1.3, 1.3}};
    struct straggler_copies first = {slowness, 1, 2}, second = {slowness + 2, 1, 2}, both = {slowness, 2, 2};
    const double slower_s = fmax(step_s(&setup, &first), step_s(&setup, &second));
    ck_assert_double_eq(step_s(&setup, &both), slower_s);
    struct training_result result;
    struct error error = {0};
    setup.stop = at_once;
    ck_assert(!training_step(&setup, NULL, NULL, &result, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INTERRUPTED);
}
END_TEST

START_TEST(gpus_that_do_not_exist_are_refused) {
    const struct training_setup setup = setup_of();
    struct straggler_copies copies;
    struct error error = {0};
    strcpy(experiment.training.stragglers.slow_gpus, "512");
    ck_assert(!straggler_copies_fill(&copies, &experiment.training.stragglers, &setup.groups, 0, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "training.stragglers.slow_gpus"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("straggler");
    TCase *cases = tcase_create("straggler");
    tcase_add_test(cases, a_slow_gpu_holds_up_its_group_and_stage);
    tcase_add_test(cases, slow_gpus_of_two_copies_do_not_add_up);
    tcase_add_test(cases, all_gpus_at_half_their_clock_compute_twice_as_long);
    tcase_add_test(cases, a_slow_gpu_with_few_tokens_costs_less);
    tcase_add_test(cases, the_order_of_groups_says_which_stage_is_held_up);
    tcase_add_test(cases, groups_that_share_a_gpu_wait_for_each_other);
    tcase_add_test(cases, the_slowest_clock_of_a_group_is_where_order_statistics_put_it);
    tcase_add_test(cases, the_slowest_copy_is_found_without_trying_all);
    tcase_add_test(cases, no_clock_is_drawn_that_stands_still);
    tcase_add_test(cases, the_search_of_the_slowest_copy_finds_it_and_can_be_stopped);
    tcase_add_test(cases, gpus_that_do_not_exist_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
