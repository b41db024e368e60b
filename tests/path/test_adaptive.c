// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "path/adaptive.h"
#include "path/ecmp.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 24, SEED = 8, DEVICE = 3 };

static const struct path_parameters parameters = {
    .kind = PATH_ADAPTIVE,
    .refresh_period_ps = 1000000,
    .grade_bounds_bytes = {1000, 2000, 4000},
};

static struct path_state *create(void) {
    return adaptive_policy.create(&parameters, SEED, DEVICE, PORTS);
}

static struct path_request request_of(uint16_t first_port, uint16_t count, uint16_t ingress_port) {
    return (struct path_request){.source = 1,
                                 .destination = 2,
                                 .entropy = 3,
                                 .ingress_port = ingress_port,
                                 .first_port = first_port,
                                 .count = count,
                                 .adaptive = true};
}

/* The rule once more, plainly: the draw-th of the best ports. */
static uint16_t expected_port(const struct path_port *ports, const struct path_request *request, uint64_t n) {
    uint16_t best[PORTS];
    uint32_t n_best = 0;
    unsigned least = 5;
    for (unsigned port = request->first_port; port < (unsigned)request->first_port + request->count; port++) {
        const unsigned grade = adaptive_grade(&parameters, &ports[port]);
        n_best = grade < least ? 0 : n_best;
        least = grade < least ? grade : least;
        if (grade == least) {
            best[n_best++] = (uint16_t)port;
        }
    }
    const uint64_t draw = hash_draw(hash_stream(SEED, HASH_PURPOSE_ADAPTIVE, DEVICE, request->ingress_port), n);
    return best[hash_below(draw, n_best)];
}

START_TEST(grades_change_at_their_bounds_and_a_pause_is_worst) {
    const struct {
        struct path_port port;
        unsigned grade;
    } cases[] = {
        {{0, false}, 0},    {{999, false}, 0},  {{1000, false}, 1},       {{1999, false}, 1}, {{2000, false}, 2},
        {{3999, false}, 2}, {{4000, false}, 3}, {{UINT64_MAX, false}, 3}, {{0, true}, 4},     {{9999, true}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_uint_eq(adaptive_grade(&parameters, &cases[i].port), cases[i].grade);
    }
}
END_TEST

START_TEST(the_only_best_port_takes_every_eligible_packet) {
    struct path_state *state = create();
    struct path_port ports[PORTS];
    for (unsigned best = 8; best < 16; best++) {
        for (unsigned port = 0; port < PORTS; port++) {
            ports[port] =
                (struct path_port){.depth_bytes = port == best ? 1500 : 2500, .paused = port == 8 && best != 8};
        }
        adaptive_policy.refresh(state, ports);
        for (unsigned i = 0; i < 50; i++) {
            const struct path_request request = request_of(8, 8, (uint16_t)(i % 8));
            ck_assert_uint_eq(adaptive_policy.choose(state, &request), best);
        }
    }
    path_state_free(state);
}
END_TEST

START_TEST(any_depth_is_better_than_a_pause) {
    struct path_state *state = create();
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].paused = port != 11;
    }
    ports[11].depth_bytes = 100000000;
    adaptive_policy.refresh(state, ports);
    struct path_request request = request_of(8, 8, 0);
    ck_assert_uint_eq(adaptive_policy.choose(state, &request), 11);
    request = request_of(16, 8, 0); /* where all are paused the packet still goes somewhere */
    const uint16_t port = adaptive_policy.choose(state, &request);
    ck_assert(port >= 16 && port < 24);
    path_state_free(state);
}
END_TEST

START_TEST(equals_are_chosen_uniformly) {
    struct path_state *state = create();
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = port % 3 == 0 ? 100 + port : 5000; /* one grade: 9, 12, 15 of 8 … 15 */
    }
    adaptive_policy.refresh(state, ports);
    uint32_t counts[PORTS] = {0};
    enum { DRAWS = 30000 };
    for (unsigned i = 0; i < DRAWS; i++) {
        const struct path_request request = request_of(8, 8, 2);
        counts[adaptive_policy.choose(state, &request)]++;
    }
    double chi_square = 0;
    for (unsigned port = 9; port <= 15; port += 3) {
        const double away = counts[port] - DRAWS / 3.0;
        chi_square += away * away / (DRAWS / 3.0);
    }
    ck_assert_uint_eq(counts[9] + counts[12] + counts[15], DRAWS);
    ck_assert_double_le(chi_square, 13.8); /* two degrees of freedom, 0.1 % */
    path_state_free(state);
}
END_TEST

