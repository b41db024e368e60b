// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "path/ecmp.h"
#include "path/path.h"
#include "path/replay.h"
#include "run_suite.h"
#include "uniform.h"

#include <check.h>
#include <stdio.h>

enum { BINS = 64 };

static const struct path_parameters parameters = {.kind = PATH_ECMP, .refresh_period_ps = 1000000};

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
    uniform_assert(counts, BINS);
}
END_TEST

START_TEST(choices_are_uniform_over_entropies_of_one_pair) {
    const uint64_t seed = ecmp_switch_seed(1, 5, false);
    uint32_t counts[BINS] = {0};
    for (uint32_t entropy = 0; entropy < 65536; entropy++) {
        const struct path_request request = header(3, 77, (uint16_t)entropy);
        counts[ecmp_choose_port(seed, &request) - 32]++;
    }
    uniform_assert(counts, BINS);
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
            uniform_assert(joint, BINS);
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

/* The check value of CRC-16-CCITT started from ones, from the catalogue of parametrised CRC algorithms. */
START_TEST(the_crc_has_its_check_value) {
    static const uint8_t digits[9] = "123456789";
    ck_assert_uint_eq(ecmp_crc16(0xffff, digits, 9), 0x29b1);
    ck_assert_uint_eq(ecmp_crc16(0, digits, 9), 0x31c3);
    ck_assert_uint_eq(ecmp_crc16(0x1234, digits, 0), 0x1234);
}
END_TEST

START_TEST(the_crc_reads_addresses_protocol_and_ports) {
    static const uint8_t expected[ECMP_HEADER_BYTES] = {10, 0, 1, 2, 10, 0, 0, 77, 17, 0xc0, 0x05, 0x12, 0xb7};
    uint8_t bytes[ECMP_HEADER_BYTES];
    ecmp_header(bytes, 258, 77, 0xc005);
    ck_assert_mem_eq(bytes, expected, ECMP_HEADER_BYTES);
    const struct ecmp_rule rule = {.switch_seed = UINT64_C(0xabcd00000000ffff), .hash = PATH_HASH_CRC16};
    struct path_request request = header(258, 77, 0xc005);
    request.count = 7;
    ck_assert_uint_eq(ecmp_rule_port(&rule, &request), 32 + ecmp_crc16(0xffff, expected, ECMP_HEADER_BYTES) % 7);
}
END_TEST

/* All entropies of one pair: a CRC of 16 bits gives each value once, so every port exactly its share. */
START_TEST(the_crc_is_a_bijection_of_the_entropy) {
    const struct ecmp_rule rule = {.switch_seed = 5, .hash = PATH_HASH_CRC16};
    uint32_t counts[BINS] = {0};
    for (uint32_t entropy = 0; entropy < 65536; entropy++) {
        const struct path_request request = header(3, 77, (uint16_t)entropy);
        counts[ecmp_rule_port(&rule, &request) - 32]++;
    }
    for (unsigned i = 0; i < BINS; i++) {
        ck_assert_uint_eq(counts[i], 65536 / BINS);
    }
}
END_TEST

/* Flows with random entropies that share a port at one switch share one at another, whatever its seed; under the mix they part. */
START_TEST(switches_with_a_crc_are_polarised_in_spite_of_their_seeds) {
    const struct path_parameters crc = {.kind = PATH_ECMP, .hash = PATH_HASH_CRC16};
    const struct path_parameters mix = {.kind = PATH_ECMP, .hash = PATH_HASH_MIX};
    const struct ecmp_rule rules[2][2] = {{ecmp_rule_of(&crc, 9, 1), ecmp_rule_of(&crc, 9, 2)},
                                          {ecmp_rule_of(&mix, 9, 1), ecmp_rule_of(&mix, 9, 2)}};
    ck_assert_uint_ne((uint16_t)rules[0][0].switch_seed, (uint16_t)rules[0][1].switch_seed);
    for (unsigned hash = 0; hash < 2; hash++) {
        uint32_t joint[BINS] = {0};
        unsigned used = 0;
        for (uint32_t source = 0; source < 40000; source++) {
            struct path_request request = header(source, source + 1, (uint16_t)hash_mix(source));
            request.count = 8;
            const unsigned a = ecmp_rule_port(&rules[hash][0], &request) - 32u;
            const unsigned b = ecmp_rule_port(&rules[hash][1], &request) - 32u;
            used += joint[8 * a + b]++ == 0;
        }
        ck_assert_uint_eq(used, hash == 0 ? 8 : 64);
    }
}
END_TEST

START_TEST(the_table_knows_every_policy_by_its_name) {
    static const char *const names[PATH_KINDS] = {
        [PATH_ECMP] = "ecmp",
        [PATH_ADAPTIVE] = "adaptive",
        [PATH_SPRAY_RANDOM] = "spray_random",
        [PATH_SPRAY_ROUND_ROBIN] = "spray_round_robin",
        [PATH_TWO_CHOICES] = "two_choices",
        [PATH_DRILL] = "drill",
        [PATH_FLOWLET] = "flowlet",
        [PATH_HOST_REPS] = "host_reps",
        [PATH_D_MOD_K] = "d_mod_k",
    };
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        ck_assert_str_eq(path_policy_of((enum path_kind)kind)->name, names[kind]);
    }
}
END_TEST

