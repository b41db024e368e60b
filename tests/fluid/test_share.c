// SPDX-License-Identifier: GPL-3.0-or-later
/* Max-min fair rates: cases worked out by hand, what holds for every solution, and another way to the same rates. */
#include "base/hash.h"
#include "fluid/share.h"
#include "run_suite.h"
#include "slow_share.h"

#include <check.h>
#include <math.h>

enum { MOST_STREAMS = 40, MOST_LIMITS = 12, MOST_USES = 5, MOST_BUNDLES = 4, CASES = 400 };

/* A random small problem, with the arrays that it refers to. */
struct problem {
    double capacities[MOST_LIMITS];
    struct share_stream streams[MOST_STREAMS];
    struct share_use uses[MOST_STREAMS][MOST_USES], bundle_uses[MOST_BUNDLES][MOST_USES];
    struct share_bundle bundles[MOST_BUNDLES];
    uint32_t active[MOST_STREAMS];
    uint32_t n_limits, n_streams, n_bundles;
};

struct draws {
    uint64_t stream, count;
};

static uint32_t below(struct draws *draws, uint32_t bound) {
    return hash_below(hash_draw(draws->stream, draws->count++), bound);
}

static uint32_t draw_uses(struct draws *draws, const struct problem *problem, struct share_use *uses, uint32_t least) {
    const uint32_t n = least + below(draws, MOST_USES + 1 - least);
    for (uint32_t u = 0; u < n; u++) {
        const uint32_t parts = 1 + below(draws, 4);
        uses[u] = (struct share_use){.limit = below(draws, problem->n_limits), .weight_fxp24 = SHARE_ONE / parts};
    }
    return n;
}

static void draw_problem(struct problem *problem, uint64_t number) {
    struct draws draws = {.stream = hash_stream(number, HASH_PURPOSE_TEST, 0, 0)};
    *problem = (struct problem){.n_limits = 1 + below(&draws, MOST_LIMITS),
                                .n_streams = 1 + below(&draws, MOST_STREAMS),
                                .n_bundles = below(&draws, MOST_BUNDLES + 1)};
    for (uint32_t l = 0; l < problem->n_limits; l++) {
        problem->capacities[l] = below(&draws, 8) == 0 ? 0 : 1 + below(&draws, 100);
    }
    for (uint32_t b = 0; b < problem->n_bundles; b++) {
        const uint32_t n = draw_uses(&draws, problem, problem->bundle_uses[b], 1);
        problem->bundles[b] = (struct share_bundle){.uses = problem->bundle_uses[b], .n_uses = n};
    }
    for (uint32_t s = 0; s < problem->n_streams; s++) {
        const bool bundled = problem->n_bundles > 0 && below(&draws, 2) == 0;
        problem->active[s] = s;
        problem->streams[s] = (struct share_stream){
            .uses = problem->uses[s],
            .n_uses = draw_uses(&draws, problem, problem->uses[s], bundled ? 0 : 1),
            .bundle = bundled ? below(&draws, problem->n_bundles) : SHARE_NONE,
            .weight = below(&draws, 3) == 0 ? 1 + below(&draws, 9) : 1,
            .most = below(&draws, 5) == 0 ? 1 + below(&draws, 20) : INFINITY,
        };
    }
}

static void solve(struct problem *problem) {
    struct share *share = share_create(problem->n_limits, problem->capacities);
    share_solve(share, problem->streams, problem->active, problem->n_streams, problem->bundles, problem->n_bundles);
    share_free(share);
}

/* Rates of streams that use whole limits, each list ended by -1. */
static void solve_paths(uint32_t n_limits, const double *capacities, uint32_t n_streams, const int (*paths)[4],
                        double *rates) {
    static struct problem problem;
    problem = (struct problem){.n_limits = n_limits, .n_streams = n_streams};
    for (uint32_t l = 0; l < n_limits; l++) {
        problem.capacities[l] = capacities[l];
    }
    for (uint32_t s = 0; s < n_streams; s++) {
        uint32_t n = 0;
        for (; n < 4 && paths[s][n] >= 0; n++) {
            problem.uses[s][n] = (struct share_use){.limit = (uint32_t)paths[s][n], .weight_fxp24 = SHARE_ONE};
        }
        problem.active[s] = s;
        problem.streams[s] = (struct share_stream){
            .uses = problem.uses[s], .n_uses = n, .bundle = SHARE_NONE, .weight = 1, .most = INFINITY};
    }
    solve(&problem);
    for (uint32_t s = 0; s < n_streams; s++) {
        rates[s] = problem.streams[s].rate;
    }
}

