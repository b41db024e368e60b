// SPDX-License-Identifier: GPL-3.0-or-later
/* The PFC watchdog: when it declares a storm, what it discards, when it takes packets again, and that it breaks a deadlock. */
#include "device/recorder.h"
#include "rig.h"
#include "run_suite.h"
#include "stand.h"

#include <check.h>
#include <stdlib.h>

enum { SIZE = 1000, SIZE_PS = SIZE * STAND_PS_PER_BYTE, DETECTION_PS = 1000000, RESTORATION_PS = 700000 };
enum { LEAVES = 3 };

static struct stand *watched(void) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.watchdog_detection_ps = DETECTION_PS;
    stand->parameters.leaf.watchdog_restoration_ps = RESTORATION_PS;
    return stand;
}

static uint32_t lossless(struct stand *stand, uint64_t time_ps) {
    return stand_packet(stand, time_ps, 0, 1, PACKET_CLASS_LOSSLESS, SIZE);
}

START_TEST(a_queue_paused_for_the_detection_time_is_emptied_then_and_not_before) {
    for (uint64_t early_ps = 0; early_ps < 2; early_ps++) {
        struct stand *stand = watched();
        stand_control(stand, 100, 1, CONTROL_PAUSE);
        lossless(stand, 1000);
        lossless(stand, 1000 + SIZE_PS);
        stand_control(stand, 100 + DETECTION_PS - early_ps, 1, CONTROL_RESUME); // at the same time it comes too late
        stand_run(stand);
        const struct link_counters *counters = stand_counters(stand, 1);
        ck_assert_uint_eq(counters->watchdog_storms, 1 - early_ps);
        ck_assert_uint_eq(counters->watchdog_drops, 2 - 2 * early_ps);
        ck_assert_uint_eq(counters->dropped_bytes, (2 - 2 * early_ps) * SIZE);
        ck_assert_uint_eq(counters->lossless_drops, 0);
        ck_assert_uint_eq(counters->packets, 2 * early_ps);
        ck_assert_uint_eq(switch_buffered_bytes(stand->device), 0);
        stand_free(stand);
    }
}
END_TEST

START_TEST(pauses_that_are_each_too_short_are_no_storm) {
    struct stand *stand = watched();
    for (uint64_t i = 0; i < 10; i++) {
        stand_control(stand, 1000 + i * DETECTION_PS, 1, CONTROL_PAUSE);
        stand_control(stand, 999 + (i + 1) * DETECTION_PS, 1, CONTROL_RESUME);
    }
    lossless(stand, 2000);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_storms, 0);
    ck_assert_uint_eq(stand_counters(stand, 1)->packets, 1);
    stand_free(stand);
}
END_TEST

START_TEST(a_dropping_queue_takes_packets_again_the_restoration_time_after_the_resume) {
    const uint64_t resume_ps = 2 * DETECTION_PS;
    struct stand *stand = watched();
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    lossless(stand, DETECTION_PS);                                     // arrives in the storm
    stand_packet(stand, DETECTION_PS, 2, 1, PACKET_CLASS_LOSSY, SIZE); // another class goes on
    stand_control(stand, resume_ps, 1, CONTROL_RESUME);
    lossless(stand, resume_ps + RESTORATION_PS - 1);
    const uint32_t after = lossless(stand, resume_ps + RESTORATION_PS);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_drops, 2);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_storms, 1);
    ck_assert_uint_eq(stand_counters(stand, 1)->packets, 2);
    ck_assert_uint_eq(stand_start_ps(stand, after), resume_ps + RESTORATION_PS);
    stand_free(stand);
}
END_TEST

START_TEST(a_pause_before_the_restoration_prolongs_the_storm) {
    struct stand *stand = watched();
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    stand_control(stand, 2 * DETECTION_PS, 1, CONTROL_RESUME);
    stand_control(stand, 2 * DETECTION_PS + RESTORATION_PS / 2, 1, CONTROL_PAUSE);
    stand_control(stand, 9 * DETECTION_PS, 1, CONTROL_RESUME);
    lossless(stand, 8 * DETECTION_PS);
    const uint32_t after = lossless(stand, 9 * DETECTION_PS + RESTORATION_PS);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_drops, 1);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_storms, 1);
    ck_assert_uint_eq(stand_start_ps(stand, after), 9 * DETECTION_PS + RESTORATION_PS);
    stand_free(stand);
}
END_TEST

