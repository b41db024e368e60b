// SPDX-License-Identifier: GPL-3.0-or-later
/* Figures of uneven loads against cases whose values follow by hand. */
#include "run_suite.h"
#include "workload/load_balance.h"

#include <check.h>

START_TEST(even_loads_have_no_imbalance) {
    const double loads[] = {3, 3, 3, 3, 3, 3, 3, 3};
    const struct load_balance balance = load_balance_of(loads, 8);
    ck_assert_double_eq_tol(balance.max_over_mean, 1, 1e-12);
    ck_assert_double_eq_tol(balance.gini, 0, 1e-12);
    ck_assert_double_eq_tol(balance.entropy_bits, 3, 1e-12);
    ck_assert_double_eq_tol(balance.largest_bits, 3, 1e-12);
    ck_assert_uint_eq(balance.index, 0);
}
END_TEST

START_TEST(one_that_has_all_is_as_uneven_as_can_be) {
    const double loads[] = {0, 0, 7, 0};
    const struct load_balance balance = load_balance_of(loads, 4);
    ck_assert_double_eq_tol(balance.max_over_mean, 4, 1e-12);
    ck_assert_double_eq_tol(balance.gini, 0.75, 1e-12); /* 1 - 1/n */
    ck_assert_double_eq_tol(balance.entropy_bits, 0, 1e-12);
    ck_assert_uint_eq(balance.index, 2);
}
END_TEST

/* Loads 1, 2, 5: all differences of pairs |i - j| sum to 2 (1 + 4 + 3) = 16 over 9 pairs, ÷ (2 × mean 8/3) = 1/3. */
START_TEST(gini_is_the_mean_difference_of_pairs) {
    const double loads[] = {5, 1, 2};
    const struct load_balance balance = load_balance_of(loads, 3);
    ck_assert_double_eq_tol(balance.gini, 16.0 / 9 / (2 * 8.0 / 3), 1e-12);
    ck_assert_double_eq_tol(balance.mean, 8.0 / 3, 1e-12);
    ck_assert_double_eq_tol(balance.largest, 5, 1e-12);
}
END_TEST

START_TEST(nothing_loaded_is_all_zero) {
    const double loads[] = {0, 0};
    const struct load_balance balance = load_balance_of(loads, 2);
    ck_assert_double_eq(balance.max_over_mean, 0);
    ck_assert_double_eq(balance.gini, 0);
    ck_assert_double_eq(balance.entropy_bits, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("load_balance");
    TCase *cases = tcase_create("load_balance");
    tcase_add_test(cases, even_loads_have_no_imbalance);
    tcase_add_test(cases, one_that_has_all_is_as_uneven_as_can_be);
    tcase_add_test(cases, gini_is_the_mean_difference_of_pairs);
    tcase_add_test(cases, nothing_loaded_is_all_zero);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