START_TEST(all_ports_are_equal_before_the_first_refresh) {
    struct path_state *state = create();
    const struct path_port idle[PORTS] = {{0}};
    uint32_t seen = 0;
    for (uint64_t n = 0; n < 200; n++) {
        const struct path_request request = request_of(8, 8, 1);
        const uint16_t port = adaptive_policy.choose(state, &request);
        ck_assert_uint_eq(port, expected_port(idle, &request, n));
        seen |= UINT32_C(1) << port;
    }
    ck_assert_uint_eq(seen, 0xff00);
    path_state_free(state);
}
END_TEST

START_TEST(what_happens_after_a_refresh_is_not_seen_until_the_next) {
    struct path_state *state = create();
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = port == 10 ? 0 : 5000;
    }
    adaptive_policy.refresh(state, ports);
    ports[10] = (struct path_port){.depth_bytes = 1000000, .paused = true}; /* the caller's array is not kept */
    const struct path_request request = request_of(8, 8, 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_eq(adaptive_policy.choose(state, &request), 10);
    }
    adaptive_policy.refresh(state, ports);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_ne(adaptive_policy.choose(state, &request), 10);
    }
    path_state_free(state);
}
END_TEST

START_TEST(ordered_packets_take_the_port_of_ecmp_and_no_draw) {
    for (unsigned polarised = 0; polarised < 2; polarised++) {
        struct path_parameters with = parameters;
        with.polarised = polarised == 1;
        struct path_state *state = adaptive_policy.create(&with, SEED, DEVICE, PORTS);
        struct path_port ports[PORTS] = {{0}};
        for (unsigned port = 0; port < PORTS; port++) {
            ports[port] = (struct path_port){.depth_bytes = port == 9 ? 0 : 9000, .paused = port % 2 == 0};
        }
        adaptive_policy.refresh(state, ports);
        for (uint32_t source = 0; source < 500; source++) {
            struct path_request request = request_of(8, 16, 4);
            request.source = source;
            request.adaptive = false;
            ck_assert_uint_eq(adaptive_policy.choose(state, &request),
                              ecmp_choose_port(ecmp_switch_seed(SEED, DEVICE, polarised == 1), &request));
        }
        const struct path_port idle[PORTS] = {{0}};
        adaptive_policy.refresh(state, idle);
        const struct path_request eligible = request_of(8, 16, 4);
        ck_assert_uint_eq(adaptive_policy.choose(state, &eligible), expected_port(idle, &eligible, 0));
        path_state_free(state);
    }
}
END_TEST

/* Draws count eligible packets of an ingress port, also those that had one best port only. */
START_TEST(draws_are_counted_by_ingress_port) {
    struct path_state *state = create();
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = port == 10 ? 0 : 5000;
    }
    adaptive_policy.refresh(state, ports);
    const struct path_request first = request_of(8, 8, 0);
    const struct path_request second = request_of(8, 8, 1);
    for (unsigned i = 0; i < 7; i++) {
        adaptive_policy.choose(state, &first);
    }
    const struct path_port idle[PORTS] = {{0}};
    adaptive_policy.refresh(state, idle);
    for (uint64_t n = 0; n < 50; n++) {
        ck_assert_uint_eq(adaptive_policy.choose(state, &first), expected_port(idle, &first, 7 + n));
        ck_assert_uint_eq(adaptive_policy.choose(state, &second), expected_port(idle, &second, n));
    }
    path_state_free(state);
}
END_TEST

/* Random refreshes and requests against the plain rule; in every second sequence ranges overlap in part. */
START_TEST(lists_give_what_a_scan_gives) {
    for (uint64_t sequence = 0; sequence < 60; sequence++) {
        const uint64_t stream = hash_stream(5, HASH_PURPOSE_TEST, sequence, 0);
        struct path_state *state = create();
        struct path_port ports[PORTS] = {{0}};
        uint64_t draws[PORTS] = {0};
        for (uint64_t n = 0; n < 2000; n += 2) {
            const uint64_t draw = hash_draw(stream, n);
            if (draw % 9 == 0) {
                for (unsigned port = 0; port < PORTS; port++) {
                    const uint64_t other = hash_mix(draw + port);
                    ports[port] = (struct path_port){.depth_bytes = other % 6000, .paused = other >> 60 == 0};
                }
                adaptive_policy.refresh(state, ports);
                continue;
            }
            const uint32_t place = hash_below(hash_draw(stream, n + 1), PORTS / 4);
            const uint16_t first = (uint16_t)(sequence % 2 == 0 ? 4 * place : hash_below(draw, PORTS - 2));
            const uint16_t room = (uint16_t)(PORTS - first);
            const uint16_t count = sequence % 2 == 0 ? 4 : (uint16_t)(2 + hash_below(hash_mix(draw), room - 1));
            const struct path_request request = request_of(first, count, (uint16_t)place);
            ck_assert_uint_eq(adaptive_policy.choose(state, &request), expected_port(ports, &request, draws[place]));
            draws[place]++;
        }
        path_state_free(state);
    }
}
END_TEST

