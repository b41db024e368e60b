// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "base/rate.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/pattern.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <stdlib.h>
#include <string.h>

static struct instant_run run_pattern(const struct experiment_traffic *traffic, struct moe_placement placement,
                                      uint64_t seed) {
    struct error error;
    struct pattern *pattern = pattern_create(traffic, &placement, seed, &error);
    ck_assert_msg(pattern != NULL, "%s", error.message);
    const struct traffic plan = pattern_traffic(pattern);
    struct instant_run run = instant_run(&plan, 1000, 0, 0);
    pattern_free(pattern);
    return run;
}

START_TEST(single_sends_one_message) {
    const struct experiment_traffic traffic = {
        .pattern = EXPERIMENT_PATTERN_SINGLE, .bytes = 77, .source = 5, .destination = 2};
    struct instant_run run = run_pattern(&traffic, (struct moe_placement){.n_ranks = 8, .ranks_per_domain = 1}, 0);
    ck_assert_uint_eq(run.count, 1);
    ck_assert_uint_eq(run.messages[0].source, 5);
    ck_assert_uint_eq(run.messages[0].message.destination, 2);
    ck_assert_uint_eq(run.messages[0].message.bytes, 77);
    ck_assert_uint_eq(run.messages[0].message.route, TRAFFIC_FABRIC);
    instant_free(&run);
}
END_TEST

START_TEST(permutation_has_no_fixed_point_and_each_receives_once) {
    const struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 1};
    for (uint32_t n_ranks = 2; n_ranks < 40; n_ranks++) {
        uint32_t received[40] = {0};
        struct instant_run run =
            run_pattern(&traffic, (struct moe_placement){.n_ranks = n_ranks, .ranks_per_domain = 1}, n_ranks);
        ck_assert_uint_eq(run.count, n_ranks);
        for (uint32_t i = 0; i < run.count; i++) {
            ck_assert_uint_ne(run.messages[i].source, run.messages[i].message.destination);
            received[run.messages[i].message.destination]++;
        }
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            ck_assert_uint_eq(received[rank], 1);
        }
        instant_free(&run);
    }
}
END_TEST

/* 5 ranks have 44 derangements; each must come up equally often. */
START_TEST(permutations_are_uniform_over_all_derangements) {
    enum { RANKS = 5, DERANGEMENTS = 44, DRAWS = 44 * 200 };
    const struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 1};
    uint32_t *seen = memory_allocate(3125, sizeof *seen);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        struct pattern *pattern =
            pattern_create(&traffic, &(struct moe_placement){.n_ranks = RANKS, .ranks_per_domain = 1}, seed, NULL);
        uint32_t code = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            code = code * RANKS + pattern_destination(pattern, rank, 0);
        }
        seen[code]++;
        pattern_free(pattern);
    }
    double statistic = 0;
    int kinds = 0;
    for (int code = 0; code < 3125; code++) {
        if (seen[code] > 0) {
            kinds++;
            statistic += (seen[code] - 200.0) * (seen[code] - 200.0) / 200.0;
        }
    }
    ck_assert_int_eq(kinds, DERANGEMENTS);
    ck_assert_double_gt(gsl_cdf_chisq_Q(statistic, DERANGEMENTS - 1), 1e-4);
    free(seen);
}
END_TEST

START_TEST(incast_senders_are_spread_over_other_domains) {
    const struct experiment_traffic traffic = {
        .pattern = EXPERIMENT_PATTERN_INCAST, .bytes = 9, .destination = 10, .senders = 6};
    struct instant_run run = run_pattern(&traffic, (struct moe_placement){.n_ranks = 32, .ranks_per_domain = 8}, 0);
    ck_assert_uint_eq(run.count, 6);
    uint32_t in_domain[4] = {0};
    for (uint32_t i = 0; i < run.count; i++) {
        ck_assert_uint_eq(run.messages[i].message.destination, 10);
        ck_assert_uint_eq(run.messages[i].message.route, TRAFFIC_FABRIC);
        in_domain[run.messages[i].source / 8]++;
    }
    ck_assert_uint_eq(in_domain[0], 2);
    ck_assert_uint_eq(in_domain[1], 0);
    ck_assert_uint_eq(in_domain[2], 2);
    ck_assert_uint_eq(in_domain[3], 2);
    instant_free(&run);
}
END_TEST