START_TEST(a_long_stream_through_a_parking_lot_shares_each_limit_with_one_other) {
    const int paths[][4] = {{0, 1, 2, -1}, {0, -1}, {1, -1}, {2, -1}};
    double rates[4];
    solve_paths(3, (const double[]){1, 1, 1}, 4, paths, rates);
    for (int s = 0; s < 4; s++) {
        ck_assert_double_eq_tol(rates[s], 0.5, 1e-12);
    }
}
END_TEST

/* Bertsekas and Gallager, Data Networks, example 6.5.2 in kind: who is held back elsewhere leaves the rest to others. */
START_TEST(three_streams_on_two_limits_fill_both) {
    const int paths[][4] = {{0, 1, -1}, {0, -1}, {1, -1}};
    double rates[3];
    solve_paths(2, (const double[]){10, 4}, 3, paths, rates);
    ck_assert_double_eq_tol(rates[0], 2, 1e-12);
    ck_assert_double_eq_tol(rates[1], 8, 1e-12);
    ck_assert_double_eq_tol(rates[2], 2, 1e-12);
}
END_TEST

START_TEST(what_one_limit_holds_back_is_passed_on_level_by_level) {
    /* limit 0 of 3 has a, b, c; limit 1 of 4 has c, d; limit 2 of 10 has d, e: 1, 1, 1, 3, 7 */
    const int paths[][4] = {{0, -1}, {0, -1}, {0, 1, -1}, {1, 2, -1}, {2, -1}};
    const double expected[] = {1, 1, 1, 3, 7};
    double rates[5];
    solve_paths(3, (const double[]){3, 4, 10}, 5, paths, rates);
    for (int s = 0; s < 5; s++) {
        ck_assert_double_eq_tol(rates[s], expected[s], 1e-12);
    }
}
END_TEST

START_TEST(a_stream_takes_its_most_and_leaves_the_rest) {
    struct problem problem = {.n_limits = 1, .n_streams = 3, .capacities = {9}, .active = {0, 1, 2}};
    for (uint32_t s = 0; s < 3; s++) {
        problem.uses[s][0] = (struct share_use){.limit = 0, .weight_fxp24 = SHARE_ONE};
        problem.streams[s] = (struct share_stream){.uses = problem.uses[s],
                                                   .n_uses = 1,
                                                   .bundle = SHARE_NONE,
                                                   .weight = s == 2 ? 3 : 1,
                                                   .most = s == 0 ? 1 : INFINITY};
    }
    solve(&problem);
    ck_assert_double_eq_tol(problem.streams[0].rate, 1, 1e-12);
    ck_assert_double_eq_tol(problem.streams[1].rate, 2, 1e-12);
    ck_assert_double_eq_tol(problem.streams[2].rate, 6, 1e-12);
}
END_TEST

START_TEST(a_use_aside_takes_from_a_limit_but_is_not_stopped_by_it) {
    struct problem problem = {.n_limits = 2, .n_streams = 2, .capacities = {11, 100}, .active = {0, 1}};
    problem.uses[0][0] = (struct share_use){.limit = 0, .weight_fxp24 = SHARE_ONE};
    problem.uses[1][0] = (struct share_use){.limit = 1, .weight_fxp24 = SHARE_ONE};
    problem.uses[1][1] = (struct share_use){.limit = 0, .weight_fxp24 = SHARE_ONE / 8, .aside = true};
    for (uint32_t s = 0; s < 2; s++) {
        problem.streams[s] = (struct share_stream){
            .uses = problem.uses[s], .n_uses = s + 1, .bundle = SHARE_NONE, .weight = 1, .most = INFINITY};
    }
    solve(&problem);
    ck_assert_double_eq_tol(problem.streams[0].rate, 11 / 1.125, 1e-12);
    ck_assert_double_eq_tol(problem.streams[1].rate, 100, 1e-12);
}
END_TEST

