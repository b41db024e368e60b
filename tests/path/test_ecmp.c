// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "path/ecmp.h"
#include "path/path.h"
#include "path/replay.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 64 };

static const struct path_parameters parameters = {.kind = PATH_ECMP, .refresh_period_ps = 1000000};

/* Sum of (count - mean)^2 / mean; for n_bins equal bins its mean is n_bins - 1 and its variance twice that. */
static double chi_square(const uint32_t *counts, unsigned n_bins) {
    double total = 0;
    double sum = 0;
    for (unsigned i = 0; i < n_bins; i++) {
        total += counts[i];
    }
    for (unsigned i = 0; i < n_bins; i++) {
        const double away = counts[i] - total / n_bins;
        sum += away * away / (total / n_bins);
    }
    return sum;
}

/* Within five standard deviations: neither uneven nor suspiciously even. */
static void assert_uniform(const uint32_t *counts, unsigned n_bins) {
    const double square = (chi_square(counts, n_bins) - (n_bins - 1)) * (chi_square(counts, n_bins) - (n_bins - 1));
    ck_assert_double_le(square, 25.0 * 2 * (n_bins - 1));
}

static struct path_request header(uint32_t source, uint32_t destination, uint16_t entropy) {
    return (struct path_request){
        .source = source, .destination = destination, .entropy = entropy, .first_port = 32, .count = BINS};
}

START_TEST(choices_are_uniform_over_consecutive_addresses) {
    const uint64_t seed = ecmp_switch_seed(1, 5, false);
    uint32_t counts[BINS] = {0};
    for (uint32_t source = 0; source < 256; source++) {
        for (uint32_t destination = 0; destination < 256; destination++) {
            const struct path_request request = header(source, destination, 0);
            const unsigned port = ecmp_choose_port(seed, &request);
            ck_assert(port >= 32 && port < 32 + BINS);
            counts[port - 32]++;
        }
    }
    assert_uniform(counts, BINS);
}
END_TEST

START_TEST(choices_are_uniform_over_entropies_of_one_pair) {
    const uint64_t seed = ecmp_switch_seed(1, 5, false);
    uint32_t counts[BINS] = {0};
    for (uint32_t entropy = 0; entropy < 65536; entropy++) {
        const struct path_request request = header(3, 77, (uint16_t)entropy);
        counts[ecmp_choose_port(seed, &request) - 32]++;
    }
    assert_uniform(counts, BINS);
}
END_TEST

/* Two switches see the same headers: their joint choices fill an 8 × 8 table evenly, unless polarised. */
START_TEST(switches_choose_independently_unless_polarised) {
    for (unsigned polarised = 0; polarised < 2; polarised++) {
        const uint64_t first = ecmp_switch_seed(9, 1, polarised == 1);
        const uint64_t second = ecmp_switch_seed(9, 2, polarised == 1);
        uint32_t joint[BINS] = {0};
        uint32_t same = 0;
        for (uint32_t source = 0; source < 40000; source++) {
            struct path_request request = header(source, source + 1, 11);
            request.count = 8;
            const unsigned a = ecmp_choose_port(first, &request) - 32u;
            const unsigned b = ecmp_choose_port(second, &request) - 32u;
            joint[8 * a + b]++;
            same += a == b;
        }
        if (polarised == 1) {
            ck_assert_uint_eq(same, 40000);
        } else {
            assert_uniform(joint, BINS);
        }
    }
}
END_TEST

START_TEST(seeds_of_runs_and_of_switches_differ) {
    ck_assert_uint_ne(ecmp_switch_seed(1, 5, false), ecmp_switch_seed(2, 5, false));
    ck_assert_uint_ne(ecmp_switch_seed(1, 5, false), ecmp_switch_seed(1, 6, false));
    ck_assert_uint_eq(ecmp_switch_seed(1, 5, true), ecmp_switch_seed(1, 0, false));
}
END_TEST

START_TEST(a_flow_keeps_its_path_whatever_the_time_and_the_load) {
    const struct path_policy *ecmp = path_policy_of(PATH_ECMP);
    struct path_state *state = ecmp->create(&parameters, 1, 5, 96);
    struct path_port ports[96] = {{0}};
    struct path_request request = header(3, 77, 42);
    const uint16_t port = ecmp->choose(state, &request);
    ck_assert_uint_eq(port, ecmp_choose_port(ecmp_switch_seed(1, 5, false), &request));
    ports[port] = (struct path_port){.depth_bytes = 1000000000, .paused = true};
    ecmp->refresh(state, ports);
    for (unsigned i = 0; i < 100; i++) {
        request.now_ps += 1000000;
        request.ingress_port = (uint16_t)(i % 32);
        request.adaptive = i % 2 == 0;
        ck_assert_uint_eq(ecmp->choose(state, &request), port);
    }
    ck_assert(!ecmp->reads_ports);
    path_state_free(state);
}
END_TEST