START_TEST(incast_within_one_domain_takes_nvlink) {
    const struct experiment_traffic traffic = {
        .pattern = EXPERIMENT_PATTERN_INCAST, .bytes = 9, .destination = 7, .senders = 7};
    struct instant_run run = run_pattern(&traffic, (struct moe_placement){.n_ranks = 8, .ranks_per_domain = 8}, 0);
    ck_assert_uint_eq(run.count, 7);
    for (uint32_t i = 0; i < run.count; i++) {
        ck_assert_uint_eq(run.messages[i].message.route, TRAFFIC_NVLINK);
        ck_assert_uint_eq(run.messages[i].source, i);
    }
    instant_free(&run);
}
END_TEST

START_TEST(all_to_all_reaches_every_pair_beginning_with_the_neighbour) {
    const struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_ALL_TO_ALL, .bytes = 3};
    struct instant_run run = run_pattern(&traffic, (struct moe_placement){.n_ranks = 12, .ranks_per_domain = 4}, 0);
    bool pair[12][12] = {{false}};
    ck_assert_uint_eq(run.count, 12 * 11);
    for (uint32_t i = 0; i < run.count; i++) {
        const uint32_t source = run.messages[i].source, destination = run.messages[i].message.destination;
        ck_assert_uint_eq(destination, (source + 1 + i % 11) % 12);
        ck_assert(!pair[source][destination]);
        pair[source][destination] = true;
        ck_assert_uint_eq(run.messages[i].message.route,
                          source / 4 == destination / 4 ? TRAFFIC_NVLINK : TRAFFIC_FABRIC);
    }
    instant_free(&run);
}
END_TEST

START_TEST(starts_are_jittered_within_the_span_and_follow_the_seed) {
    const struct experiment_traffic traffic = {
        .pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 1, .jitter_ps = 1000000};
    struct instant_run first = run_pattern(&traffic, (struct moe_placement){.n_ranks = 256, .ranks_per_domain = 1}, 1);
    struct instant_run again = run_pattern(&traffic, (struct moe_placement){.n_ranks = 256, .ranks_per_domain = 1}, 1);
    struct instant_run other = run_pattern(&traffic, (struct moe_placement){.n_ranks = 256, .ranks_per_domain = 1}, 2);
    uint64_t sum = 0;
    uint32_t equal = 0;
    for (uint32_t i = 0; i < 256; i++) {
        const uint64_t start_ps = first.messages[i].message.start_ps;
        ck_assert_uint_lt(start_ps, 1000000);
        ck_assert_uint_eq(start_ps, again.messages[i].message.start_ps);
        ck_assert_uint_eq(first.messages[i].message.destination, again.messages[i].message.destination);
        equal += start_ps == other.messages[i].message.start_ps;
        sum += start_ps;
    }
    ck_assert_uint_lt(equal, 4);
    ck_assert_double_eq_tol((double)sum / 256, 500000, 5 * 1e6 / 3.4641 / 16); /* five standard errors */
    instant_free(&first);
    instant_free(&again);
    instant_free(&other);
}
END_TEST

