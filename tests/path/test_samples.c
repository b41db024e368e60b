// SPDX-License-Identifier: GPL-3.0-or-later
/* The policies that compare a few random queues: two_choices and drill. */
#include "base/hash.h"
#include "path/drill.h"
#include "path/sample.h"
#include "path/two_choices.h"
#include "run_suite.h"
#include "uniform.h"

#include <check.h>

enum { PORTS = 40, SEED = 8, DEVICE = 3, COUNT = 16, FIRST = 8 };

static const struct path_parameters parameters = {.refresh_period_ps = 100000};

static struct path_request request_of(uint16_t first_port, uint16_t count) {
    return (struct path_request){.first_port = first_port, .count = count, .adaptive = true};
}

static struct path_state *create(const struct path_policy *policy) {
    return policy->create(&parameters, SEED, DEVICE, PORTS);
}

static uint64_t stream_of_device(void) {
    return hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 0);
}

START_TEST(samples_are_two_different_ports_all_pairs_alike) {
    uint32_t pairs[5 * 4] = {0};
    for (uint64_t n = 0; n < 50000; n++) {
        const struct path_request request = request_of(FIRST, 5);
        const struct sample sample = sample_take(stream_of_device(), n, &request);
        ck_assert(sample.first >= FIRST && sample.first < FIRST + 5);
        ck_assert(sample.second >= FIRST && sample.second < FIRST + 5);
        ck_assert_uint_ne(sample.first, sample.second);
        const unsigned second = sample.second - (sample.second > sample.first);
        pairs[4 * (sample.first - FIRST) + second - FIRST]++;
    }
    uniform_assert(pairs, 5 * 4);
}
END_TEST

/* Depth grows with the port: the better of two of n ports is port i with probability 2 (n - 1 - i) / (n (n - 1)). */
START_TEST(two_choices_follow_their_law) {
    enum { PACKETS = 200000 };
    struct path_state *state = create(&two_choices_policy);
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = 1000 * port;
    }
    two_choices_policy.refresh(state, ports);
    uint32_t counts[COUNT] = {0};
    for (unsigned n = 0; n < PACKETS; n++) {
        const struct path_request request = request_of(FIRST, COUNT);
        counts[two_choices_policy.choose(state, &request) - FIRST]++;
    }
    for (unsigned i = 0; i < COUNT; i++) {
        const double expected = PACKETS * 2.0 * (COUNT - 1 - i) / (COUNT * (COUNT - 1.0));
        const double away = counts[i] - expected;
        ck_assert_double_le(away * away, 25 * expected); /* five deviations */
    }
    ck_assert_uint_eq(counts[COUNT - 1], 0); /* the deepest never wins */
    path_state_free(state);
}
END_TEST

START_TEST(equal_queues_are_chosen_uniformly) {
    const struct path_policy *const policies[2] = {&two_choices_policy, &drill_policy};
    for (unsigned p = 0; p < 2; p++) {
        struct path_state *state = create(policies[p]);
        struct path_port ports[PORTS] = {{0}};
        for (unsigned port = 0; port < PORTS; port++) {
            ports[port].depth_bytes = 5000;
        }
        uint32_t counts[2][COUNT] = {{0}};
        for (unsigned n = 0; n < 40000; n++) {
            if (n == 20000) {
                policies[p]->refresh(state, ports); /* before it all count as empty */
            }
            const struct path_request request = request_of(FIRST, COUNT);
            counts[n / 20000][policies[p]->choose(state, &request) - FIRST]++;
        }
        uniform_assert(counts[0], COUNT);
        uniform_assert(counts[1], COUNT);
        path_state_free(state);
    }
}
END_TEST

