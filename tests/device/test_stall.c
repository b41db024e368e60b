// SPDX-License-Identifier: GPL-3.0-or-later
/* When nothing moves any more: deadlocks are found and named, and what only waits is left alone. */
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { LEAVES = 3 };

static const struct rig_shape star = {.leaves = 1, .hosts_per_leaf = 4, .up_ps = 20, .cut_through = true};

/* Every host sends to the one `hops` leaves further round. Buffers hold a few packets. */
static struct rig *round_rig(uint32_t hops) {
    struct rig *rig = rig_create_round(LEAVES);
    const struct switch_parameters small = {.pfc = true,
                                            .lossless_pool_bytes = 20000,
                                            .lossy_pool_bytes = 1000000,
                                            .headroom_bytes = 200000,
                                            .class_weight = {0, 1, 1}};
    rig->parameters.leaf = rig->parameters.spine = small;
    rig->parameters.stall_ps = UINT64_C(1000000000);
    for (uint32_t host = 0; host < LEAVES; host++) {
        rig_send(rig, host, (host + hops) % LEAVES, 4000000);
    }
    return rig;
}

START_TEST(a_circle_of_pauses_is_found_and_named) {
    struct rig *rig = round_rig(2);
    ck_assert_int_eq(rig_run(rig), NETWORK_STALLED);
    uint32_t links[2 * LEAVES];
    ck_assert_uint_eq(network_circle(rig->network, links, 2 * LEAVES), 2 * LEAVES);
    ck_assert_uint_eq(network_paused_links(rig->network), 2 * LEAVES);
    for (uint32_t i = 0; i < 2 * LEAVES; i++) {
        const struct fabric_link *link = &rig->fabric->links[links[i]];
        const struct fabric_link *next = &rig->fabric->links[links[(i + 1) % (2 * LEAVES)]];
        ck_assert_uint_eq(link->head_device, next->tail_device);
        ck_assert_uint_gt(network_link(rig->network, links[i])->pauses, 0);
        ck_assert_uint_ge(links[i], links[0]);
    }
    rig_free(rig);
}
END_TEST

START_TEST(a_circle_longer_than_there_is_room_for_is_counted_whole) {
    struct rig *rig = round_rig(2);
    rig_run(rig);
    uint32_t links[2] = {0, FABRIC_NONE};
    ck_assert_uint_eq(network_circle(rig->network, links, 1), 2 * LEAVES);
    ck_assert_uint_eq(links[1], FABRIC_NONE);
    rig_free(rig);
}
END_TEST

/* One leaf further: every link carries one flow, so nothing fills although the routes are as bad. */
START_TEST(the_same_routes_without_contention_are_no_deadlock) {
    struct rig *rig = round_rig(1);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    ck_assert_uint_eq(network_circle(rig->network, NULL, 0), 0);
    rig_free(rig);
}
END_TEST

START_TEST(a_deadlock_is_the_same_on_several_threads_and_for_any_window) {
    struct rig *one = round_rig(2), *other = round_rig(2);
    other->parameters.window_ps = RIG_LATENCY_PS / 7;
    ck_assert_int_eq(rig_run(one), NETWORK_STALLED);
    ck_assert_int_eq(rig_run_on(other, 3), NETWORK_STALLED);
    for (uint32_t link = 0; link < one->fabric->n_links; link++) {
        ck_assert_uint_eq(network_link(one->network, link)->bytes, network_link(other->network, link)->bytes);
        ck_assert_uint_eq(network_link(one->network, link)->paused_ps, network_link(other->network, link)->paused_ps);
    }
    rig_free(one);
    rig_free(other);
}
END_TEST

/* Everything is lost and sent again, for ever: time passes, and no byte arrives. */
START_TEST(resending_for_ever_without_any_arrival_is_a_stall) {
    struct rig *rig = rig_create(&star);
    rig->parameters.leaf.lossy_pool_bytes = 100;
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.nic.retransmit_timeout_ps = UINT64_C(1000000);
    rig->parameters.stall_ps = UINT64_C(1000000000);
    rig_send(rig, 0, 1, 3 * 4096);
    ck_assert_int_eq(rig_run(rig), NETWORK_STALLED);
    struct endpoint_stuck stuck;
    ck_assert(network_stuck_pair(rig->network, &stuck));
    ck_assert_uint_eq(stuck.source, 0);
    ck_assert_uint_eq(stuck.destination, 1);
    ck_assert_uint_eq(stuck.posted_packets, 3);
    ck_assert_uint_eq(stuck.sent_packets, 3);
    ck_assert_uint_eq(stuck.acknowledged_packets, 0);
    ck_assert_uint_gt(stuck.repeats, 5);
    ck_assert_uint_eq(network_circle(rig->network, NULL, 0), 0);
    rig_free(rig);
}
END_TEST

START_TEST(waiting_for_a_later_start_is_no_stall) {
    struct rig *rig = rig_create(&star);
    rig->parameters.stall_ps = UINT64_C(1000000000);
    const struct traffic_message late = {
        .destination = 1, .bytes = 4096, .route = TRAFFIC_FABRIC, .start_ps = UINT64_C(20000000000)};
    rig_add(rig, 0, &late);
    ck_assert_uint_gt(rig_finish(rig), late.start_ps);
    struct endpoint_stuck stuck;
    ck_assert(!network_stuck_pair(rig->network, &stuck));
    rig_free(rig);
}
END_TEST

/* Slow is not stalled: a packet takes 0.26 ms, and something arrives in every millisecond. */
START_TEST(looking_for_stalls_changes_nothing) {
    const struct rig_shape slow = {.leaves = 1, .hosts_per_leaf = 4, .up_ps = 62500};
    struct rig *without = rig_create(&slow), *with = rig_create(&slow);
    with->parameters.stall_ps = UINT64_C(1000000000);
    for (uint32_t host = 1; host < 4; host++) {
        rig_send(without, host, 0, 100 * 4096);
        rig_send(with, host, 0, 100 * 4096);
    }
    rig_finish(without);
    ck_assert_uint_gt(rig_finish(with), 50 * with->parameters.stall_ps);
    rig_assert_equal(without, with);
    rig_free(without);
    rig_free(with);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("stall");
    TCase *tests = tcase_create("stall");
    tcase_add_test(tests, a_circle_of_pauses_is_found_and_named);
    tcase_add_test(tests, a_circle_longer_than_there_is_room_for_is_counted_whole);
    tcase_add_test(tests, the_same_routes_without_contention_are_no_deadlock);
    tcase_add_test(tests, a_deadlock_is_the_same_on_several_threads_and_for_any_window);
    tcase_add_test(tests, resending_for_ever_without_any_arrival_is_a_stall);
    tcase_add_test(tests, waiting_for_a_later_start_is_no_stall);
    tcase_add_test(tests, looking_for_stalls_changes_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