START_TEST(devices_and_seeds_draw_apart) {
    struct path_state *states[3] = {create(), adaptive_policy.create(&parameters, SEED, DEVICE + 1, PORTS),
                                    adaptive_policy.create(&parameters, SEED + 1, DEVICE, PORTS)};
    unsigned same[3] = {0};
    for (unsigned i = 0; i < 400; i++) {
        const struct path_request request = request_of(8, 8, 0);
        const uint16_t port = adaptive_policy.choose(states[0], &request);
        same[1] += adaptive_policy.choose(states[1], &request) == port;
        same[2] += adaptive_policy.choose(states[2], &request) == port;
    }
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_lt(same[i], 90); /* 50 expected, deviation 6.6 */
        path_state_free(states[i]);
    }
    ck_assert_uint_gt(same[1], 15);
    ck_assert_uint_gt(same[2], 15);
}
END_TEST

START_TEST(best_ports_are_used_in_proportion_to_their_weights) {
    enum { CHOICES = 7000 };
    static const uint32_t weights[] = {100000, 400000, 0, 200000, 900000};
    static const uint16_t candidates[] = {8, 9, 11, 12};            /* 10 leads nowhere */
    struct path_port ports[PORTS] = {[12] = {.depth_bytes = 1000}}; /* the heaviest has a worse grade */
    struct path_state *state = create();
    unsigned counts[PORTS] = {0};
    adaptive_policy.refresh(state, ports);
    struct path_request request = request_of(8, 4, 0);
    request.ports = candidates;
    request.weights = weights;
    for (unsigned i = 0; i < CHOICES; i++) {
        counts[adaptive_policy.choose(state, &request)]++;
    }
    ck_assert_uint_eq(counts[12] + counts[10], 0);
    ck_assert_int_le(abs((int)counts[8] - 1000), 120); /* 1 : 4 : 2 of 7; deviations 29, 41 and 38 */
    ck_assert_int_le(abs((int)counts[9] - 4000), 165);
    ck_assert_int_le(abs((int)counts[11] - 2000), 155);
    path_state_free(state);
}
END_TEST

START_TEST(equal_weights_change_nothing) {
    static const uint32_t weights[] = {400000, 400000, 400000, 400000, 400000, 400000, 400000};
    struct path_state *plain = create(), *weighed = create();
    for (unsigned i = 0; i < 2000; i++) {
        struct path_request request = request_of(3, 7, 20);
        const uint16_t port = adaptive_policy.choose(plain, &request);
        request.weights = weights;
        ck_assert_uint_eq(adaptive_policy.choose(weighed, &request), port);
    }
    path_state_free(plain);
    path_state_free(weighed);
}
END_TEST

int main(void) {
    TCase *rule = tcase_create("rule");
    tcase_add_test(rule, grades_change_at_their_bounds_and_a_pause_is_worst);
    tcase_add_test(rule, the_only_best_port_takes_every_eligible_packet);
    tcase_add_test(rule, any_depth_is_better_than_a_pause);
    tcase_add_test(rule, equals_are_chosen_uniformly);
    tcase_add_test(rule, all_ports_are_equal_before_the_first_refresh);
    tcase_add_test(rule, what_happens_after_a_refresh_is_not_seen_until_the_next);
    tcase_add_test(rule, ordered_packets_take_the_port_of_ecmp_and_no_draw);
    tcase_add_test(rule, draws_are_counted_by_ingress_port);
    tcase_add_test(rule, lists_give_what_a_scan_gives);
    tcase_add_test(rule, devices_and_seeds_draw_apart);
    tcase_add_test(rule, best_ports_are_used_in_proportion_to_their_weights);
    tcase_add_test(rule, equal_weights_change_nothing);
    Suite *suite = suite_create("adaptive");
    suite_add_tcase(suite, rule);
    return run_suite(suite);
}