/* Two packets wait, a third comes later: they go on as if nobody had paused; when the storm is over a pause holds again. */
START_TEST(a_storm_that_is_met_by_forwarding_sends_what_waits_and_what_comes) {
    const uint64_t resume_ps = 2 * DETECTION_PS;
    struct stand *stand = watched();
    stand->parameters.leaf.watchdog_action = WATCHDOG_FORWARD;
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    const uint32_t first = lossless(stand, 1000), second = lossless(stand, 1000 + SIZE_PS);
    const uint32_t third = lossless(stand, DETECTION_PS + 5 * SIZE_PS);
    stand_control(stand, resume_ps, 1, CONTROL_RESUME);
    stand_control(stand, resume_ps + RESTORATION_PS - 1, 1, CONTROL_PAUSE); // too early to be heard
    stand_control(stand, 2 * resume_ps, 1, CONTROL_RESUME);
    stand_control(stand, 2 * resume_ps + RESTORATION_PS, 1, CONTROL_PAUSE); // the storm is over
    const uint32_t heeded = lossless(stand, 2 * resume_ps + RESTORATION_PS);
    stand_control(stand, 2 * resume_ps + RESTORATION_PS + 7 * SIZE_PS, 1, CONTROL_RESUME);
    stand_run(stand);
    const struct link_counters *counters = stand_counters(stand, 1);
    ck_assert_uint_eq(stand_start_ps(stand, first), DETECTION_PS);
    ck_assert_uint_eq(stand_start_ps(stand, second), DETECTION_PS + SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, third), DETECTION_PS + 5 * SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, heeded), 2 * resume_ps + RESTORATION_PS + 7 * SIZE_PS);
    ck_assert_uint_eq(counters->watchdog_storms, 1);
    ck_assert_uint_eq(counters->watchdog_drops + counters->lossless_drops, 0);
    ck_assert_uint_eq(counters->pauses, 2);
    ck_assert_uint_eq(counters->paused_ps, DETECTION_PS + 7 * SIZE_PS);
    stand_free(stand);
}
END_TEST

START_TEST(an_alert_counts_storms_and_leaves_the_queue_alone) {
    struct stand *stand = watched();
    stand->parameters.leaf.watchdog_action = WATCHDOG_ALERT;
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    const uint32_t before = lossless(stand, 1000), after = lossless(stand, 2 * DETECTION_PS);
    stand_control(stand, 3 * DETECTION_PS, 1, CONTROL_RESUME);
    stand_run(stand);
    ck_assert_uint_eq(stand_start_ps(stand, before), 3 * DETECTION_PS);
    ck_assert_uint_eq(stand_start_ps(stand, after), 3 * DETECTION_PS + SIZE_PS);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_storms, 1);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_drops, 0);
    ck_assert_uint_eq(stand_counters(stand, 1)->paused_ps, 3 * DETECTION_PS);
    stand_free(stand);
}
END_TEST

/* 20 packets of one ingress wait: 13 in a pool of 26, so the 14th paused it. */
START_TEST(an_ingress_whose_packets_are_discarded_is_resumed) {
    struct stand *stand = watched();
    stand->parameters.leaf.lossless_pool_bytes = 26 * SIZE;
    stand->parameters.leaf.headroom_bytes = 20 * SIZE;
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    for (uint32_t i = 0; i < 20; i++) {
        lossless(stand, 1000 + (uint64_t)i * SIZE_PS);
    }
    stand_run(stand);
    uint64_t pause_ps, resume_ps;
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_PAUSE, &pause_ps), 1);
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_RESUME, &resume_ps), 1);
    ck_assert_uint_eq(resume_ps, DETECTION_PS);
    ck_assert_uint_eq(stand_counters(stand, 1)->watchdog_drops, 20);
    ck_assert_uint_eq(switch_buffered_bytes(stand->device), 0);
    stand_free(stand);
}
END_TEST

/* Two leaves further each, through buffers of some packets: a deadlock (test_stall.c). */
static struct rig *deadlock(uint64_t detection_ps) {
    struct rig *rig = rig_create_round(LEAVES);
    rig->parameters.leaf = rig->parameters.spine = (struct switch_parameters){.pfc = true,
                                                                              .lossless_pool_bytes = 20000,
                                                                              .lossy_pool_bytes = 1000000,
                                                                              .headroom_bytes = 200000,
                                                                              .class_weight = {0, 1, 1},
                                                                              .watchdog_detection_ps = detection_ps,
                                                                              .watchdog_restoration_ps = detection_ps};
    rig->parameters.stall_ps = UINT64_C(30000000000);
    rig->parameters.limit_ps = UINT64_C(200000000000000);
    rig->parameters.nic.out_of_order = true;
    rig->parameters.nic.retransmit_timeout_ps = UINT64_C(2000000000);
    rig->parameters.nic.window_packets = 64;
    for (uint32_t host = 0; host < LEAVES; host++) {
        rig_send(rig, host, (host + 2) % LEAVES, 1000000);
    }
    return rig;
}

