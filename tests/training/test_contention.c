// SPDX-License-Identifier: GPL-3.0-or-later
/* What an exchange and multiplications do to each other, worked out by hand. */
#include "run_suite.h"
#include "training/contention.h"

#include <check.h>

static const struct contention_gpu gpu = {.sms = 100, .hbm_bytes_per_s = 1e12};

START_TEST(tiles_are_computed_in_waves) {
    ck_assert_uint_eq(contention_waves(4096, 132), 4); // 512 tiles
    ck_assert_uint_eq(contention_waves(4096, 128), 4);
    ck_assert_uint_eq(contention_waves(4096, 127), 5);
    ck_assert_uint_eq(contention_waves(4096, 100), 6);
    ck_assert_uint_eq(contention_waves(100, 100), 1);
}
END_TEST

START_TEST(a_wave_reads_its_rows_and_columns_once) {
    const struct contention_multiplication whole = {.n = 512, .element_bytes = 2, .alone_s = 1};
    /* 8 tiles, all of a wave: two matrices and the result */
    ck_assert_double_eq_tol(contention_multiplication_bytes(&whole, 8), 3 * 512.0 * 512 * 2, 1e-6);
    /* one after the other: each reads 181 rows and columns on average of shapes, eight times */
    ck_assert_double_eq_tol(contention_multiplication_bytes(&whole, 1), (8 * 2 * 181.0193 * 512 + 512 * 512) * 2, 1);
}
END_TEST

START_TEST(large_multiplications_read_two_numbers_a_side) {
    /* 128 SMs compute 2,048 × 2,048 results at once: of 2 × 2,048² operations a step, 2 × 2,048 numbers are read */
    ck_assert_double_eq_tol(contention_memory_rate(2 * 2048.0 * 2048, 2, 128), 2 * 2048 * 2, 1e-9);
}
END_TEST

START_TEST(latency_grows_as_memory_fills) {
    ck_assert_double_eq_tol(contention_latency(0, 0), 1, 1e-12);
    ck_assert_double_eq_tol(contention_latency(0, 0.5), 2, 1e-12);
    ck_assert_double_eq_tol(contention_latency(0.25, 0.25), 1.5, 1e-12);
    ck_assert_double_lt(contention_latency(0.5, 5), 11); // full, not without end
}
END_TEST

START_TEST(an_exchange_waits_for_the_last_gpu_and_takes_its_sms) {
    /* 72 tiles of a multiplication that lasts 1 s: one wave on 100 SMs, two on the 50 that are left; hardly any memory */
    const struct contention_multiplication one = {.n = 1536, .element_bytes = 2, .alone_s = 1};
    struct contention_exchange exchange = {.gpus = 2, .sms = 50, .hbm_bytes = 0, .alone_s = 10};
    const struct contention_times times = contention_times(&gpu, &one, &exchange);
    ck_assert_double_eq_tol(times.exchange_s, 10 + 2.0 / 3, 1e-3);
    const double kept = (10 + 2.0 / 3 - 0.5) / (10 + 2.0 / 3);
    ck_assert_double_eq_tol(times.multiplication_s, 1 / (kept / 2 + 1 - kept), 1e-3);
    exchange.gpus = 1000;
    ck_assert_double_eq_tol(contention_times(&gpu, &one, &exchange).exchange_s, 11, 1e-2);
}
END_TEST

START_TEST(busy_memory_slows_the_exchange) {
    const struct contention_multiplication one = {.n = 4096, .element_bytes = 2, .alone_s = 1e-3};
    const struct contention_exchange small = {.gpus = 2, .sms = 10, .hbm_bytes = 0, .alone_s = 1};
    struct contention_exchange large = small;
    large.hbm_bytes = 0.5e12;
    ck_assert_double_gt(contention_times(&gpu, &one, &large).exchange_s,
                        contention_times(&gpu, &one, &small).exchange_s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("contention");
    TCase *tests = tcase_create("sharing a GPU");
    tcase_add_test(tests, tiles_are_computed_in_waves);
    tcase_add_test(tests, a_wave_reads_its_rows_and_columns_once);
    tcase_add_test(tests, large_multiplications_read_two_numbers_a_side);
    tcase_add_test(tests, latency_grows_as_memory_fills);
    tcase_add_test(tests, an_exchange_waits_for_the_last_gpu_and_takes_its_sms);
    tcase_add_test(tests, busy_memory_slows_the_exchange);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
