// SPDX-License-Identifier: GPL-3.0-or-later
/* InfiniBand links: credits give full rate or their share of it, nothing is dropped, congestion spreads, and all credit comes home. */
#include "fabric/failure.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

/* Of the rig: packets of 4,160 B are 65 blocks and take 83.2 ns at 400 Gb/s; links have a latency of 500 ns. */
enum { PACKET_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, BLOCKS = PACKET_BYTES / 64, PS_PER_BYTE = 20 };
enum { PACKET_PS = PACKET_BYTES * PS_PER_BYTE, LATENCY_PS = RIG_LATENCY_PS };

static const struct rig_shape star = {.leaves = 1, .hosts_per_leaf = 16, .up_ps = PS_PER_BYTE};
static const struct rig_shape star_through = {
    .leaves = 1, .hosts_per_leaf = 16, .up_ps = PS_PER_BYTE, .cut_through = true};

static struct rig *infiniband(const struct rig_shape *shape, uint64_t buffer_bytes, uint32_t grain_bytes) {
    struct rig *rig = rig_create(shape);
    rig->parameters.infiniband =
        (struct infiniband_parameters){.links = true, .credit_grain_bytes = grain_bytes, .buffer_bytes = buffer_bytes};
    return rig;
}

/* Time at which a message of so many packets is delivered across one leaf. */
static uint64_t one_flow_ps(const struct rig_shape *shape, bool credits, uint64_t buffer_bytes, uint32_t packets) {
    struct rig *rig = credits ? infiniband(shape, buffer_bytes, 8192) : rig_create(shape);
    rig_send(rig, 0, 1, (uint64_t)packets * RIG_PAYLOAD_BYTES);
    const uint64_t ps = rig_finish(rig);
    ck_assert_uint_eq(rig_links(rig).credit_stalls, 0);
    rig_free(rig);
    return ps;
}

START_TEST(the_default_buffer_gives_full_rate) {
    ck_assert_uint_eq(one_flow_ps(&star, true, 0, 1000), one_flow_ps(&star, false, 0, 1000));
    ck_assert_uint_eq(one_flow_ps(&star_through, true, 0, 1000), one_flow_ps(&star_through, false, 0, 1000));
}
END_TEST

/*
 * A buffer of n packets, a grain of one block. The NIC sends n packets; the first is wholly at the leaf after 83.2 + 500 ns,
 * has left it 83.2 ns later, and its credit is back after another 500 ns: 1,166.4 ns for n packets, n × 83.2 ns of which are spent sending.
 * The link to the receiver takes its credits back after 83.2 + 500 + 500 ns, which is sooner.
 */