START_TEST(a_deadlock_of_pauses_is_broken_by_the_watchdog_and_lasts_without) {
    struct rig *without = deadlock(0), *with = deadlock(UINT64_C(100000000));
    ck_assert_int_eq(rig_run(without), NETWORK_STALLED);
    ck_assert_uint_gt(network_circle(without->network, NULL, 0), 0);
    ck_assert_int_eq(rig_run(with), NETWORK_FINISHED);
    ck_assert_uint_gt(rig_links(with).watchdog_storms, 0);
    ck_assert_uint_gt(rig_links(with).watchdog_drops, 0);
    ck_assert_uint_gt(rig_endpoints(with).retransmitted_packets, 0);
    rig_free(without);
    rig_free(with);
}
END_TEST

/* What is sent in spite of pauses finds no room at the next switch: the circle is broken there, by drops. */
START_TEST(a_deadlock_of_pauses_is_broken_by_forwarding_and_lasts_under_an_alert) {
    struct rig *forward = deadlock(UINT64_C(100000000)), *alert = deadlock(UINT64_C(100000000));
    forward->parameters.leaf.watchdog_action = forward->parameters.spine.watchdog_action = WATCHDOG_FORWARD;
    alert->parameters.leaf.watchdog_action = alert->parameters.spine.watchdog_action = WATCHDOG_ALERT;
    ck_assert_int_eq(rig_run(forward), NETWORK_FINISHED);
    ck_assert_uint_gt(rig_links(forward).watchdog_storms, 0);
    ck_assert_uint_eq(rig_links(forward).watchdog_drops, 0);
    ck_assert_int_eq(rig_run(alert), NETWORK_STALLED);
    ck_assert_uint_gt(rig_links(alert).watchdog_storms, 0);
    rig_free(forward);
    rig_free(alert);
}
END_TEST

START_TEST(series_hold_what_the_watchdog_discards) {
    enum { INTERVALS = 100000 };
    struct rig *rig = deadlock(UINT64_C(100000000));
    uint32_t *links = calloc(rig->fabric->n_links, sizeof(*links));
    for (uint32_t l = 0; l < rig->fabric->n_links; l++) {
        links[l] = l;
    }
    const struct recorder_wishes wishes = {.interval_ps = UINT64_C(100000000),
                                           .n_intervals = INTERVALS,
                                           .quantities = 1U << RECORDER_DROPS,
                                           .links = links,
                                           .n_links = rig->fabric->n_links};
    rig->parameters.series = &wishes;
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    struct recorder *recorder = network_recorder(rig->network);
    const size_t n = (size_t)recorder_intervals(recorder) * wishes.n_links;
    uint64_t *drops = recorder_release(recorder, RECORDER_DROPS), sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += drops[i];
    }
    const struct link_counters all = rig_links(rig);
    ck_assert_uint_gt(all.watchdog_drops, 0);
    ck_assert_uint_eq(sum, all.watchdog_drops + all.lossless_drops + all.lossy_drops);
    free(drops);
    rig_free(rig);
    free(links);
}
END_TEST

START_TEST(storms_are_the_same_on_several_threads_and_for_any_window) {
    struct rig *one = deadlock(UINT64_C(100000000)), *other = deadlock(UINT64_C(100000000));
    other->parameters.window_ps = RIG_LATENCY_PS / 7;
    ck_assert_int_eq(rig_run(one), NETWORK_FINISHED);
    ck_assert_int_eq(rig_run_on(other, 3), NETWORK_FINISHED);
    rig_assert_equal(one, other);
    rig_free(one);
    rig_free(other);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("watchdog");
    TCase *queue = tcase_create("queue");
    tcase_add_test(queue, a_queue_paused_for_the_detection_time_is_emptied_then_and_not_before);
    tcase_add_test(queue, pauses_that_are_each_too_short_are_no_storm);
    tcase_add_test(queue, a_dropping_queue_takes_packets_again_the_restoration_time_after_the_resume);
    tcase_add_test(queue, a_pause_before_the_restoration_prolongs_the_storm);
    tcase_add_test(queue, a_storm_that_is_met_by_forwarding_sends_what_waits_and_what_comes);
    tcase_add_test(queue, an_alert_counts_storms_and_leaves_the_queue_alone);
    tcase_add_test(queue, an_ingress_whose_packets_are_discarded_is_resumed);
    suite_add_tcase(suite, queue);
    TCase *circle = tcase_create("deadlock");
    tcase_add_test(circle, a_deadlock_of_pauses_is_broken_by_the_watchdog_and_lasts_without);
    tcase_add_test(circle, a_deadlock_of_pauses_is_broken_by_forwarding_and_lasts_under_an_alert);
    tcase_add_test(circle, series_hold_what_the_watchdog_discards);
    tcase_add_test(circle, storms_are_the_same_on_several_threads_and_for_any_window);
    suite_add_tcase(suite, circle);
    return run_suite(suite);
}
