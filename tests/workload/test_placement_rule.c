// SPDX-License-Identifier: GPL-3.0-or-later
/* Placements by rule: their definitions on small groups, and what affinity finds. */
#include "workload/placement_rule.h"

#include "run_suite.h"
#include "workload/placement_affinity.h"
#include "workload/placement_near.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* 16 experts on 8 ranks in domains of 4. */
static const struct placement_shape small = {.experts = 16, .groups = 4, .replicas = 16, .ranks = 8, .domain_ranks = 4};

static void expect_ranks(enum experiment_placement_kind kind, const uint32_t *ranks) {
    struct placement *placement = placement_rule(kind, &small, NULL);
    for (uint32_t expert = 0; expert < small.experts; expert++) {
        ck_assert_uint_eq(placement_replicas_of(placement, expert), 1);
        ck_assert_uint_eq(placement->rank[expert], ranks[expert]);
    }
    ck_assert_uint_eq(placement->largest_slots, 2);
    placement_free(placement);
}

START_TEST(placements_by_number_are_as_defined) {
    expect_ranks(EXPERIMENT_PLACEMENT_CONTIGUOUS, (const uint32_t[]){0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});
    expect_ranks(EXPERIMENT_PLACEMENT_ROUND_ROBIN, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    expect_ranks(EXPERIMENT_PLACEMENT_DOMAIN_PACKED,
                 (const uint32_t[]){0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7});
    expect_ranks(EXPERIMENT_PLACEMENT_SPREAD, (const uint32_t[]){0, 4, 1, 5, 2, 6, 3, 7, 0, 4, 1, 5, 2, 6, 3, 7});
}
END_TEST

/* Tokens that pick two experts of one team of four: even experts are one team, and so on. Team t holds experts t, t + 4, t + 8, t + 12. */
static struct placement_history *teams(void) {
    struct placement_history *history = calloc(1, sizeof *history);
    *history = (struct placement_history){.experts = 16, .top_k = 2, .tokens = 4000};
    history->picks = calloc(8000, sizeof *history->picks);
    for (uint32_t token = 0; token < 4000; token++) {
        const uint64_t stream = hash_stream(7, HASH_PURPOSE_TEST, 0, token);
        const uint32_t team = token % 4, one = hash_below(hash_draw(stream, 0), 4);
        const uint32_t other = (one + 1 + hash_below(hash_draw(stream, 1), 3)) % 4;
        history->picks[2 * token] = team + 4 * one;
        history->picks[2 * token + 1] = team + 4 * other;
    }
    return history;
}

START_TEST(affinity_keeps_teams_in_one_domain) {
    struct placement_history *history = teams();
    struct placement *placement = placement_rule(EXPERIMENT_PLACEMENT_AFFINITY, &small, history);
    for (uint32_t token = 0; token < history->tokens; token++) {
        const uint32_t one = placement->rank[history->picks[2 * token]];
        const uint32_t other = placement->rank[history->picks[2 * token + 1]];
        ck_assert_uint_eq(one / 4, other / 4);
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        ck_assert_uint_eq(placement_slots_of(placement, rank), 2);
    }
    placement_free(placement);
    placement_history_free(history);
}
END_TEST

START_TEST(affinity_puts_replicas_of_one_expert_into_different_domains) {
    struct placement_history *history = teams();
    for (uint32_t i = 0; i < 2 * history->tokens; i += 3) {
        history->picks[i] = 5; /* hot; a token may now name it twice, which counts as its load only */
    }
    const struct placement_shape shape = {.experts = 16, .groups = 1, .replicas = 24, .ranks = 8, .domain_ranks = 4};
    struct placement *placement = placement_rule(EXPERIMENT_PLACEMENT_AFFINITY, &shape, history);
    const uint32_t first = placement->first[5], count = placement_replicas_of(placement, 5);
    bool domain_has[2] = {false, false};
    ck_assert_uint_ge(count, 2);
    for (uint32_t i = first; i < first + count; i++) {
        domain_has[placement->rank[i] / 4] = true;
    }
    ck_assert(domain_has[0] && domain_has[1]);
    placement_free(placement);
    placement_history_free(history);
}
END_TEST

START_TEST(history_counts_pairs_and_loads) {
    struct placement_history history = {.experts = 3, .top_k = 2, .tokens = 3};
    uint32_t picks[] = {0, 1, 1, 0, 1, 2};
    history.picks = picks;
    double *load = placement_history_load(&history);
    float *pairs = placement_history_pairs(&history);
    ck_assert(load[0] == 2 && load[1] == 3 && load[2] == 1);
    ck_assert(pairs[0 * 3 + 1] == 2 && pairs[1 * 3 + 0] == 2 && pairs[1 * 3 + 2] == 1 && pairs[0 * 3 + 2] == 0);
    ck_assert(pairs[0] == 0 && pairs[4] == 0 && pairs[8] == 0);
    free(load);
    free(pairs);
}
END_TEST

START_TEST(the_nearest_replica_is_taken_and_equals_share) {
    const uint32_t expert_of[] = {0, 0, 0, 1, 1, 2}, rank_of[] = {0, 2, 5, 6, 7, 3};
    const uint32_t domain_of[] = {0, 0, 0, 0, 1, 1, 1, 1};
    struct placement *placement = placement_create(3, 8, 6, expert_of, rank_of);
    struct placement_near near;
    uint32_t taken[8] = {0};
    placement_near_init(&near, placement);
    placement_near_find(&near, 2, domain_of, false); /* has expert 0 itself */
    ck_assert_uint_eq(near.count[0], 1);
    ck_assert_uint_eq(placement_near_rank(&near, 99, 0), 2);
    ck_assert_uint_eq(near.count[1], 2);             /* both elsewhere */
    placement_near_find(&near, 1, domain_of, false); /* two replicas in its domain, one elsewhere */
    ck_assert_uint_eq(near.count[0], 2);
    placement_near_find(&near, 4, domain_of, false);
    ck_assert_uint_eq(placement_near_rank(&near, 99, 0), 5);
    ck_assert_uint_eq(placement_near_rank(&near, 99, 2), 3);
    placement_near_find(&near, 2, domain_of, true);
    ck_assert_uint_eq(near.count[0], 3);
    for (uint32_t token = 0; token < 30000; token++) {
        taken[placement_near_rank(&near, placement_near_stream(1, 2, token), 0)]++;
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_ge(taken[rank_of[i]], 9600); /* 10000 ± 4.9 standard deviations */
        ck_assert_uint_le(taken[rank_of[i]], 10400);
    }
    placement_near_fini(&near);
    placement_free(placement);
}
END_TEST

/* Parts of three domains: ranks 0, 1 and 2, rank 3, ranks 4 to 7; two experts on each. */
START_TEST(rules_know_unequal_parts_of_domains) {
    static const uint32_t gpu[] = {0, 2, 3, 7, 8, 9, 10, 11};
    static const uint32_t packed[16] = {0, 1, 2, 0, 1, 2, 3, 3, 4, 5, 6, 7, 4, 5, 6, 7};
    static const uint32_t spread[16] = {0, 3, 4, 1, 3, 5, 2, 6, 0, 7, 1, 4, 2, 5, 6, 7};
    struct placement_layout layout;
    placement_layout_init(&layout, gpu, 8, 4);
    ck_assert_uint_eq(layout.domains, 3);
    const struct placement_shape shape = {
        .experts = 16, .groups = 4, .replicas = 16, .ranks = 8, .domain_ranks = 8, .layout = &layout};
    struct placement *one = placement_rule(EXPERIMENT_PLACEMENT_DOMAIN_PACKED, &shape, NULL);
    struct placement *other = placement_rule(EXPERIMENT_PLACEMENT_SPREAD, &shape, NULL);
    ck_assert_mem_eq(one->rank, packed, sizeof packed);
    ck_assert_mem_eq(other->rank, spread, sizeof spread);
    placement_free(one);
    placement_free(other);
    placement_layout_fini(&layout);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("placement rule");
    TCase *tests = tcase_create("placement rule");
    tcase_add_test(tests, placements_by_number_are_as_defined);
    tcase_add_test(tests, affinity_keeps_teams_in_one_domain);
    tcase_add_test(tests, affinity_puts_replicas_of_one_expert_into_different_domains);
    tcase_add_test(tests, history_counts_pairs_and_loads);
    tcase_add_test(tests, the_nearest_replica_is_taken_and_equals_share);
    tcase_add_test(tests, rules_know_unequal_parts_of_domains);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