/* Random refreshes and packets of two ranges against the rule in its plainest form. */
START_TEST(choices_are_those_of_the_rule) {
    const struct path_policy *const policies[2] = {&two_choices_policy, &drill_policy};
    for (unsigned p = 0; p < 2; p++) {
        struct path_state *state = create(policies[p]);
        struct path_port ports[PORTS] = {{0}};
        int remembered[2] = {-1, -1};
        for (uint64_t n = 0; n < 5000; n++) {
            const uint64_t draw = hash_draw(hash_stream(5, HASH_PURPOSE_TEST, 0, 0), n);
            for (unsigned port = 0; draw % 7 == 0 && port < PORTS; port++) {
                ports[port].depth_bytes = hash_mix(draw + port) % 4 * 1000; /* often equal */
            }
            policies[p]->refresh(state, ports);
            const unsigned range = draw >> 40 & 1;
            const struct path_request request = range == 0 ? request_of(FIRST, COUNT) : request_of(FIRST + COUNT, 5);
            const struct sample sample = sample_take(stream_of_device(), n, &request);
            int best = sample.first;
            best = ports[sample.second].depth_bytes < ports[best].depth_bytes ? sample.second : best;
            if (p == 1 && remembered[range] >= 0 && ports[remembered[range]].depth_bytes < ports[best].depth_bytes) {
                best = remembered[range];
            }
            remembered[range] = best;
            ck_assert_int_eq(policies[p]->choose(state, &request), best);
        }
        path_state_free(state);
    }
}
END_TEST

/* With n = 16 ports a sample has the emptiest one with probability 1/8 each time; from then on drill keeps to it, two_choices does not. */
START_TEST(drill_keeps_the_best_until_the_next_refresh) {
    struct path_state *drill = create(&drill_policy), *two = create(&two_choices_policy);
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = port == FIRST + 3 ? 10 : 5000;
    }
    drill_policy.refresh(drill, ports);
    two_choices_policy.refresh(two, ports);
    const struct path_request request = request_of(FIRST, COUNT);
    unsigned found = 0, hits = 0;
    for (unsigned n = 0; n < 4000; n++) {
        const bool is_best = drill_policy.choose(drill, &request) == FIRST + 3;
        ck_assert(is_best || !found);
        found += is_best;
        hits += two_choices_policy.choose(two, &request) == FIRST + 3;
    }
    ck_assert_uint_gt(found, 3800);
    ck_assert(hits > 400 && hits < 600); /* 500 expected, deviation 21 */
    ports[FIRST + 3].depth_bytes = 9000; /* now the deepest: left at once, and for good */
    drill_policy.refresh(drill, ports);
    for (unsigned n = 0; n < 200; n++) {
        ck_assert_uint_ne(drill_policy.choose(drill, &request), FIRST + 3);
    }
    path_state_free(drill);
    path_state_free(two);
}
END_TEST

/* A remembered port that is no candidate of a shorter range is not taken. */
START_TEST(memory_stays_within_the_candidates) {
    struct path_state *state = create(&drill_policy);
    struct path_port ports[PORTS] = {{0}};
    for (unsigned port = 0; port < PORTS; port++) {
        ports[port].depth_bytes = port == FIRST + COUNT - 1 ? 0 : 1000;
    }
    drill_policy.refresh(state, ports);
    for (unsigned n = 0; n < 300; n++) {
        const struct path_request longer = request_of(FIRST, COUNT), shorter = request_of(FIRST, 3);
        drill_policy.choose(state, &longer);
        ck_assert_uint_lt(drill_policy.choose(state, &shorter), FIRST + 3);
    }
    path_state_free(state);
}
END_TEST

int main(void) {
    TCase *samples = tcase_create("samples");
    tcase_add_test(samples, samples_are_two_different_ports_all_pairs_alike);
    tcase_add_test(samples, two_choices_follow_their_law);
    tcase_add_test(samples, equal_queues_are_chosen_uniformly);
    tcase_add_test(samples, choices_are_those_of_the_rule);
    tcase_add_test(samples, drill_keeps_the_best_until_the_next_refresh);
    tcase_add_test(samples, memory_stays_within_the_candidates);
    Suite *suite = suite_create("samples");
    suite_add_tcase(suite, samples);
    return run_suite(suite);
}