START_TEST(a_small_buffer_gives_its_share_of_the_rate) {
    enum { ROUNDS = 20 };
    const uint64_t round_ps = 2 * (PACKET_PS + (uint64_t)LATENCY_PS);
    const uint32_t n = (uint32_t)_i;
    struct rig *rig = infiniband(&star, (uint64_t)n * PACKET_BYTES + 63, 1);
    const uint32_t tag = rig_send(rig, 0, 1, (uint64_t)ROUNDS * n * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    const uint64_t last_start_ps = (ROUNDS - 1) * round_ps + (n - 1) * (uint64_t)PACKET_PS;
    ck_assert_uint_eq(rig_delivered_ps(rig, tag), last_start_ps + round_ps);
    const struct link_counters *up = network_link(rig->network, rig_up(rig, 0));
    ck_assert_uint_eq(up->credit_stalls,
                      (ROUNDS - 1) * n); /* n - 1 a round of no length: credit comes as a packet ends */
    ck_assert_uint_eq(up->credit_stalled_ps, (ROUNDS - 1) * (round_ps - n * (uint64_t)PACKET_PS));
    rig_free(rig);
}
END_TEST

START_TEST(the_heaviest_incast_drops_nothing) {
    static const struct rig_shape two = {
        .leaves = 2, .hosts_per_leaf = 16, .spines = 2, .parallel = 2, .up_ps = PS_PER_BYTE, .cut_through = true};
    struct rig *rig = infiniband(&two, _i == 0 ? 0 : PACKET_BYTES + 64, _i == 0 ? 8192 : 64);
    for (uint32_t host = 1; host < 32; host++) {
        rig_send(rig, host, 0, 100 * RIG_PAYLOAD_BYTES);
    }
    const uint64_t end_ps = rig_finish(rig);
    const struct link_counters sum = rig_links(rig);
    ck_assert_uint_eq(sum.lossless_drops + sum.lossy_drops + sum.dropped_bytes, 0);
    ck_assert_uint_eq(sum.pauses, 0);
    ck_assert_uint_eq(rig_endpoints(rig).retransmitted_packets, 0);
    ck_assert_uint_gt(sum.credit_stalls, 0);
    ck_assert_uint_ge(end_ps, 31 * 100 * (uint64_t)PACKET_PS);
    if (_i == 0) { /* the receiver's link never runs dry */
        ck_assert_uint_lt(end_ps, 31 * 100 * (uint64_t)PACKET_PS + 10 * LATENCY_PS);
    }
    rig_free(rig);
}
END_TEST

/*
 * Three hosts of leaf 0 send to host 4, a fourth one to host 5 on the same leaf; the cable between the leaves and the spine could carry all four.
 * Buffers fill from host 4's port on backwards, until the victim waits for packets that it has nothing to do with.
 */
static uint64_t victim_ps(bool credits, bool incast) {
    static const struct rig_shape shape = {
        .leaves = 2, .hosts_per_leaf = 4, .spines = 1, .up_ps = PS_PER_BYTE, .uplink_ps = PS_PER_BYTE / 4};
    struct rig *rig = credits ? infiniband(&shape, 0, 8192) : rig_create(&shape);
    for (uint32_t host = 0; host < 3 && incast; host++) {
        rig_send(rig, host, 4, 500 * RIG_PAYLOAD_BYTES);
    }
    const uint32_t victim = rig_send(rig, 3, 5, 200 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    const uint64_t ps = rig_delivered_ps(rig, victim);
    rig_free(rig);
    return ps;
}

START_TEST(congestion_spreads_to_victims) {
    ck_assert_uint_eq(victim_ps(true, false), victim_ps(false, false));
    ck_assert_uint_lt(victim_ps(false, true),
                      victim_ps(false, false) + 8 * PACKET_PS); /* a shared buffer without end */
    ck_assert_uint_gt(victim_ps(true, true), 2 * victim_ps(true, false));
}
END_TEST

/* Head-of-line blocking needs a full buffer: a flow past a stalled port is not held while its ingress has room. */
START_TEST(other_outputs_are_not_held_while_there_is_room) {
    struct rig *rig = infiniband(&star, 0, 64);
    rig_send(rig, 2, 1, 100 * RIG_PAYLOAD_BYTES);
    const uint32_t blocked = rig_send(rig, 0, 1, RIG_PAYLOAD_BYTES);
    const uint32_t free_way = rig_send(rig, 0, 3, RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_gt(rig_delivered_ps(rig, blocked), 0);
    ck_assert_uint_eq(rig_delivered_ps(rig, free_way), 3 * (uint64_t)PACKET_PS + 2 * (uint64_t)LATENCY_PS);
    rig_free(rig);
}
END_TEST

/* ---- circles ---- */

enum { LEAVES = 3, PORTS_OF_HOSTS = 1 };

/* Round: leaf 0, spine 0, leaf 1, … as in the suite of stalls. */
static struct rig *round_rig(uint32_t hops) {
    static const struct rig_shape ring = {
        .leaves = LEAVES, .hosts_per_leaf = 1, .spines = LEAVES, .up_ps = PS_PER_BYTE};
    struct rig *rig = infiniband(&ring, 0, 64);
    struct fabric *fabric = rig->fabric;
    for (uint32_t to = 0; to < LEAVES; to++) {
        for (uint32_t i = 0; i < LEAVES; i++) {
            fabric->routes[i * fabric->n_leaves + to] =
                (struct fabric_route){.first_port = (uint16_t)(PORTS_OF_HOSTS + i), .count = 1};
            fabric->routes[(LEAVES + i) * fabric->n_leaves + to] =
                (struct fabric_route){.first_port = (uint16_t)((i + 1) % LEAVES), .count = 1};
        }
    }
    rig->parameters.stall_ps = UINT64_C(1000000000);
    for (uint32_t host = 0; host < LEAVES; host++) {
        rig_send(rig, host, (host + hops) % LEAVES, 4000000);
    }
    return rig;
}

START_TEST(a_circle_of_credits_is_found_and_named) {
    struct rig *rig = round_rig(2);
    ck_assert_int_eq(rig_run(rig), NETWORK_STALLED);
    uint32_t links[2 * LEAVES];
    ck_assert_uint_eq(network_circle(rig->network, links, 2 * LEAVES), 2 * LEAVES);
    for (uint32_t i = 0; i < 2 * LEAVES; i++) {
        const struct fabric_link *link = &rig->fabric->links[links[i]];
        ck_assert_uint_eq(link->head_device, rig->fabric->links[links[(i + 1) % (2 * LEAVES)]].tail_device);
        ck_assert_uint_gt(network_link(rig->network, links[i])->credit_stalls, 0);
    }
    rig_free(rig);
}
END_TEST

START_TEST(the_same_routes_without_contention_are_no_deadlock) {
    struct rig *rig = round_rig(1);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    rig_free(rig);
}
END_TEST

/* ---- invariance and failures ---- */

static struct rig *busy_rig(void) {
    static const struct rig_shape shape = {
        .leaves = 3, .hosts_per_leaf = 4, .spines = 2, .up_ps = PS_PER_BYTE, .cut_through = true};
    struct rig *rig = infiniband(&shape, 3 * PACKET_BYTES, 1000);
    rig->parameters.path.kind = PATH_ADAPTIVE;
    rig->parameters.nic.adaptive_marking = rig->parameters.nic.out_of_order = true;
    for (uint32_t host = 0; host < 12; host++) {
        rig_send(rig, host, (host + 5) % 12, 60 * RIG_PAYLOAD_BYTES);
        rig_send(rig, host, host == 0 ? 1 : 0, 20 * RIG_PAYLOAD_BYTES);
    }
    return rig;
}

START_TEST(windows_and_threads_change_nothing) {
    struct rig *one = busy_rig(), *parts = busy_rig(), *threads = busy_rig();
    parts->parameters.window_ps = LATENCY_PS / 7;
    ck_assert_int_eq(rig_run(one), NETWORK_FINISHED);
    ck_assert_int_eq(rig_run(parts), NETWORK_FINISHED);
    ck_assert_int_eq(rig_run_on(threads, 3), NETWORK_FINISHED);
    ck_assert_uint_gt(rig_links(one).credit_stalls, 100);
    rig_assert_equal(one, parts);
    rig_assert_equal(one, threads);
    rig_free(one);
    rig_free(parts);
    rig_free(threads);
}
END_TEST

/* A cable that is down for 3 us, and packets that are sent again: credit is told anew, so that the link works as before. */
START_TEST(a_cable_that_comes_up_has_its_credit_again) {
    struct rig *rig = infiniband(&star, 3 * PACKET_BYTES, 64);
    const uint32_t up = rig_up(rig, 0);
    struct failure down[2] = {{.kind = FAILURE_DOWN, .link = up, .from_ps = 10000000, .until_ps = 13000000}};
    down[1] = down[0];
    down[1].link = rig_down(rig, 0);
    const struct failure_list failures = {.failures = down, .count = 2, .convergence_ps = UINT64_C(1000000000)};
    rig->parameters.failures = &failures;
    rig->parameters.nic.retransmit_timeout_ps = 20000000;
    const uint32_t tag = rig_send(rig, 0, 1, 100 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_gt(network_link(rig->network, up)->lost_packets, 0);
    ck_assert_uint_gt(rig_delivered_ps(rig, tag), 13000000);
    rig_free(rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("infiniband");
    TCase *tests = tcase_create("infiniband");
    tcase_add_test(tests, the_default_buffer_gives_full_rate);
    tcase_add_loop_test(tests, a_small_buffer_gives_its_share_of_the_rate, 2, 12);
    tcase_add_loop_test(tests, the_heaviest_incast_drops_nothing, 0, 2);
    tcase_add_test(tests, congestion_spreads_to_victims);
    tcase_add_test(tests, other_outputs_are_not_held_while_there_is_room);
    tcase_add_test(tests, a_circle_of_credits_is_found_and_named);
    tcase_add_test(tests, the_same_routes_without_contention_are_no_deadlock);
    tcase_add_test(tests, windows_and_threads_change_nothing);
    tcase_add_test(tests, a_cable_that_comes_up_has_its_credit_again);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
