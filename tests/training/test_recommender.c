// SPDX-License-Identifier: GPL-3.0-or-later
/* A recommender's tables on GPUs, and its step, against sums made by hand. */
#include "fixture.h"
#include "run_suite.h"
#include "training/recommender.h"

#include <string.h>

#define SAMPLES 135168.0 /* a step of 64 GPUs, as submitted */
#define RATE (8e12 * 0.9)

static struct experiment experiment;

static struct training_setup describe(uint32_t gpus) {
    memset(&experiment, 0, sizeof experiment);
    strcpy(experiment.model.preset, "dlrm-dcnv2");
    experiment.topology = fixture_rack(1);
    experiment.training = (struct experiment_training){.gpus = gpus,
                                                       .gpu = EXPERIMENT_GPU_GB200,
                                                       .tensor_parallelism = 1,
                                                       .context_parallelism = 1,
                                                       .pipeline_parallelism = 1,
                                                       .micro_batch = 1,
                                                       .global_batch = 2112 * gpus,
                                                       .precision = EXPERIMENT_PRECISION_BF16,
                                                       .matrix_efficiency = 0.5,
                                                       .memory_efficiency = 0.9,
                                                       .gradient_bytes = 2,
                                                       .gradient_collective = EXPERIMENT_COLLECTIVE_NVLS,
                                                       .optimiser_state_bytes = 8,
                                                       .cuda_graphs = true};
    struct training_setup setup = fixture_setup(&experiment);
    setup.recommender = recommender_shape_find("dlrm-dcnv2");
    return setup;
}

static struct training_setup described(uint64_t exchange_ps) {
    struct training_setup setup = describe(64);
    setup.exchange.phase_ps[TRAINING_COMBINE] = setup.exchange.phase_ps[TRAINING_COMBINE_BACKWARD] = exchange_ps;
    return setup;
}

static double step_s(const struct training_setup *setup) {
    struct training_result result = fixture_step(setup);
    const double seconds = (double)result.step_ps / 1e12;
    training_result_fini(&result);
    return seconds;
}

/* ---- the model ---- */

START_TEST(the_model_is_that_of_the_benchmark) {
    const struct recommender_shape *shape = recommender_shape_find("dlrm-dcnv2");
    ck_assert_uint_eq(shape->n_tables, 26);
    ck_assert_uint_eq(recommender_shape_looked_up(shape), 214); // columns of its data, mlcommons' reference
    ck_assert_double_eq(recommender_shape_embeddings(shape), 204184588.0 * 128);
    ck_assert_ptr_null(recommender_shape_find("llama-3.1-8b"));
}
END_TEST

START_TEST(matrices_are_those_of_its_layers) {
    const struct recommender_shape *shape = recommender_shape_find("dlrm-dcnv2");
    const struct recommender_operations operations = recommender_shape_operations(shape);
    ck_assert_double_eq(operations.bottom, 2.0 * (13 * 512 + 512 * 256 + 256 * 128));
    ck_assert_double_eq(operations.crossing, 2.0 * 3 * 2 * 3456 * 512);
    ck_assert_double_eq(operations.top, 2.0 * (3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256));
    ck_assert_uint_eq(recommender_shape_layers(shape), 3 + 6 + 5);
    ck_assert_double_eq(recommender_shape_dense(shape), 16030464.0 + 896 + 3 * 3456 + 2817); // and what is added
}
END_TEST

/* ---- who holds what ---- */

static void check_whole(const struct table_plan *plan) {
    uint32_t found[26] = {0};
    double looked_up = 0, rows = 0;
    for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
        looked_up += table_plan_looked_up(plan, gpu);
        rows += table_plan_rows(plan, gpu);
        for (uint32_t i = plan->first[gpu]; i < plan->first[gpu + 1]; i++) {
            found[plan->tables[i]]++;
            for (uint32_t j = plan->first[gpu]; j < i; j++) {
                ck_assert_uint_ne(plan->tables[j], plan->tables[i]); // one piece of a table
            }
        }
    }
    for (uint32_t table = 0; table < 26; table++) {
        ck_assert_uint_eq(found[table], plan->cut[table]);
    }
    ck_assert_double_eq_tol(looked_up, 214, 1e-9);
    ck_assert_double_eq_tol(rows, 204184588, 1e-3);
}