/* Whatever policy and hash: an ordered packet goes where `ecmp` sends it, unless the policy keeps the order of all. */
START_TEST(ordered_packets_go_where_ecmp_sends_them) {
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        const struct path_policy *policy = path_policy_of((enum path_kind)kind);
        for (int hash = PATH_HASH_MIX; policy->reorders && hash <= PATH_HASH_CRC16; hash++) {
            const struct path_parameters with = {.refresh_period_ps = 1000000, .hash = (enum path_hash)hash};
            const struct ecmp_rule rule = ecmp_rule_of(&with, 1, 5);
            struct path_state *state = policy->create(&with, 1, 5, 96);
            for (uint32_t source = 0; source < 500; source++) {
                const struct path_request request = header(source, 900, 7);
                ck_assert_uint_eq(policy->choose(state, &request), ecmp_rule_port(&rule, &request));
            }
            path_state_free(state);
        }
    }
}
END_TEST

/* Packets that may be re-ordered, one flow after the other, at times far apart: a policy that hashes sends them as `ecmp` does, any other does not. */
START_TEST(a_policy_that_hashes_goes_where_the_rule_says_and_no_other_does) {
    const struct path_parameters with = {.refresh_period_ps = 1000000, .flowlet_gap_ps = 1, .flowlet_entries = 64};
    const struct ecmp_rule rule = ecmp_rule_of(&with, 1, 5);
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        const struct path_policy *policy = path_policy_of((enum path_kind)kind);
        struct path_state *state = policy->create(&with, 1, 5, 96);
        uint32_t elsewhere = 0;
        for (uint32_t i = 0; i < 1000; i++) {
            struct path_request request = header(i / 4, 900, 7);
            request.adaptive = true;
            request.now_ps = i * UINT64_C(1000000);
            elsewhere += policy->choose(state, &request) != ecmp_rule_port(&rule, &request);
        }
        path_state_free(state);
        ck_assert_msg((elsewhere == 0) == (policy->hashes || policy->recycles), "%s: %u of 1000 packets elsewhere",
                      policy->name, elsewhere);
    }
}
END_TEST

START_TEST(switches_do_not_look_in_step) {
    uint32_t counts[10] = {0};
    for (uint32_t device = 0; device < 10000; device++) {
        const uint64_t offset_ps = path_refresh_offset_ps(&parameters, 4, device);
        ck_assert_uint_lt(offset_ps, parameters.refresh_period_ps);
        counts[offset_ps / 100000]++;
    }
    uniform_assert(counts, 10);
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
    tcase_add_test(hash, the_crc_has_its_check_value);
    tcase_add_test(hash, the_crc_reads_addresses_protocol_and_ports);
    tcase_add_test(hash, the_crc_is_a_bijection_of_the_entropy);
    tcase_add_test(hash, switches_with_a_crc_are_polarised_in_spite_of_their_seeds);
    tcase_add_test(hash, ordered_packets_go_where_ecmp_sends_them);
    tcase_add_test(hash, a_policy_that_hashes_goes_where_the_rule_says_and_no_other_does);
    tcase_add_test(hash, the_table_knows_every_policy_by_its_name);
    tcase_add_test(hash, switches_do_not_look_in_step);
    Suite *suite = suite_create("ecmp");
    suite_add_tcase(suite, hash);
    return run_suite(suite);
}
