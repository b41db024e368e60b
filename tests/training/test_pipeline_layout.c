// SPDX-License-Identifier: GPL-3.0-or-later
/* Cuts of a model: the largest part is as small as any cut can make it, and given cuts are read or refused. */
#include "base/hash.h"
#include "run_suite.h"
#include "training/pipeline_layout.h"

#include <check.h>
#include <string.h>

static uint64_t largest(const struct pipeline_layout *layout, const uint64_t *costs) {
    uint64_t most = 0;
    for (uint32_t part = 0; part < layout->n_parts; part++) {
        uint64_t sum = 0;
        ck_assert_uint_lt(layout->first[part], layout->first[part + 1]);
        for (uint32_t i = layout->first[part]; i < layout->first[part + 1]; i++) {
            sum += costs[i];
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* By trying all cuts. */
static uint64_t least_largest(const uint64_t *costs, uint32_t n_layers, uint32_t n_parts) {
    uint64_t first = 0, best = UINT64_MAX;
    if (n_parts == 1) {
        for (uint32_t i = 0; i < n_layers; i++) {
            first += costs[i];
        }
        return first;
    }
    for (uint32_t take = 1; take + n_parts - 1 <= n_layers; take++) {
        first += costs[take - 1];
        const uint64_t rest = least_largest(costs + take, n_layers - take, n_parts - 1);
        const uint64_t most = rest > first ? rest : first;
        best = most < best ? most : best;
    }
    return best;
}

START_TEST(no_cut_has_a_smaller_largest_part) {
    for (uint32_t trial = 0; trial < 300; trial++) {
        uint64_t costs[9];
        const uint32_t n_layers = 1 + (uint32_t)(hash_mix(trial) % 9);
        const uint32_t n_parts = 1 + (uint32_t)(hash_mix(trial + 1000) % n_layers);
        for (uint32_t i = 0; i < n_layers; i++) {
            costs[i] = hash_mix(trial * 16 + i + 5000) % 8;
        }
        struct pipeline_layout layout;
        pipeline_layout_balance(&layout, costs, n_layers, n_parts, n_parts);
        ck_assert_uint_eq(layout.first[0], 0);
        ck_assert_uint_eq(layout.first[n_parts], n_layers);
        ck_assert_uint_eq(largest(&layout, costs), least_largest(costs, n_layers, n_parts));
        pipeline_layout_fini(&layout);
    }
}
END_TEST

/* Of stages that hold two parts each, in the best of all cuts. */
static uint64_t least_stage(const uint64_t *costs, uint32_t n_layers) {
    uint64_t best = UINT64_MAX;
    for (uint32_t a = 1; a < n_layers - 2; a++) {
        for (uint32_t b = a + 1; b < n_layers - 1; b++) {
            for (uint32_t c = b + 1; c < n_layers; c++) {
                uint64_t stages[2] = {0};
                for (uint32_t i = 0; i < n_layers; i++) {
                    stages[i < a || (i >= b && i < c) ? 0 : 1] += costs[i];
                }
                const uint64_t most = stages[0] > stages[1] ? stages[0] : stages[1];
                best = most < best ? most : best;
            }
        }
    }
    return best;
}

START_TEST(stages_of_like_layers_are_nearly_as_even_as_the_best_cut_makes_them) {
    for (uint32_t trial = 0; trial < 100; trial++) {
        uint64_t costs[20];
        const uint32_t n_layers = 8 + (uint32_t)(hash_mix(trial) % 13);
        for (uint32_t i = 0; i < n_layers; i++) {
            costs[i] = 100; // with dense layers before and the last two different, as a model has them
        }
        costs[0] = hash_mix(trial + 100) % 120;
        costs[1] = 80;
        costs[n_layers - 2] = 100 + hash_mix(trial + 200) % 200;
        costs[n_layers - 1] = hash_mix(trial + 300) % 300;
        struct pipeline_layout layout;
        pipeline_layout_balance(&layout, costs, n_layers, 4, 2);
        uint64_t stages[2] = {0};
        for (uint32_t part = 0; part < 4; part++) {
            ck_assert_uint_lt(layout.first[part], layout.first[part + 1]);
            for (uint32_t i = layout.first[part]; i < layout.first[part + 1]; i++) {
                stages[part % 2] += costs[i];
            }
        }
        const uint64_t most = stages[0] > stages[1] ? stages[0] : stages[1];
        ck_assert_uint_le(100 * most, 105 * least_stage(costs, n_layers));
        pipeline_layout_fini(&layout);
    }
}
END_TEST

START_TEST(given_parts_are_taken) {
    struct pipeline_layout layout;
    struct error error = {0};
    ck_assert(pipeline_layout_read(&layout, "3, 1,4", 8, 3, &error));
    ck_assert_uint_eq(layout.first[1], 3);
    ck_assert_uint_eq(layout.first[2], 4);
    ck_assert_uint_eq(layout.first[3], 8);
    pipeline_layout_fini(&layout);
}
END_TEST

static const struct {
    const char *text, *message;
} broken[] = {
    {"", "has 0 parts with 0 layers; there are 3 virtual stages and 8 layers"},
    {"4,4", "has 2 parts with 8 layers"},
    {"3,1,3", "has 3 parts with 7 layers"},
    {"3,1,4,1", "has 4 parts with 9 layers"},
    {"3,1,4,", "not `3,1,4,`"},
    {"3,0,5", "not `3,0,5`"},
    {"3;1;4", "not `3;1;4`"},
    {"3,-1,6", "not `3,-1,6`"},
    {"99999999999999999999,1,1", "numbers of layers from 1"},
};

START_TEST(parts_that_do_not_fit_are_refused) {
    struct pipeline_layout layout;
    struct error error = {0};
    ck_assert(!pipeline_layout_read(&layout, broken[_i].text, 8, 3, &error));
    ck_assert_msg(strstr(error.message, broken[_i].message) != NULL, "%s", error.message);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pipeline-layout");
    TCase *tests = tcase_create("cuts");
    tcase_add_test(tests, no_cut_has_a_smaller_largest_part);
    tcase_add_test(tests, stages_of_like_layers_are_nearly_as_even_as_the_best_cut_makes_them);
    tcase_add_test(tests, given_parts_are_taken);
    tcase_add_loop_test(tests, parts_that_do_not_fit_are_refused, 0, (int)(sizeof broken / sizeof *broken));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
