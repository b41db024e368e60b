// SPDX-License-Identifier: GPL-3.0-or-later
/* Groups and rings of collectives: who is in which, and where rings cross between domains. */
#include "run_suite.h"
#include "workload/collective.h"

#include <check.h>
#include <stdbool.h>

enum { RANKS_MOST = 96 };

/* Splits that are even and uneven towards domains. */
static const struct collective_layout layouts[] = {
    {.n_ranks = 16, .domain_ranks = 8, .tensor = 2, .expert = 8},
    {.n_ranks = 16, .domain_ranks = 8, .tensor = 1, .expert = 4},
    {.n_ranks = 96, .domain_ranks = 8, .tensor = 4, .expert = 3},
    {.n_ranks = 96, .domain_ranks = 8, .tensor = 6, .expert = 4},
    {.n_ranks = 96, .domain_ranks = 8, .tensor = 96, .expert = 1},
    {.n_ranks = 96, .domain_ranks = 8, .tensor = 12, .expert = 2},
    {.n_ranks = 96, .domain_ranks = 48, .tensor = 1, .expert = 96},
    {.n_ranks = 24, .domain_ranks = 1, .tensor = 3, .expert = 2},
    {.n_ranks = 12, .domain_ranks = 4, .tensor = 3, .expert = 1},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

START_TEST(every_rank_is_in_one_group_of_each_kind) {
    const struct collective_layout *layout = &layouts[_i];
    for (int kind = 0; kind < PARALLEL_GROUPS; kind++) {
        uint32_t found[RANKS_MOST] = {0};
        const uint32_t n = collective_groups(layout, (enum parallel_group)kind);
        for (uint32_t number = 0; number < n; number++) {
            const struct collective_group group = collective_group(layout, (enum parallel_group)kind, number);
            ck_assert_uint_eq(group.count * n, layout->n_ranks);
            for (uint32_t member = 0; member < group.count; member++) {
                const uint32_t rank = collective_rank(&group, member);
                ck_assert_uint_lt(rank, layout->n_ranks);
                ck_assert_uint_eq(collective_member(&group, rank), member);
                ck_assert_uint_eq(collective_group_of(layout, (enum parallel_group)kind, rank), number);
                found[rank]++;
            }
        }
        for (uint32_t rank = 0; rank < layout->n_ranks; rank++) {
            ck_assert_uint_eq(found[rank], 1);
        }
    }
}
END_TEST

/* 16 ranks in pairs, four pairs to an expert group: by hand. */
START_TEST(groups_are_those_of_megatron) {
    const struct collective_layout layout = {.n_ranks = 16, .domain_ranks = 8, .tensor = 2, .expert = 4};
    const struct {
        enum parallel_group kind;
        uint32_t rank, members[8], count;
    } known[] = {
        {PARALLEL_TENSOR, 5, {4, 5}, 2},       {PARALLEL_DATA, 5, {1, 3, 5, 7, 9, 11, 13, 15}, 8},
        {PARALLEL_EXPERT, 5, {1, 3, 5, 7}, 4}, {PARALLEL_EXPERT, 10, {8, 10, 12, 14}, 4},
        {PARALLEL_EXPERT_DATA, 5, {5, 13}, 2},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const uint32_t number = collective_group_of(&layout, known[i].kind, known[i].rank);
        const struct collective_group group = collective_group(&layout, known[i].kind, number);
        ck_assert_uint_eq(group.count, known[i].count);
        for (uint32_t member = 0; member < group.count; member++) {
            ck_assert_uint_eq(collective_rank(&group, member), known[i].members[member]);
        }
    }
}
END_TEST

/* Follows a ring once around: every member once, and each domain entered once, by the members that say so. */
static void check_ring(const struct collective_group *group, uint32_t domain_ranks, uint32_t rings, uint32_t ring,
                       uint32_t entries[RANKS_MOST]) {
    bool seen[RANKS_MOST] = {false};
    uint32_t domains = 0, crossings = 0, at = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        ck_assert(!seen[at]);
        seen[at] = true;
        const uint32_t next = collective_next(group, domain_ranks, ring, at);
        const uint32_t from = collective_rank(group, at) / domain_ranks;
        const uint32_t to = collective_rank(group, next) / domain_ranks;
        domains += i == 0 || collective_rank(group, i) / domain_ranks != collective_rank(group, i - 1) / domain_ranks;
        crossings += from != to;
        entries[next] += from != to;
        at = next;
    }
    ck_assert_uint_eq(at, 0);
    ck_assert_uint_eq(crossings, domains == 1 ? 0 : domains);
    ck_assert(domains > 1 || rings == 1);
}