START_TEST(every_piece_is_on_one_gpu) {
    const uint32_t gpus[] = {1, 2, 3, 8, 64, 100, 512};
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        struct table_plan plan = table_plan_create(recommender_shape_find("dlrm-dcnv2"), gpus[i], 0);
        check_whole(&plan);
        table_plan_fini(&plan);
    }
}
END_TEST

START_TEST(hot_tables_are_cut_until_no_gpu_costs_more) {
    struct table_plan plan = table_plan_create(recommender_shape_find("dlrm-dcnv2"), 64, 0);
    ck_assert_uint_eq(plan.first[64], 69);
    ck_assert_uint_eq(table_plan_most_pieces(&plan), 2);
    ck_assert_uint_eq(plan.cut[20], 32); // 100 rows of a sample: 3.125 a piece
    ck_assert_uint_eq(plan.cut[21], 8);  // 27
    ck_assert_uint_eq(plan.cut[0], 1);
    double most = 0;
    for (uint32_t gpu = 0; gpu < 64; gpu++) {
        const double cost = table_plan_looked_up(&plan, gpu) + 2.25 * table_plan_pieces(&plan, gpu);
        most = cost > most ? cost : most;
    }
    ck_assert_double_eq_tol(most, 8.25, 1e-9); // 6 rows in one piece
    table_plan_fini(&plan);
}
END_TEST

static uint32_t cuts_of(const struct recommender_table *tables, uint32_t n, uint32_t gpus) {
    const struct recommender_shape shape = {.tables = tables, .n_tables = n, .width = 128};
    struct table_plan plan = table_plan_create(&shape, gpus, 0);
    const uint32_t cuts = plan.first[gpus];
    table_plan_fini(&plan);
    return cuts;
}

START_TEST(a_piece_costs_as_much_as_two_rows_and_a_quarter) {
    const struct recommender_table alike[] = {{1000, 8}, {1000, 6}};  // whole 8 + 2.25; over both 7 + 2 × 2.25
    const struct recommender_table unlike[] = {{1000, 8}, {1000, 1}}; // whole 8 + 2.25; over both 4.5 + 2 × 2.25
    ck_assert_uint_eq(cuts_of(alike, 2, 2), 2);
    ck_assert_uint_eq(cuts_of(unlike, 2, 2), 4);
}
END_TEST

START_TEST(what_has_no_room_is_cut) {
    const struct recommender_table fits[] = {{58000000, 1}, {1000, 1}}; // × 128 × 8 B = 59.4 of 60 GB
    const struct recommender_table large[] = {{59000000, 1}, {1000, 1}};
    ck_assert_uint_eq(cuts_of(fits, 2, 3), 2);
    ck_assert_uint_eq(cuts_of(large, 2, 3), 3);
}
END_TEST

START_TEST(small_tables_are_copied) {
    struct table_plan plan = table_plan_create(recommender_shape_find("dlrm-dcnv2"), 8, 8000000);
    const struct table_plan_copies copies = table_plan_copied(&plan);
    ck_assert_uint_eq(copies.tables, 13); // up to 7,812 rows of 1,024 B
    ck_assert_double_eq(copies.rows, 7424 + 3 + 7122 + 1543 + 63 + 10 + 2209 + 155 + 4 + 976 + 14 + 108 + 36);
    ck_assert_double_eq(copies.looked_up, 23);
    ck_assert_uint_eq(plan.first[8], 21);
    ck_assert_uint_eq(table_plan_most_pieces(&plan), 3);
    ck_assert_uint_eq(plan.cut[3], 0);
    table_plan_fini(&plan);
}
END_TEST

START_TEST(rows_are_looked_up_again_once_a_table_has_no_more) {
    struct table_plan plan = table_plan_create(recommender_shape_find("dlrm-dcnv2"), 1, 0);
    double distinct = 0;
    for (uint32_t table = 0; table < 26; table++) {
        const double rows = plan.shape->tables[table].rows, looked_up = 10.0 * plan.shape->tables[table].looked_up;
        distinct += rows < looked_up ? rows : looked_up;
    }
    ck_assert_double_eq_tol(table_plan_distinct(&plan, 0, 10), distinct, 1e-9);
    ck_assert_double_eq_tol(table_plan_distinct(&plan, 0, 1e9), 204184588, 1e-3);
    table_plan_fini(&plan);
}
END_TEST