static void expect_refusal(struct experiment_traffic traffic, struct moe_placement placement, const char *part) {
    struct error error = {0};
    ck_assert_ptr_null(pattern_create(&traffic, &placement, 0, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
}

START_TEST(impossible_patterns_are_refused_with_the_numbers) {
    struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_SINGLE, .bytes = 1, .source = 8};
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 8, .ranks_per_domain = 1}, "source 8");
    traffic.source = 0;
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 8, .ranks_per_domain = 1}, "another GPU");
    traffic.destination = 9;
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 8, .ranks_per_domain = 1}, "beyond the last GPU, 7");
    traffic = (struct experiment_traffic){.pattern = EXPERIMENT_PATTERN_INCAST, .bytes = 1, .senders = 9};
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 16, .ranks_per_domain = 8}, "1 to 8 senders outside");
    traffic.bytes = 0;
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 16, .ranks_per_domain = 8}, "0 bytes");
    traffic = (struct experiment_traffic){.pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 1};
    expect_refusal(traffic, (struct moe_placement){.n_ranks = 1, .ranks_per_domain = 1}, "two GPUs");
}
END_TEST

START_TEST(digest_tells_traffic_apart) {
    struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 1};
    const struct moe_placement placement = {.n_ranks = 64, .ranks_per_domain = 1};
    struct pattern *first = pattern_create(&traffic, &placement, 1, NULL);
    struct pattern *same = pattern_create(&traffic, &placement, 1, NULL);
    struct pattern *seeded = pattern_create(&traffic, &placement, 2, NULL);
    traffic.bytes = 2;
    struct pattern *larger = pattern_create(&traffic, &placement, 1, NULL);
    ck_assert_uint_eq(pattern_digest(first), pattern_digest(same));
    ck_assert_uint_ne(pattern_digest(first), pattern_digest(seeded));
    ck_assert_uint_ne(pattern_digest(first), pattern_digest(larger));
    pattern_free(first);
    pattern_free(same);
    pattern_free(seeded);
    pattern_free(larger);
}
END_TEST

/* 7 senders to rank 0, which posts nothing itself; and a permutation, in which a rank may have all before it starts. */
START_TEST(who_only_receives_starts_with_the_first_post_and_nobody_ends_before_its_start) {
    struct experiment_traffic traffic = {
        .pattern = EXPERIMENT_PATTERN_INCAST, .bytes = 1, .senders = 7, .jitter_ps = 1000000};
    struct pattern *pattern =
        pattern_create(&traffic, &(struct moe_placement){.n_ranks = 8, .ranks_per_domain = 1}, 1, NULL);
    uint64_t first_ps = TIME_NEVER;
    for (uint32_t rank = 1; rank < 8; rank++) {
        const uint64_t start_ps = pattern_times(pattern, rank).start_ps;
        first_ps = start_ps < first_ps ? start_ps : first_ps;
    }
    ck_assert_uint_gt(first_ps, 0);
    ck_assert_uint_eq(pattern_times(pattern, 0).start_ps, first_ps);
    pattern_free(pattern);
    traffic.pattern = EXPERIMENT_PATTERN_PERMUTATION;
    pattern = pattern_create(&traffic, &(struct moe_placement){.n_ranks = 64, .ranks_per_domain = 1}, 1, NULL);
    const struct traffic plan = pattern_traffic(pattern);
    struct instant_run run = instant_run(&plan, 500, 0, 1);
    uint32_t early = 0;
    for (uint32_t rank = 0; rank < 64; rank++) {
        const struct pattern_times times = pattern_times(pattern, rank);
        ck_assert_uint_ge(times.end_ps, times.start_ps);
        early += times.end_ps == times.start_ps;
    }
    ck_assert_uint_gt(early, 0);
    instant_free(&run);
    pattern_free(pattern);
}
END_TEST

START_TEST(each_of_a_ring_sends_to_the_next) {
    struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_RING, .bytes = 9, .gpus = "1-3, 6"};
    const struct moe_placement placement = {.n_ranks = 8, .ranks_per_domain = 4};
    static const uint32_t next[] = {0, 2, 3, 6, 0, 0, 1, 0};
    struct instant_run run = run_pattern(&traffic, placement, 1);
    ck_assert_uint_eq(run.count, 4);
    for (uint32_t i = 0; i < run.count; i++) {
        ck_assert_uint_eq(run.messages[i].message.destination, next[run.messages[i].source]);
    }
    instant_free(&run);
}
END_TEST