START_TEST(rings_go_through_all_members_and_enter_domains_by_different_ones) {
    const struct collective_layout *layout = &layouts[_i];
    for (int kind = 0; kind < PARALLEL_GROUPS; kind++) {
        for (uint32_t number = 0; number < collective_groups(layout, (enum parallel_group)kind); number++) {
            const struct collective_group group = collective_group(layout, (enum parallel_group)kind, number);
            const uint32_t rings = collective_rings(&group, layout->domain_ranks);
            uint32_t entries[RANKS_MOST] = {0};
            for (uint32_t ring = 0; group.count > 1 && ring < rings; ring++) {
                check_ring(&group, layout->domain_ranks, rings, ring, entries);
            }
            for (uint32_t member = 0; group.count > 1 && member < group.count; member++) {
                ck_assert_uint_le(entries[member], 1);
                ck_assert_uint_eq(entries[member], collective_entries(&group, layout->domain_ranks, rings, member));
            }
        }
    }
}
END_TEST

/* Two and four domains of eight: a ring leaves a domain at the position at which it enters the next. */
START_TEST(rings_stay_on_their_rail) {
    const struct collective_group group = {.first = 0, .stride = 1, .count = 32};
    ck_assert_uint_eq(collective_rings(&group, 8), 8);
    for (uint32_t ring = 0; ring < 8; ring++) {
        for (uint32_t member = 0; member < 24; member++) {
            const uint32_t next = collective_next(&group, 8, ring, member);
            ck_assert(next / 8 == member / 8 || next % 8 == member % 8);
        }
    }
}
END_TEST

START_TEST(groups_have_as_many_rings_as_ranks_in_their_smallest_domain) {
    const struct {
        struct collective_group group;
        uint32_t domain_ranks, rings;
    } known[] = {
        {{0, 1, 8}, 8, 1}, {{0, 1, 16}, 8, 8},    {{3, 8, 12}, 8, 1}, {{0, 2, 8}, 8, 4},
        {{6, 1, 6}, 8, 2}, {{0, 1, 144}, 72, 32}, {{0, 1, 4}, 1, 1},  {{0, 12, 8}, 8, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        ck_assert_uint_eq(collective_rings(&known[i].group, known[i].domain_ranks), known[i].rings);
    }
}
END_TEST

START_TEST(operations_have_their_steps_and_sizes) {
    ck_assert_uint_eq(collective_steps(PARALLEL_ALL_REDUCE, 8), 14);
    ck_assert_uint_eq(collective_steps(PARALLEL_ALL_GATHER, 8), 7);
    ck_assert_uint_eq(collective_steps(PARALLEL_REDUCE_SCATTER, 8), 7);
    ck_assert_uint_eq(collective_steps(PARALLEL_ALL_TO_ALL, 8), 0);
    ck_assert_uint_eq(collective_message_bytes(PARALLEL_ALL_REDUCE, 1600, 8, 4), 50);
    ck_assert_uint_eq(collective_message_bytes(PARALLEL_ALL_TO_ALL, 1600, 8, 4), 200);
    ck_assert_uint_eq(collective_message_bytes(PARALLEL_ALL_GATHER, 1, 8, 4), 1);
    ck_assert_uint_eq(collective_message_bytes(PARALLEL_ALL_REDUCE, 1601, 8, 4), 51);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("collective");
    TCase *tests = tcase_create("arithmetic");
    tcase_add_loop_test(tests, every_rank_is_in_one_group_of_each_kind, 0, LAYOUTS);
    tcase_add_test(tests, groups_are_those_of_megatron);
    tcase_add_loop_test(tests, rings_go_through_all_members_and_enter_domains_by_different_ones, 0, LAYOUTS);
    tcase_add_test(tests, rings_stay_on_their_rail);
    tcase_add_test(tests, groups_have_as_many_rings_as_ranks_in_their_smallest_domain);
    tcase_add_test(tests, operations_have_their_steps_and_sizes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
