// SPDX-License-Identifier: GPL-3.0-or-later
/* The front: by hand, and what must hold for any designs. */
#include "base/hash.h"
#include "run_suite.h"
#include "sizing/front.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { MOST = 40, CASES = 300 };

static struct design_figures design(double watts, double value) {
    return (struct design_figures){.state = DESIGN_FLUID,
                                   .racks = 1,
                                   .watts = watts,
                                   .cost = NAN,
                                   .memory_bytes = 100,
                                   .value = {value, 0.9 * value, 1.1 * value, 1}};
}

static void judge(const struct front_demand *demand, struct design_figures *designs, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        front_judge(demand, &designs[i]);
    }
    front_mark(demand, designs, n, DESIGN_FLUID);
}

START_TEST(the_front_of_five_designs) {
    const struct front_demand demand = {.target = 10};
    struct design_figures designs[] = {design(3, 12), design(4, 9), design(5, 9.5), design(6, 7), design(6, 8)};
    judge(&demand, designs, 5);
    ck_assert_uint_eq(designs[0].limits, DESIGN_LIMIT_TARGET);
    ck_assert(!designs[0].front && designs[1].front && !designs[2].front && designs[3].front && !designs[4].front);
    ck_assert(designs[1].sure);
    ck_assert(!designs[2].sure); /* 9.5 × 1.1 is more than 10 */
    ck_assert_uint_eq(front_cheapest(&demand, designs, 5), 1);
    ck_assert_uint_eq(front_next(&demand, designs, 5, 1), 3);
    ck_assert_uint_eq(front_next(&demand, designs, 5, 3), UINT32_MAX);
    ck_assert_uint_eq(front_missed(&demand, designs, 5, 1), 0);
    ck_assert_uint_eq(front_missed(&demand, designs, 5, 0), UINT32_MAX);
}
END_TEST

START_TEST(a_target_may_be_the_least) {
    const struct front_demand demand = {.target = 10, .least = true};
    struct design_figures designs[] = {design(3, 9), design(4, 10.5), design(5, 12), design(5, 11)};
    judge(&demand, designs, 4);
    ck_assert(!designs[0].front && designs[1].front && designs[2].front && !designs[3].front);
    ck_assert(!designs[1].sure && designs[2].sure);
}
END_TEST

START_TEST(each_limit_leaves_designs_out) {
    const struct front_demand demand = {
        .target = 10, .priced = true, .power_watts = 5, .budget = 7, .memory_bytes = 99, .racks = 3};
    struct design_figures one = design(6, 5);
    one.cost = 8;
    one.racks = 4;
    front_judge(&demand, &one);
    ck_assert_uint_eq(one.limits, DESIGN_LIMIT_POWER | DESIGN_LIMIT_BUDGET | DESIGN_LIMIT_MEMORY | DESIGN_LIMIT_RACKS);
    ck_assert_double_eq(front_expense(&demand, &one), 8);
    const struct front_demand none = {.target = 10};
    front_judge(&none, &one);
    ck_assert_uint_eq(one.limits, 0);
}
END_TEST

START_TEST(finalists_are_those_that_may_be_on_the_front) {
    const struct front_demand demand = {.target = 10};
    /* 10.5 may be 9.45; 9.8 at 5 W may be 8.82, which 9 at 4 W, that may be 9.9, does not surely beat; 20 and 11.5 miss the target */
    struct design_figures designs[] = {design(3, 10.5), design(4, 9), design(5, 9.8), design(6, 20), design(7, 11.5)};
    uint32_t left;
    ck_assert_uint_eq(front_finalist(&demand, designs, 5, 0.1, &left),
                      0); /* nothing beats it as values stand, and it is cheap */
    ck_assert_uint_eq(left, 3);
    ck_assert_uint_eq(front_finalist(&demand, designs, 5, 0, &left), 1);
    ck_assert_uint_eq(left, 1);
    designs[0].state = DESIGN_PACKETS; /* it misses the target after all: it leaves nobody behind */
    front_judge(&demand, &designs[0]);
    ck_assert_uint_eq(front_finalist(&demand, designs, 5, 0.1, &left), 1);
    ck_assert_uint_eq(left, 2);
    designs[1].state = DESIGN_PACKETS; /* surely 9 now, but 9.8 may still be 8.82 */
    front_judge(&demand, &designs[1]);
    ck_assert_uint_eq(front_finalist(&demand, designs, 5, 0.1, &left), 2);
    designs[1].value.mean = 8.8; /* surely better and cheaper: that settles it */
    ck_assert_uint_eq(front_finalist(&demand, designs, 5, 0.1, &left), UINT32_MAX);
    ck_assert_uint_eq(left, 0);
}
END_TEST

/* Designs drawn at random, with few different figures so that equal ones occur. */
static uint32_t draw(uint64_t seed, struct design_figures *designs) {
    const uint32_t n = 1 + (uint32_t)(hash_mix(seed) % (MOST - 1));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bits = hash_mix(seed * 1000 + i + 1);
        designs[i] = design(1 + (double)(bits % 12), 1 + (double)(bits / 12 % 12));
        designs[i].racks = 1 + (uint32_t)(bits / 144 % 5);
    }
    return n;
}

