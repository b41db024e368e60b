// SPDX-License-Identifier: GPL-3.0-or-later
/* Every policy bears candidates that are no range: ports of failed links are left out. */
#include "base/hash.h"
#include "path/path.h"
#include "run_suite.h"
#include "uniform.h"

#include <check.h>

enum { PORTS = 40, SEED = 5, DEVICE = 2, FIRST = 8, COUNT = 12, PACKETS = 6000 };

static const struct path_parameters parameters = {.refresh_period_ps = 100000,
                                                  .grade_bounds_bytes = {1000, 5000, 9000},
                                                  .round_robin_rounds = 5,
                                                  .flowlet_gap_ps = 50,
                                                  .flowlet_entries = 16};

static struct path_request packet_of(uint64_t n, const uint16_t *ports, uint16_t count) {
    return (struct path_request){.now_ps = 100 * n,
                                 .source = (uint32_t)n,
                                 .destination = (uint32_t)(77 + n),
                                 .entropy = (uint16_t)(3 * n),
                                 .ingress_port = (uint16_t)(n % FIRST),
                                 .first_port = FIRST,
                                 .count = count,
                                 .ports = ports,
                                 .adaptive = n % 8 != 0};
}

/** Depths that differ from refresh to refresh. */
static void refresh(const struct path_policy *policy, struct path_state *state, uint64_t n) {
    struct path_port ports[PORTS] = {{0}};
    for (uint32_t port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = hash_below(hash_draw(n, port), 12000);
    }
    policy->refresh(state, ports);
}

START_TEST(a_list_of_the_whole_range_is_the_range) {
    const struct path_policy *policy = path_policy_of((enum path_kind)_i);
    struct path_state *with_range = policy->create(&parameters, SEED, DEVICE, PORTS);
    struct path_state *with_list = policy->create(&parameters, SEED, DEVICE, PORTS);
    uint16_t all[COUNT];
    for (uint16_t i = 0; i < COUNT; i++) {
        all[i] = (uint16_t)(FIRST + i);
    }
    for (uint64_t n = 0; n < PACKETS; n++) {
        if (n % 50 == 0) {
            refresh(policy, with_range, n);
            refresh(policy, with_list, n);
        }
        const struct path_request range = packet_of(n, NULL, COUNT), list = packet_of(n, all, COUNT);
        ck_assert_uint_eq(policy->choose(with_range, &range), policy->choose(with_list, &list));
    }
    path_state_free(with_range);
    path_state_free(with_list);
}
END_TEST

START_TEST(only_listed_ports_are_chosen_and_all_alike) {
    static const uint16_t left[] = {8, 9, 12, 15, 19};
    enum { LEFT = sizeof left / sizeof *left };
    const struct path_policy *policy = path_policy_of((enum path_kind)_i);
    struct path_state *state = policy->create(&parameters, SEED, DEVICE, PORTS);
    uint32_t counts[PORTS] = {0};
    for (uint64_t n = 0; n < 2000; n++) { /* what was learned of the whole range must not come back */
        const struct path_request request = packet_of(n, NULL, COUNT);
        policy->choose(state, &request);
    }
    for (uint64_t n = 2000; n < 2000 + PACKETS; n++) {
        if (n % 10 == 0) {
            refresh(policy, state, n);
        }
        const struct path_request request = packet_of(n, left, LEFT);
        counts[policy->choose(state, &request)]++;
    }
    for (uint32_t i = 0; i < LEFT; i++) {
        ck_assert_uint_gt(counts[left[i]], PACKETS / LEFT * 4 / 5);
        ck_assert_uint_lt(counts[left[i]], PACKETS / LEFT * 6 / 5);
        counts[left[i]] = 0;
    }
    for (uint32_t port = 0; port < PORTS; port++) {
        ck_assert_uint_eq(counts[port], 0);
    }
    path_state_free(state);
}
END_TEST

/** Ports of the least grade are taken, of those that are listed: the least of all may be a port that is left out. */
START_TEST(adaptive_takes_the_best_of_the_list) {
    static const uint16_t left[] = {9, 10, 14};
    const struct path_policy *policy = path_policy_of(PATH_ADAPTIVE);
    struct path_state *state = policy->create(&parameters, SEED, DEVICE, PORTS);
    struct path_port ports[PORTS] = {{0}};
    ports[9].depth_bytes = 6000;
    ports[10].depth_bytes = 2000;
    ports[14].depth_bytes = 20000;
    policy->refresh(state, ports);
    for (uint64_t n = 1; n < 100; n++) {
        struct path_request request = packet_of(n, left, 3);
        request.adaptive = true;
        ck_assert_uint_eq(policy->choose(state, &request), 10);
    }
    path_state_free(state);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("path candidates");
    TCase *tests = tcase_create("candidates");
    tcase_add_loop_test(tests, a_list_of_the_whole_range_is_the_range, 0, PATH_KINDS);
    tcase_add_loop_test(tests, only_listed_ports_are_chosen_and_all_alike, 0, PATH_KINDS);
    tcase_add_test(tests, adaptive_takes_the_best_of_the_list);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
