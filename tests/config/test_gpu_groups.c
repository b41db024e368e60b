// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gpu_groups.h"
#include "run_suite.h"

#include <check.h>

enum { GPUS = 24, DOMAIN = 6, MOST = 24 };

/* Jobs on 4 domains of 6 GPUs, and what is to come of them, worked out by hand. */
static const struct {
    const char *gpus;
    enum experiment_group_placement placement;
    uint32_t group, n, gpu[MOST], domain_gpus;
} jobs[] = {
    {"3, 0-1, 7", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 2, 4, {3, 0, 1, 7}, 0},
    {"0-1, 6-7", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 0, 4, {0, 1, 6, 7}, 2},
    {"0-1, 6-7", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 2, 4, {0, 1, 6, 7}, 2},
    {"0, 6, 1, 7", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 2, 4, {0, 6, 1, 7}, 1},
    {"0, 6, 1, 7", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 4, 4, {0, 6, 1, 7}, 0}, /* a domain comes twice */
    {"0, 6, 1, 7", EXPERIMENT_GROUP_PLACEMENT_PACKED, 2, 4, {0, 1, 6, 7}, 2},
    /* 5, 3, 6 and 4 free: the first group fits the third domain; the second takes the first and one of the second, the third the fourth and the rest */
    {"0-4, 6-8, 12-17, 20-23",
     EXPERIMENT_GROUP_PLACEMENT_PACKED,
     6,
     18,
     {12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 6, 20, 21, 22, 23, 7, 8},
     0},
    {"0-4, 6-8, 12-17, 20-23",
     EXPERIMENT_GROUP_PLACEMENT_PACKED,
     9,
     18,
     {12, 13, 14, 15, 16, 17, 6, 7, 8, 0, 1, 2, 3, 4, 20, 21, 22, 23},
     0},
    {"1/2, 5", EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, 0, 0, {0}, 0},
};

static struct gpu_groups *make(const char *gpus, enum experiment_group_placement placement, uint32_t group,
                               uint64_t seed) {
    char problem[200];
    const struct gpu_groups_wanted wanted = {
        .gpus = gpus, .n_gpus = GPUS, .domain_gpus = DOMAIN, .group_gpus = group, .placement = placement, .seed = seed};
    return gpu_groups_create(&wanted, problem, sizeof problem);
}

START_TEST(groups_are_those_that_were_worked_out_by_hand) {
    struct gpu_groups *groups = make(jobs[_i].gpus, jobs[_i].placement, jobs[_i].group, 1);
    if (jobs[_i].n == 0) {
        ck_assert_ptr_null(groups);
        return;
    }
    ck_assert_ptr_nonnull(groups);
    for (uint32_t i = 0; i < groups->n_members && i < jobs[_i].n; i++) {
        ck_assert_msg(groups->gpu[i] == jobs[_i].gpu[i], "job %d: member %u is GPU %u, not %u", _i, i, groups->gpu[i],
                      jobs[_i].gpu[i]);
        ck_assert_uint_eq(groups->member[groups->gpu[i]], i);
    }
    ck_assert_uint_eq(groups->domain_gpus, jobs[_i].domain_gpus);
    gpu_groups_free(groups);
}
END_TEST

START_TEST(groups_must_divide_the_job) {
    ck_assert_ptr_null(make("0-4", EXPERIMENT_GROUP_PLACEMENT_PACKED, 2, 1));
    ck_assert_ptr_null(make("0-99", EXPERIMENT_GROUP_PLACEMENT_PACKED, 2, 1));
}
END_TEST

/* Every GPU of the job once, whatever is drawn; every place of an order about as often. */
START_TEST(random_groups_are_drawn_among_the_gpus_of_the_job) {
    enum { SEEDS = 600, JOB = 6 };
    uint32_t first[GPUS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool seen[GPUS] = {false};
        struct gpu_groups *groups = make("2, 3, 9, 13-15", EXPERIMENT_GROUP_PLACEMENT_RANDOM, 3, seed);
        for (uint32_t i = 0; i < JOB; i++) {
            ck_assert(!seen[groups->gpu[i]]);
            seen[groups->gpu[i]] = true;
            ck_assert_uint_ne(groups->place[groups->gpu[i]], GPU_GROUPS_NONE);
        }
        first[groups->gpu[0]]++;
        ck_assert_uint_eq(groups->member[0], GPU_GROUPS_NONE);
        gpu_groups_free(groups);
    }
    for (uint32_t gpu = 0; gpu < GPUS; gpu++) { /* binomial: 100 ± 9 */
        ck_assert(first[gpu] == 0 || (first[gpu] > 60 && first[gpu] < 140));
    }
}
END_TEST

START_TEST(packed_groups_of_a_whole_cluster_are_the_consecutive_ones) {
    struct gpu_groups *packed = make("all", EXPERIMENT_GROUP_PLACEMENT_PACKED, 12, 1);
    for (uint32_t i = 0; i < GPUS; i++) {
        ck_assert_uint_eq(packed->gpu[i], i);
    }
    ck_assert_uint_eq(packed->domain_gpus, DOMAIN);
    gpu_groups_free(packed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("gpu_groups");
    TCase *cases = tcase_create("groups");
    tcase_add_loop_test(cases, groups_are_those_that_were_worked_out_by_hand, 0, sizeof jobs / sizeof jobs[0]);
    tcase_add_test(cases, groups_must_divide_the_job);
    tcase_add_test(cases, random_groups_are_drawn_among_the_gpus_of_the_job);
    tcase_add_test(cases, packed_groups_of_a_whole_cluster_are_the_consecutive_ones);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