/* Flow i goes from endpoint i of one leaf to a partner elsewhere, with the entropy that a NIC gives its only queue pair. */
static struct replay_load mean_load(unsigned n_flows, uint16_t n_uplinks, unsigned n_seeds, double *mean_max) {
    struct replay_flow flows[512];
    struct replay_load sum = {0};
    *mean_max = 0;
    for (uint32_t i = 0; i < n_flows; i++) {
        const uint32_t destination = 4096 + i;
        flows[i] = (struct replay_flow){i, destination, (uint16_t)hash_mix(hash_mix(destination))};
    }
    for (unsigned seed = 0; seed < n_seeds; seed++) {
        const struct replay_load load = replay_max_load(ecmp_switch_seed(seed, 7, false), flows, n_flows, n_uplinks);
        *mean_max += (double)load.max_load / n_seeds;
        sum.mean_share += load.mean_share / n_seeds;
        sum.idle_uplinks += load.idle_uplinks;
    }
    return sum;
}

static void assert_near(double value, double expected, double tolerance) {
    ck_assert_double_le(value, expected * (1 + tolerance));
    ck_assert_double_ge(value, expected * (1 - tolerance));
}

START_TEST(loads_follow_the_law_of_balls_in_bins) {
    enum { SEEDS = 4000 };
    FILE *file = fopen(DATA_DIRECTORY "/ecmp_balls_in_bins.csv", "r");
    ck_assert_ptr_nonnull(file);
    char line[512];
    unsigned rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned flows;
        unsigned uplinks;
        double max_load;
        double empty;
        double share;
        if (sscanf(line, "%u,%u,%lf,%*f,%*f,%*f,%lf,%*f,%*f,%lf", &flows, &uplinks, &max_load, &empty, &share) == 5) {
            double mean_max;
            const struct replay_load sum = mean_load(flows, (uint16_t)uplinks, SEEDS, &mean_max);
            assert_near(mean_max, max_load, 0.02);
            assert_near(sum.mean_share, share, 0.01);
            ck_assert_double_eq_tol((double)sum.idle_uplinks / SEEDS / uplinks, empty, 0.01);
            rows++;
        }
    }
    fclose(file);
    ck_assert_uint_eq(rows, 11);
}
END_TEST

/* The figure that is quoted most: 64 flows on 64 uplinks, 300 seeds. */
START_TEST(three_hundred_seeds_give_the_mean_within_two_percent) {
    double mean_max;
    const struct replay_load sum = mean_load(64, 64, 300, &mean_max);
    assert_near(mean_max, 3.963, 0.02);
    assert_near(sum.mean_share, 0.6348, 0.02);
}
END_TEST

/* Two flows on one uplink: each gets half of what it demands. One flow: all. */
START_TEST(shares_by_hand) {
    const struct replay_flow twins[2] = {{1, 2, 3}, {1, 2, 3}};
    const struct replay_load collided = replay_max_load(17, twins, 2, 2);
    ck_assert_uint_eq(collided.max_load, 2);
    ck_assert_uint_eq(collided.idle_uplinks, 1);
    ck_assert_double_eq(collided.mean_share, 0.5);
    const struct replay_load alone = replay_max_load(17, twins, 1, 1);
    ck_assert_uint_eq(alone.max_load, 1);
    ck_assert_double_eq(alone.mean_share, 1.0);
}
END_TEST

START_TEST(the_table_knows_every_policy_by_its_name) {
    ck_assert_str_eq(path_policy_of(PATH_ECMP)->name, "ecmp");
    ck_assert_str_eq(path_policy_of(PATH_ADAPTIVE)->name, "adaptive");
}
END_TEST

START_TEST(switches_do_not_look_in_step) {
    uint32_t counts[10] = {0};
    for (uint32_t device = 0; device < 10000; device++) {
        const uint64_t offset_ps = path_refresh_offset_ps(&parameters, 4, device);
        ck_assert_uint_lt(offset_ps, parameters.refresh_period_ps);
        counts[offset_ps / 100000]++;
    }
    assert_uniform(counts, 10);
}
END_TEST

int main(void) {
    TCase *hash = tcase_create("hash");
    tcase_add_test(hash, choices_are_uniform_over_consecutive_addresses);
    tcase_add_test(hash, choices_are_uniform_over_entropies_of_one_pair);
    tcase_add_test(hash, switches_choose_independently_unless_polarised);
    tcase_add_test(hash, seeds_of_runs_and_of_switches_differ);
    tcase_add_test(hash, a_flow_keeps_its_path_whatever_the_time_and_the_load);
    tcase_add_test(hash, loads_follow_the_law_of_balls_in_bins);
    tcase_add_test(hash, three_hundred_seeds_give_the_mean_within_two_percent);
    tcase_add_test(hash, shares_by_hand);
    tcase_add_test(hash, the_table_knows_every_policy_by_its_name);
    tcase_add_test(hash, switches_do_not_look_in_step);
    Suite *suite = suite_create("ecmp");
    suite_add_tcase(suite, hash);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