static struct front_demand demand_of(uint64_t seed) {
    return (struct front_demand){.target = 2 + (double)(hash_mix(~seed) % 10),
                                 .least = seed % 2,
                                 .power_watts = seed % 3 == 0 ? 8 : 0,
                                 .racks = seed % 5 == 0 ? 3 : 0};
}

/* The front by its definition. */
static bool is_on_front(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                        uint32_t at) {
    const double sign = demand->least ? -1 : 1;
    for (uint32_t i = 0; i < n; i++) {
        const double watts = designs[i].watts - designs[at].watts;
        const double value = sign * (designs[i].value.mean - designs[at].value.mean);
        if (designs[i].limits == 0 && watts <= 0 && value <= 0 && (watts < 0 || value < 0)) {
            return false;
        }
    }
    return designs[at].limits == 0;
}

START_TEST(the_front_is_what_its_definition_says) {
    struct design_figures designs[MOST];
    for (uint64_t seed = 0; seed < CASES; seed++) {
        const struct front_demand demand = demand_of(seed);
        const uint32_t n = draw(seed, designs);
        judge(&demand, designs, n);
        for (uint32_t i = 0; i < n; i++) {
            if (designs[i].front != is_on_front(&demand, designs, n, i)) {
                ck_abort_msg("seed %d, design %u", (int)seed, i);
            }
        }
    }
}
END_TEST

/* What the cheapest design costs; infinity if there is none. */
static double least_expense(const struct front_demand *demand, const struct design_figures *designs, uint32_t n) {
    const uint32_t best = front_cheapest(demand, designs, n);
    return best == UINT32_MAX ? INFINITY : front_expense(demand, &designs[best]);
}

START_TEST(a_looser_limit_never_makes_the_cheapest_dearer) {
    struct design_figures designs[MOST];
    uint32_t cheaper = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct front_demand demand = demand_of(seed);
        const uint32_t n = draw(seed, designs);
        judge(&demand, designs, n);
        const double before = least_expense(&demand, designs, n);
        demand.target += demand.least ? -2 : 2;
        demand.racks = demand.racks > 0 ? demand.racks + 1 : 0;
        demand.power_watts = demand.power_watts > 0 ? demand.power_watts + 2 : 0;
        judge(&demand, designs, n);
        const double after = least_expense(&demand, designs, n);
        ck_assert(after <= before);
        cheaper += after < before;
    }
    ck_assert_uint_gt(cheaper, 20);
}
END_TEST

START_TEST(another_design_never_makes_the_front_worse) {
    struct design_figures designs[MOST];
    for (uint64_t seed = 0; seed < CASES; seed++) {
        const struct front_demand demand = demand_of(seed);
        const uint32_t n = draw(seed, designs);
        bool before[MOST];
        judge(&demand, designs, n - 1);
        const double least = least_expense(&demand, designs, n - 1);
        for (uint32_t i = 0; i < n - 1; i++) {
            before[i] = designs[i].front;
        }
        judge(&demand, designs, n);
        ck_assert(least_expense(&demand, designs, n) <= least);
        for (uint32_t i = 0; i < n - 1; i++) { /* who has gone is beaten by who has come, and nobody came back */
            ck_assert(!designs[i].front || before[i]);
            ck_assert(designs[i].front || !before[i] || designs[n - 1].front);
        }
    }
}
END_TEST

/* Simulated one after the other, with what the fluid model said: all of its front has its turn, and the front stays. */
START_TEST(the_whole_front_is_among_the_finalists) {
    struct design_figures designs[MOST];
    for (uint64_t seed = 0; seed < CASES; seed++) {
        const struct front_demand demand = demand_of(seed);
        const uint32_t n = draw(seed, designs);
        bool front[MOST];
        uint32_t left, next;
        judge(&demand, designs, n);
        for (uint32_t i = 0; i < n; i++) {
            front[i] = designs[i].front;
        }
        while ((next = front_finalist(&demand, designs, n, 0.1, &left)) != UINT32_MAX) {
            designs[next].state = DESIGN_PACKETS;
        }
        front_mark(&demand, designs, n, DESIGN_PACKETS);
        for (uint32_t i = 0; i < n; i++) {
            ck_assert(front[i] == designs[i].front);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("front");
    TCase *tests = tcase_create("front");
    tcase_add_test(tests, the_front_of_five_designs);
    tcase_add_test(tests, a_target_may_be_the_least);
    tcase_add_test(tests, each_limit_leaves_designs_out);
    tcase_add_test(tests, finalists_are_those_that_may_be_on_the_front);
    tcase_add_test(tests, the_front_is_what_its_definition_says);
    tcase_add_test(tests, a_looser_limit_never_makes_the_cheapest_dearer);
    tcase_add_test(tests, another_design_never_makes_the_front_worse);
    tcase_add_test(tests, the_whole_front_is_among_the_finalists);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