START_TEST(times_of_a_rank_are_its_start_and_its_last_delivery) {
    const struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_INCAST, .bytes = 1, .senders = 3};
    const struct moe_placement placement = {.n_ranks = 8, .ranks_per_domain = 8};
    struct pattern *pattern = pattern_create(&traffic, &placement, 1, NULL);
    ck_assert_uint_eq(pattern_times(pattern, 0).end_ps, TIME_NEVER);
    const struct traffic plan = pattern_traffic(pattern);
    struct instant_run run = instant_run(&plan, 500, 0, 1);
    ck_assert_uint_eq(pattern_times(pattern, 0).start_ps, 0); /* only receives */
    ck_assert_uint_eq(pattern_times(pattern, 0).end_ps, 500);
    const uint32_t sender = run.messages[0].source;
    ck_assert_uint_eq(pattern_times(pattern, sender).start_ps, 0);
    ck_assert_uint_eq(pattern_times(pattern, sender).end_ps, TIME_NEVER);
    pattern_take_end(pattern, sender, 77);
    ck_assert_uint_eq(pattern_times(pattern, sender).end_ps, 77);
    instant_free(&run);
    pattern_free(pattern);
}
END_TEST

START_TEST(only_those_that_are_named_take_part) {
    static const enum experiment_pattern kinds[] = {EXPERIMENT_PATTERN_PERMUTATION, EXPERIMENT_PATTERN_ALL_TO_ALL};
    const bool named[12] = {[1] = true, [4] = true, [7] = true, [10] = true, [11] = true};
    for (int kind = 0; kind < 2; kind++) {
        const struct experiment_traffic traffic = {.pattern = kinds[kind], .bytes = 5, .gpus = "11, 1-10/3"};
        uint32_t received[12] = {0};
        struct instant_run run = run_pattern(&traffic, (struct moe_placement){.n_ranks = 12, .ranks_per_domain = 4}, 3);
        for (uint32_t i = 0; i < run.count; i++) {
            ck_assert(named[run.messages[i].source]);
            received[run.messages[i].message.destination]++;
        }
        for (uint32_t rank = 0; rank < 12; rank++) {
            ck_assert_uint_eq(received[rank], named[rank] ? (kind == 0 ? 1 : 4) : 0);
        }
        instant_free(&run);
    }
    struct error error;
    const struct experiment_traffic beyond = {.pattern = EXPERIMENT_PATTERN_ALL_TO_ALL, .bytes = 5, .gpus = "3, 12"};
    ck_assert_ptr_null(
        pattern_create(&beyond, &(struct moe_placement){.n_ranks = 12, .ranks_per_domain = 4}, 0, &error));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pattern");
    TCase *cases = tcase_create("pattern");
    tcase_add_test(cases, single_sends_one_message);
    tcase_add_test(cases, permutation_has_no_fixed_point_and_each_receives_once);
    tcase_add_test(cases, permutations_are_uniform_over_all_derangements);
    tcase_add_test(cases, incast_senders_are_spread_over_other_domains);
    tcase_add_test(cases, incast_within_one_domain_takes_nvlink);
    tcase_add_test(cases, all_to_all_reaches_every_pair_beginning_with_the_neighbour);
    tcase_add_test(cases, only_those_that_are_named_take_part);
    tcase_add_test(cases, starts_are_jittered_within_the_span_and_follow_the_seed);
    tcase_add_test(cases, impossible_patterns_are_refused_with_the_numbers);
    tcase_add_test(cases, each_of_a_ring_sends_to_the_next);
    tcase_add_test(cases, times_of_a_rank_are_its_start_and_its_last_delivery);
    tcase_add_test(cases, who_only_receives_starts_with_the_first_post_and_nobody_ends_before_its_start);
    tcase_add_test(cases, digest_tells_traffic_apart);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