/* ---- the step ---- */

#define LOOK_UP_S (SAMPLES * (6 * (512 + 4) + 256) / RATE)        /* half of a table of 12 rows a sample */
#define UPDATE_S (SAMPLES * (6 * (256 + 4) + 6 * 6 * 512) / RATE) /* none of its rows twice */
#define ADD_UP_S ((69 + 26) * 256 * 2112 / RATE)                  /* pieces read, tables written */
#define BOTTOM_S (2112 * 2.0 * 170496 / (2500e12 * 0.5))
#define TOP_S (2112 * 2.0 * (10616832 + 5243136) / (2500e12 * 0.5))
#define OPTIMISER_S (16044545.0 * (2 * 8 + 2 + 2) / RATE)

START_TEST(without_exchanges_a_step_is_what_gpus_read_write_and_multiply) {
    struct training_setup setup = described(0);
    setup.free_gradients = true;
    ck_assert_double_eq_tol(step_s(&setup), LOOK_UP_S + 2 * ADD_UP_S + 3 * (BOTTOM_S + TOP_S) + UPDATE_S + OPTIMISER_S,
                            1e-10);
}
END_TEST

START_TEST(exchanges_are_behind_the_bottom_layers_and_no_more) {
    struct training_setup setup = described(100000000);
    struct training_result result;
    setup.free_gradients = true;
    result = fixture_step(&setup);
    ck_assert_double_eq_tol((double)result.stages[0].exposed_ps / 1e12, 2 * 100e-6 - 3 * BOTTOM_S - OPTIMISER_S, 1e-10);
    ck_assert_uint_eq(result.stages[0].network_ps, 200000000);
    training_result_fini(&result);
}
END_TEST

START_TEST(gradients_of_matrices_are_behind_those_of_rows) {
    struct training_setup setup = described(1000000000), without = setup;
    without.free_gradients = true;
    ck_assert_double_eq_tol(step_s(&setup), step_s(&without), 1e-12); // a millisecond hides them, and the optimiser
    setup = described(0);
    without.exchange = setup.exchange;
    const double gradients_s = 2 * (63.0 / 64 * 16044545 * 2 / (0.74 * 720e9) + 25e-6);
    ck_assert_double_gt(UPDATE_S, gradients_s);
    ck_assert_double_eq_tol(step_s(&setup), step_s(&without), 1e-12); // so do rows that are updated
    setup.groups.nvlink_bytes_per_s /= 10;
    const double slow_s = 2 * (63.0 / 64 * 16044545 * 2 / (0.74 * 72e9) + 25e-6);
    ck_assert_double_eq_tol(step_s(&setup), step_s(&without) + slow_s - UPDATE_S, 1e-10);
}
END_TEST

START_TEST(copies_are_looked_up_by_their_own_samples_and_reduced) {
    struct training_setup setup = describe(1);
    experiment.training.copied_tables_bytes = 8000000;
    struct table_plan plan = recommender_plan(&setup);
    const double rows = 19667, distinct = table_plan_distinct(&plan, 0, 2112), dense_s = 3 * (BOTTOM_S + TOP_S);
    const double looked_up = 2112 * (214 * (512 + 4) + 26 * 256), added_up = 2112 * (13 + 13) * 256;
    const double updated = 2112 * 214 * (256 + 4) + distinct * 6 * 512 + rows * 512;
    const double optimised = rows * 128 * (2 * 8 + 2);
    ck_assert_double_eq_tol(step_s(&setup),
                            dense_s + OPTIMISER_S + (looked_up + 2 * added_up + updated + optimised) / RATE, 1e-10);
    table_plan_fini(&plan);
    setup = describe(64);
    experiment.training.copied_tables_bytes = 8000000;
    struct training_result result = fixture_step(&setup);
    ck_assert_double_eq_tol((double)result.stages[0].gradient_ps / 1e12,
                            2 * (63.0 / 64 * (16044545 + rows * 128) * 2 / (0.74 * 720e9) + 25e-6), 1e-10);
    training_result_fini(&result);
}
END_TEST

