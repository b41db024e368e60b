// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "path/spray_random.h"
#include "path/spray_round_robin.h"
#include "run_suite.h"
#include "uniform.h"

#include <check.h>

enum { PORTS = 96, SEED = 8, DEVICE = 3 };

static struct path_request request_of(uint16_t first_port, uint16_t count) {
    return (struct path_request){
        .source = 1, .destination = 2, .entropy = 3, .first_port = first_port, .count = count, .adaptive = true};
}

static struct path_state *create(const struct path_policy *policy, uint32_t rounds, uint32_t device) {
    const struct path_parameters parameters = {.round_robin_rounds = rounds};
    return policy->create(&parameters, SEED, device, PORTS);
}

START_TEST(random_choices_are_uniform_and_those_of_the_stream) {
    struct path_state *state = create(&spray_random_policy, 0, DEVICE);
    const uint64_t stream = hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 0);
    uint32_t counts[24] = {0}, pairs[24 * 24] = {0};
    unsigned before = 0;
    for (uint64_t n = 0; n < 60000; n++) {
        struct path_request request = request_of(32, 24);
        request.source = (uint32_t)n; /* no part of the choice */
        request.ingress_port = (uint16_t)(n % 32);
        const unsigned port = spray_random_policy.choose(state, &request);
        ck_assert_uint_eq(port, 32 + hash_below(hash_draw(stream, n), 24));
        counts[port - 32]++;
        pairs[24 * before + port - 32]++;
        before = port - 32;
    }
    uniform_assert(counts, 24);
    uniform_assert(pairs, 24 * 24); /* a packet's port says nothing of the next one's */
    path_state_free(state);
}
END_TEST

START_TEST(ordered_packets_take_no_draw) {
    struct path_state *with = create(&spray_random_policy, 0, DEVICE);
    struct path_state *without = create(&spray_random_policy, 0, DEVICE);
    const struct path_request request = request_of(0, 64);
    struct path_request ordered = request;
    ordered.adaptive = false;
    const uint16_t kept = spray_random_policy.choose(with, &ordered);
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_uint_eq(spray_random_policy.choose(with, &ordered), kept);
        ck_assert_uint_eq(spray_random_policy.choose(with, &request), spray_random_policy.choose(without, &request));
    }
    path_state_free(with);
    path_state_free(without);
}
END_TEST

/* Plain round robin: the next port, from a start of its own. */
START_TEST(one_order_for_good_is_the_next_port) {
    struct path_state *state = create(&spray_round_robin_policy, 0, DEVICE);
    const struct path_request request = request_of(32, 24);
    const uint64_t stream = hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 32);
    const uint32_t start = hash_below(hash_draw(stream, 0), 24);
    for (uint32_t n = 0; n < 1000; n++) {
        ck_assert_uint_eq(spray_round_robin_policy.choose(state, &request), 32 + (start + n) % 24);
    }
    path_state_free(state);
}
END_TEST

/* In each round every candidate has one turn, for all counts, also between orders. */
START_TEST(each_candidate_has_one_turn_a_round) {
    for (uint16_t count = 2; count <= 64; count++) {
        struct path_state *state = create(&spray_round_robin_policy, 5, DEVICE);
        const struct path_request request = request_of(17, count);
        for (unsigned round = 0; round < 40; round++) {
            uint64_t seen = 0;
            for (unsigned i = 0; i < count; i++) {
                const unsigned port = spray_round_robin_policy.choose(state, &request) - 17u;
                ck_assert_uint_lt(port, count);
                seen |= UINT64_C(1) << port;
            }
            ck_assert_uint_eq(seen, count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1);
        }
        path_state_free(state);
    }
}
END_TEST

/* Five rounds are alike, then comes another order; its first port is the draw that the header names. */
START_TEST(a_new_order_comes_after_its_rounds) {
    struct path_state *state = create(&spray_round_robin_policy, 5, DEVICE);
    const struct path_request request = request_of(0, 16);
    const uint64_t stream = hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 0);
    unsigned changes = 0;
    uint16_t before[16] = {0};
    for (uint64_t order = 0; order < 50; order++) {
        uint16_t ports[16];
        for (unsigned i = 0; i < 80; i++) {
            const uint16_t port = spray_round_robin_policy.choose(state, &request);
            if (i < 16) {
                ports[i] = port;
            }
            ck_assert_uint_eq(port, ports[i % 16]);
        }
        ck_assert_uint_eq(ports[0], hash_below(hash_draw(stream, 2 * order), 16));
        const unsigned step = (unsigned)(ports[1] + 16 - ports[0]) % 16;
        ck_assert_uint_eq(step, (1 + hash_below(hash_draw(stream, 2 * order + 1), 15)) | 1); /* even: the next odd */
        for (unsigned i = 0; i < 16; i++) {
            ck_assert_uint_eq(ports[i], (ports[0] + i * step) % 16);
            changes += ports[i] != before[i];
            before[i] = ports[i];
        }
    }
    ck_assert_uint_gt(changes, 700); /* 16 × 50 × 15/16 expected */
    path_state_free(state);
}
END_TEST

START_TEST(ranges_and_ingress_ports_turn_on_their_own) {
    struct path_state *both = create(&spray_round_robin_policy, 5, DEVICE);
    struct path_state *alone = create(&spray_round_robin_policy, 5, DEVICE);
    for (unsigned i = 0; i < 500; i++) {
        struct path_request request = request_of(0, 16);
        request.ingress_port = (uint16_t)(i % 7); /* a range has one turn for all of them */
        const struct path_request other = request_of(16, 32);
        const uint16_t port = spray_round_robin_policy.choose(both, &request);
        const uint16_t neighbour = spray_round_robin_policy.choose(both, &other);
        request.ingress_port = 0;
        ck_assert_uint_eq(port, spray_round_robin_policy.choose(alone, &request));
        ck_assert(neighbour >= 16 && neighbour < 48);
    }
    path_state_free(both);
    path_state_free(alone);
}
END_TEST

/* The first ports of many switches are spread like chance. */
START_TEST(switches_are_not_in_step) {
    uint32_t counts[16] = {0};
    for (uint32_t device = 0; device < 4000; device++) {
        struct path_state *state = create(&spray_round_robin_policy, device % 2 == 0 ? 0 : 5, device);
        const struct path_request request = request_of(16, 16);
        counts[spray_round_robin_policy.choose(state, &request) - 16]++;
        path_state_free(state);
    }
    uniform_assert(counts, 16);
}
END_TEST

int main(void) {
    TCase *spray = tcase_create("spray");
    tcase_add_test(spray, random_choices_are_uniform_and_those_of_the_stream);
    tcase_add_test(spray, ordered_packets_take_no_draw);
    tcase_add_test(spray, one_order_for_good_is_the_next_port);
    tcase_add_test(spray, each_candidate_has_one_turn_a_round);
    tcase_add_test(spray, a_new_order_comes_after_its_rounds);
    tcase_add_test(spray, ranges_and_ingress_ports_turn_on_their_own);
    tcase_add_test(spray, switches_are_not_in_step);
    Suite *suite = suite_create("spray");
    suite_add_tcase(suite, spray);
    return run_suite(suite);
}