START_TEST(no_limit_carries_more_than_it_can_and_every_stream_has_a_reason_to_stop) {
    static struct problem problem;
    for (uint64_t number = 0; number < CASES; number++) {
        draw_problem(&problem, number);
        solve(&problem);
        const struct slow_share slow = {problem.n_limits, problem.capacities, problem.streams, problem.n_streams,
                                        problem.bundles};
        double used[MOST_LIMITS];
        slow_share_add_up(&slow, used);
        for (uint32_t l = 0; l < problem.n_limits; l++) {
            ck_assert_double_le(used[l], problem.capacities[l] * (1 + 1e-9) + 1e-12);
        }
        for (uint32_t s = 0; s < problem.n_streams; s++) {
            ck_assert_msg(slow_share_has_reason(&slow, used, s), "case %llu, stream %u", (unsigned long long)number, s);
        }
    }
}
END_TEST

START_TEST(filling_in_small_steps_comes_to_the_same_rates) {
    static struct problem problem;
    for (uint64_t number = 0; number < CASES; number++) {
        double rates[MOST_STREAMS];
        draw_problem(&problem, number);
        const struct slow_share slow = {problem.n_limits, problem.capacities, problem.streams, problem.n_streams,
                                        problem.bundles};
        slow_share_solve(&slow, rates);
        solve(&problem);
        for (uint32_t s = 0; s < problem.n_streams; s++) {
            ck_assert_msg(fabs(problem.streams[s].rate - rates[s]) <= 1e-9 * (1 + rates[s]),
                          "case %llu, stream %u: %.12g, not %.12g", (unsigned long long)number, s,
                          problem.streams[s].rate, rates[s]);
        }
    }
}
END_TEST

START_TEST(the_order_of_streams_does_not_matter) {
    static struct problem problem, turned;
    for (uint64_t number = 0; number < CASES; number++) {
        draw_problem(&problem, number);
        draw_problem(&turned, number);
        for (uint32_t s = 0; s < turned.n_streams; s++) {
            turned.active[s] = turned.n_streams - 1 - s;
        }
        solve(&problem);
        solve(&turned);
        for (uint32_t s = 0; s < problem.n_streams; s++) {
            ck_assert_double_eq_tol(problem.streams[s].rate, turned.streams[s].rate,
                                    1e-9 * (1 + problem.streams[s].rate));
        }
    }
}
END_TEST

START_TEST(twice_the_capacity_is_twice_the_rate) {
    static struct problem problem, wide;
    for (uint64_t number = 0; number < CASES; number++) {
        draw_problem(&problem, number);
        draw_problem(&wide, number);
        for (uint32_t l = 0; l < wide.n_limits; l++) {
            wide.capacities[l] *= 2;
        }
        for (uint32_t s = 0; s < wide.n_streams; s++) {
            wide.streams[s].most *= 2;
        }
        solve(&problem);
        solve(&wide);
        for (uint32_t s = 0; s < problem.n_streams; s++) {
            ck_assert_double_eq_tol(2 * problem.streams[s].rate, wide.streams[s].rate, 1e-9);
        }
    }
}
END_TEST

START_TEST(one_object_solves_problem_after_problem) {
    static struct problem problem, again;
    draw_problem(&problem, 7);
    struct share *share = share_create(problem.n_limits, problem.capacities);
    const uint32_t half = (problem.n_streams + 1) / 2;
    share_solve(share, problem.streams, problem.active, half, problem.bundles, problem.n_bundles);
    share_solve(share, problem.streams, problem.active, problem.n_streams, problem.bundles, problem.n_bundles);
    share_free(share);
    draw_problem(&again, 7);
    solve(&again);
    for (uint32_t s = 0; s < problem.n_streams; s++) {
        ck_assert(problem.streams[s].rate == again.streams[s].rate);
    }
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("share");
    tcase_add_test(cases, a_long_stream_through_a_parking_lot_shares_each_limit_with_one_other);
    tcase_add_test(cases, three_streams_on_two_limits_fill_both);
    tcase_add_test(cases, what_one_limit_holds_back_is_passed_on_level_by_level);
    tcase_add_test(cases, a_stream_takes_its_most_and_leaves_the_rest);
    tcase_add_test(cases, a_use_aside_takes_from_a_limit_but_is_not_stopped_by_it);
    tcase_add_test(cases, no_limit_carries_more_than_it_can_and_every_stream_has_a_reason_to_stop);
    tcase_add_test(cases, filling_in_small_steps_comes_to_the_same_rates);
    tcase_add_test(cases, the_order_of_streams_does_not_matter);
    tcase_add_test(cases, twice_the_capacity_is_twice_the_rate);
    tcase_add_test(cases, one_object_solves_problem_after_problem);
    Suite *suite = suite_create("fluid-share");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
