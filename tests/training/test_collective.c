// SPDX-License-Identifier: GPL-3.0-or-later
/* Collectives against the formulae of their publications. */
#include "run_suite.h"
#include "training/collective.h"

#include <check.h>

static struct collective of(enum experiment_collective algorithm, uint32_t gpus, uint32_t in_domain) {
    return (struct collective){.algorithm = algorithm,
                               .gpus = gpus,
                               .in_domain = in_domain,
                               .nvlink_bytes_per_s = 800e9,
                               .nic_bytes_per_s = 50e9};
}

static double scatter_s(enum experiment_collective algorithm, uint32_t gpus, uint32_t in_domain, double bytes) {
    const struct collective collective = of(algorithm, gpus, in_domain);
    return collective_scatter(&collective, bytes).all_s;
}

START_TEST(one_gpu_has_nothing_to_do) {
    for (int algorithm = EXPERIMENT_COLLECTIVE_RINGS; algorithm <= EXPERIMENT_COLLECTIVE_SHARP; algorithm++) {
        ck_assert_double_eq(scatter_s((enum experiment_collective)algorithm, 1, 1, 1e9), 0);
        ck_assert_double_eq(scatter_s((enum experiment_collective)algorithm, 8, 8, 0), 0);
    }
}
END_TEST

START_TEST(a_ring_passes_all_but_a_share_in_as_many_steps) {
    ck_assert_double_eq_tol(scatter_s(EXPERIMENT_COLLECTIVE_RINGS, 8, 8, 8e9), 7.0 / 8 * 8e9 / 800e9 + 7 * 3.4e-6,
                            1e-12);
    ck_assert_double_eq_tol(scatter_s(EXPERIMENT_COLLECTIVE_RINGS, 4, 1, 8e9), 3.0 / 4 * 8e9 / 50e9 + 3 * 14e-6, 1e-12);
}
END_TEST

START_TEST(rings_share_the_nics_of_a_domain) {
    /* two domains of 8: an eighth of it over each NIC, which takes longer than NVLink */
    ck_assert_double_eq_tol(scatter_s(EXPERIMENT_COLLECTIVE_RINGS, 16, 8, 8e9),
                            15.0 / 16 * 8e9 / 8 / 50e9 + 13 * 3.4e-6 + 2 * 14e-6, 1e-12);
}
END_TEST

START_TEST(links_are_busy_for_what_they_carry) {
    /* of two domains of 8: NVLink carries all that goes around, NICs an eighth of it each; in stages seven eighths, and half of the rest */
    const struct collective around = of(EXPERIMENT_COLLECTIVE_RINGS, 16, 8);
    ck_assert_double_eq_tol(collective_scatter(&around, 8e9).nvlink_s, 15.0 / 16 * 8e9 / 800e9, 1e-12);
    ck_assert_double_eq_tol(collective_scatter(&around, 8e9).nic_s, 15.0 / 16 * 1e9 / 50e9, 1e-12);
    const struct collective staged = of(EXPERIMENT_COLLECTIVE_HIERARCHICAL, 16, 8);
    ck_assert_double_eq_tol(collective_scatter(&staged, 8e9).nvlink_s, 7.0 / 8 * 8e9 / 800e9, 1e-12);
    ck_assert_double_eq_tol(collective_scatter(&staged, 8e9).nic_s, 1.0 / 2 * 1e9 / 50e9, 1e-12);
    const struct collective alone = of(EXPERIMENT_COLLECTIVE_RINGS, 4, 1);
    ck_assert_double_eq(collective_scatter(&alone, 8e9).nvlink_s, 0);
}
END_TEST

START_TEST(in_stages_each_takes_its_time) {
    ck_assert_double_eq_tol(scatter_s(EXPERIMENT_COLLECTIVE_HIERARCHICAL, 16, 8, 8e9),
                            7.0 / 8 * 8e9 / 800e9 + 7 * 3.4e-6 + 1.0 / 2 * 1e9 / 50e9 + 14e-6, 1e-12);
}
END_TEST

START_TEST(switches_that_reduce_save_steps_not_bytes) {
    ck_assert_double_eq_tol(scatter_s(EXPERIMENT_COLLECTIVE_NVLS, 8, 8, 8e9), 7.0 / 8 * 8e9 / (0.74 * 800e9) + 25e-6,
                            1e-12);
    const double few = 1e3;
    ck_assert_double_lt(scatter_s(EXPERIMENT_COLLECTIVE_NVLS, 64, 64, few),
                        scatter_s(EXPERIMENT_COLLECTIVE_RINGS, 64, 64, few));
    ck_assert_double_lt(scatter_s(EXPERIMENT_COLLECTIVE_SHARP, 512, 8, few),
                        scatter_s(EXPERIMENT_COLLECTIVE_NVLS, 512, 8, few));
}
END_TEST

START_TEST(a_few_bytes_go_up_and_down_trees) {
    const struct collective all = of(EXPERIMENT_COLLECTIVE_RINGS, 8192, 64);
    ck_assert_double_eq_tol(collective_small_s(&all), 2 * (6 * 0.6e-6 + 7 * 2.7e-6), 1e-12);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("collective");
    TCase *tests = tcase_create("formulae");
    tcase_add_test(tests, one_gpu_has_nothing_to_do);
    tcase_add_test(tests, a_ring_passes_all_but_a_share_in_as_many_steps);
    tcase_add_test(tests, rings_share_the_nics_of_a_domain);
    tcase_add_test(tests, links_are_busy_for_what_they_carry);
    tcase_add_test(tests, in_stages_each_takes_its_time);
    tcase_add_test(tests, switches_that_reduce_save_steps_not_bytes);
    tcase_add_test(tests, a_few_bytes_go_up_and_down_trees);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
