// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "path/flowlet.h"
#include "run_suite.h"
#include "uniform.h"

#include <check.h>

enum { PORTS = 40, SEED = 8, DEVICE = 3, COUNT = 16, FIRST = 8, GAP_PS = 100000 };

static struct path_state *create(uint32_t entries) {
    const struct path_parameters parameters = {.flowlet_gap_ps = GAP_PS, .flowlet_entries = entries};
    return flowlet_policy.create(&parameters, SEED, DEVICE, PORTS);
}

static struct path_request packet_of(uint32_t source, uint64_t now_ps) {
    return (struct path_request){
        .now_ps = now_ps, .source = source, .destination = 99, .entropy = 7, .first_port = FIRST, .count = COUNT};
}

static uint16_t port_of_draw(uint64_t n) {
    const uint64_t stream = hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 0);
    return (uint16_t)(FIRST + hash_below(hash_draw(stream, n), COUNT));
}

/* A gap of exactly flowlet_gap keeps the path, one picosecond more ends it. The gap is from packet to packet, not from the first. */
START_TEST(only_a_longer_gap_draws_anew) {
    struct path_state *state = create(1024);
    uint64_t now_ps = 1;
    for (uint64_t flowlet = 0; flowlet < 200; flowlet++) {
        for (unsigned i = 0; i < 20; i++) {
            const struct path_request packet = packet_of(1, now_ps);
            ck_assert_uint_eq(flowlet_policy.choose(state, &packet), port_of_draw(flowlet));
            now_ps += i % 3 == 0 ? GAP_PS : 10;
        }
        now_ps += GAP_PS + 1 - (19 % 3 == 0 ? GAP_PS : 10);
    }
    path_state_free(state);
}
END_TEST

START_TEST(ports_of_flowlets_are_uniform_and_independent) {
    struct path_state *state = create(1024);
    uint32_t counts[COUNT] = {0}, pairs[COUNT * COUNT] = {0};
    unsigned before = 0;
    for (uint64_t n = 0; n < 40000; n++) {
        const struct path_request packet = packet_of(1, 1 + n * (GAP_PS + 1));
        const unsigned port = flowlet_policy.choose(state, &packet) - FIRST;
        counts[port]++;
        pairs[COUNT * before + port]++;
        before = port;
    }
    uniform_assert(counts, COUNT);
    uniform_assert(pairs, COUNT * COUNT);
    path_state_free(state);
}
END_TEST

/* Each of two directions, destinations and entropies is a flow of its own; a mark on the packet is not looked at. */
START_TEST(flows_are_told_apart_by_addresses_and_entropy) {
    struct path_state *state = create(1 << 20);
    struct path_request packets[4] = {packet_of(1, 5), packet_of(2, 5), packet_of(1, 5), packet_of(1, 5)};
    packets[2].destination = 98;
    packets[3].entropy = 8;
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(flowlet_policy.choose(state, &packets[i]), port_of_draw(i));
    }
    for (uint64_t n = 0; n < 400; n++) {
        packets[n % 4].now_ps += n;
        packets[n % 4].adaptive = n % 3 == 0;
        packets[n % 4].ingress_port = (uint16_t)(n % PORTS);
        ck_assert_uint_eq(flowlet_policy.choose(state, &packets[n % 4]), port_of_draw(n % 4));
    }
    path_state_free(state);
}
END_TEST

/* Places without keys: flows that meet in one share its port, and the packets of each keep the other's flowlet alive. */
START_TEST(flows_that_share_a_place_share_its_flowlet) {
    struct path_state *shared = create(1), *large = create(1 << 20);
    unsigned apart = 0;
    for (uint64_t n = 0; n < 200; n++) {
        const struct path_request packet = packet_of((uint32_t)(n % 2), 1 + n * (GAP_PS * 3 / 4)); /* each: 1.5 gaps */
        ck_assert_uint_eq(flowlet_policy.choose(shared, &packet), port_of_draw(0));
        apart += flowlet_policy.choose(large, &packet) != port_of_draw(0);
    }
    ck_assert_uint_gt(apart, 150);
    path_state_free(shared);
    path_state_free(large);
}
END_TEST

/* 2000 flows in 1000 places: 1000 (1 - (1 - 1/1000)^2000) = 864.8 places are used, deviation 9.7 (balls in bins). */
START_TEST(places_are_those_of_a_good_hash) {
    struct path_state *state = create(1000);
    for (uint32_t source = 0; source < 2000; source++) {
        const struct path_request packet = packet_of(source, 5);
        flowlet_policy.choose(state, &packet);
    }
    /* the next new flowlet shows how many draws were made */
    struct path_request probe = packet_of(0, 5 + GAP_PS + 1);
    probe.count = 1 << 14;
    const uint16_t port = flowlet_policy.choose(state, &probe);
    const uint64_t stream = hash_stream(SEED, HASH_PURPOSE_PATH, DEVICE, 0);
    unsigned draws = 0;
    while (draws < 2000 && FIRST + hash_below(hash_draw(stream, draws), 1 << 14) != port) {
        draws++;
    }
    ck_assert(draws > 815 && draws < 915);
    path_state_free(state);
}
END_TEST

START_TEST(the_port_is_a_candidate_of_each_range) {
    struct path_state *state = create(1);
    for (uint16_t count = 2; count <= 32; count++) {
        struct path_request packet = packet_of(1, 5);
        packet.count = count;
        packet.first_port = (uint16_t)(PORTS - count);
        const uint16_t port = flowlet_policy.choose(state, &packet);
        ck_assert(port >= PORTS - count && port < PORTS);
    }
    path_state_free(state);
}
END_TEST

int main(void) {
    TCase *flowlet = tcase_create("flowlet");
    tcase_add_test(flowlet, only_a_longer_gap_draws_anew);
    tcase_add_test(flowlet, ports_of_flowlets_are_uniform_and_independent);
    tcase_add_test(flowlet, flows_are_told_apart_by_addresses_and_entropy);
    tcase_add_test(flowlet, flows_that_share_a_place_share_its_flowlet);
    tcase_add_test(flowlet, places_are_those_of_a_good_hash);
    tcase_add_test(flowlet, the_port_is_a_candidate_of_each_range);
    Suite *suite = suite_create("flowlet");
    suite_add_tcase(suite, flowlet);
    return run_suite(suite);
}