START_TEST(all_gpus_wait_for_the_slowest) {
    struct training_setup setup = described(0);
    struct straggler_slowness slowness[] = {{1, 1}, {1.5, 1}};
    const struct straggler_copies copies = {.slowness = slowness, .n = 2, .stages = 1};
    setup.free_gradients = true;
    const double alike_s = step_s(&setup) - OPTIMISER_S;
    setup.copies = &copies;
    struct training_result result = fixture_step(&setup);
    ck_assert_double_eq_tol((double)result.step_ps / 1e12, 1.5 * alike_s + OPTIMISER_S, 1e-10);
    ck_assert_uint_eq(result.copy, 1);
    training_result_fini(&result);
}
END_TEST

START_TEST(an_evaluation_goes_forward_batch_by_batch) {
    struct training_setup setup = described(100000000);
    experiment.training.evaluation_batch = 3 * 135168 - 5;
    struct training_result result = fixture_step(&setup);
    ck_assert_double_eq_tol((double)result.evaluation_ps / 1e12, 3 * (LOOK_UP_S + 100e-6 + ADD_UP_S + TOP_S), 1e-9);
    training_result_fini(&result);
}
END_TEST

START_TEST(without_graphs_the_host_launches_every_kernel) {
    struct training_setup setup = described(0);
    setup.free_gradients = true;
    const double graphs_s = step_s(&setup);
    experiment.training.cuda_graphs = false;
    experiment.training.kernels_per_layer = 2;
    experiment.training.launch_ps = 50000000;
    ck_assert_double_eq_tol(step_s(&setup), graphs_s + 3 * (14 * 2 * 50e-6 - BOTTOM_S - TOP_S), 1e-10);
}
END_TEST

START_TEST(a_gpu_holds_rows_with_their_sums_of_squares) {
    struct training_setup setup = describe(64);
    struct training_result result = fixture_step(&setup);
    ck_assert_double_eq_tol(result.memory.weights, 40e6 * 512 + 16044545.0 * 2, 1); // a table that is not cut
    ck_assert_double_eq_tol(result.memory.optimiser, 40e6 * 512 + 16044545.0 * 8, 1);
    training_result_fini(&result);
}
END_TEST

START_TEST(what_is_sent_is_a_vector_of_every_piece_and_sample) {
    struct training_setup setup = describe(64);
    struct table_plan plan = recommender_plan(&setup);
    ck_assert_uint_eq(recommender_samples(&setup), 2112);
    ck_assert_uint_eq(recommender_message_bytes(&setup, &plan), 2 * 128 * 2 * 2112);
    table_plan_fini(&plan);
}
END_TEST

START_TEST(a_step_without_end_is_refused) {
    struct training_setup setup = described((uint64_t)1e18);
    struct training_result result;
    struct error error = {0};
    ck_assert(!training_step(&setup, NULL, NULL, &result, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "too long"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("recommender");
    TCase *tests = tcase_create("sums");
    tcase_add_test(tests, the_model_is_that_of_the_benchmark);
    tcase_add_test(tests, matrices_are_those_of_its_layers);
    tcase_add_test(tests, every_piece_is_on_one_gpu);
    tcase_add_test(tests, hot_tables_are_cut_until_no_gpu_costs_more);
    tcase_add_test(tests, a_piece_costs_as_much_as_two_rows_and_a_quarter);
    tcase_add_test(tests, what_has_no_room_is_cut);
    tcase_add_test(tests, small_tables_are_copied);
    tcase_add_test(tests, rows_are_looked_up_again_once_a_table_has_no_more);
    tcase_add_test(tests, without_exchanges_a_step_is_what_gpus_read_write_and_multiply);
    tcase_add_test(tests, exchanges_are_behind_the_bottom_layers_and_no_more);
    tcase_add_test(tests, gradients_of_matrices_are_behind_those_of_rows);
    tcase_add_test(tests, copies_are_looked_up_by_their_own_samples_and_reduced);
    tcase_add_test(tests, all_gpus_wait_for_the_slowest);
    tcase_add_test(tests, an_evaluation_goes_forward_batch_by_batch);
    tcase_add_test(tests, without_graphs_the_host_launches_every_kernel);
    tcase_add_test(tests, a_gpu_holds_rows_with_their_sums_of_squares);
    tcase_add_test(tests, what_is_sent_is_a_vector_of_every_piece_and_sample);
    tcase_add_test(tests, a_step_without_end_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
