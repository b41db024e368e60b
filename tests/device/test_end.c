// SPDX-License-Identifier: GPL-3.0-or-later
/* How runs end: finished, stalled, at the limit, told to stop, or by a bug of whoever called. */
#include "rig.h"
#include "run_suite.h"

#include <check.h>
#include <signal.h>

static const struct rig_shape star = {.leaves = 1, .hosts_per_leaf = 4, .up_ps = 20, .cut_through = true};

START_TEST(without_messages_a_run_is_finished_at_once) {
    struct rig *rig = rig_create(&star);
    ck_assert_uint_eq(rig_finish(rig), 0);
    ck_assert_uint_eq(network_end_ps(rig->network), 0);
    ck_assert_uint_eq(network_hops(rig->network), 0);
    rig_free(rig);
}
END_TEST

START_TEST(a_message_lost_for_good_stalls_the_run) {
    struct rig *rig = rig_create(&star);
    rig->parameters.leaf.lossy_pool_bytes = 100;
    const struct traffic_message urgent = {.destination = 1, .bytes = 200, .urgent = 1}; // nobody sends it again
    rig_add(rig, 0, &urgent);
    rig_send(rig, 2, 3, 4096);
    ck_assert_int_eq(rig_run(rig), NETWORK_STALLED);
    ck_assert(!traffic_list_finished(rig->list));
    ck_assert_uint_eq(network_posted_messages(rig->network), 2);
    ck_assert_uint_eq(network_delivered_messages(rig->network), 1);
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), TIME_NEVER);
    ck_assert_uint_eq(rig_links(rig).lossy_drops, 1);
    rig_free(rig);
}
END_TEST

/* Devices cannot know of messages that the plan never gave them: the plan does. */
START_TEST(messages_that_wait_for_each_other_are_the_plans_to_report) {
    struct rig *rig = rig_create(&star);
    const uint32_t fine = rig_send(rig, 2, 3, 4096);
    const uint32_t first = rig_send(rig, 0, 1, 4096), second = rig_send(rig, 1, 0, 4096);
    traffic_list_after(rig->list, first, 1, second);
    traffic_list_after(rig->list, second, 0, first);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    ck_assert(!traffic_list_finished(rig->list));
    ck_assert_uint_eq(traffic_list_delivered(rig->list, 3), 1);
    ck_assert_uint_eq(traffic_list_delivered(rig->list, 0) + traffic_list_delivered(rig->list, 1), 0);
    ck_assert_uint_ne(rig_delivered_ps(rig, fine), TIME_NEVER);
    ck_assert_uint_eq(network_posted_messages(rig->network), 1);
    rig_free(rig);
}
END_TEST

START_TEST(the_limit_falls_between_two_deliveries) {
    const uint64_t alone_ps = 4160 * 20 + 2 * RIG_LATENCY_PS;
    struct rig *rig = rig_create(&star);
    rig_send(rig, 0, 1, 4096);
    rig_send(rig, 2, 3, 2 * 4096);
    rig->parameters.limit_ps = alone_ps + 1; // what is due at the limit itself is not done
    ck_assert_int_eq(rig_run(rig), NETWORK_LIMIT);
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), alone_ps);
    ck_assert_uint_eq(rig_delivered_ps(rig, 1), TIME_NEVER);
    ck_assert_uint_eq(network_end_ps(rig->network), alone_ps);
    rig_free(rig);
    rig = rig_create(&star);
    rig_send(rig, 0, 1, 4096);
    rig->parameters.limit_ps = alone_ps;
    ck_assert_int_eq(rig_run(rig), NETWORK_LIMIT);
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), TIME_NEVER);
    rig_free(rig);
}
END_TEST

/* Counts how often it was asked, and stops the run at the last time. */
struct watcher {
    uint64_t now_ps, hops, asked, stop_at;
};

static bool watch(void *object, uint64_t now_ps, uint64_t hops) {
    struct watcher *watcher = object;
    ck_assert_uint_ge(now_ps, watcher->now_ps);
    ck_assert_uint_ge(hops, watcher->hops);
    watcher->now_ps = now_ps;
    watcher->hops = hops;
    return ++watcher->asked != watcher->stop_at;
}

static enum network_status run_watched(struct watcher *watcher, uint64_t *hops, uint64_t *end_ps) {
    struct rig *rig = rig_create(&star);
    for (uint32_t source = 1; source < 4; source++) {
        rig_send(rig, source, 0, 40u << 20);
    }
    rig->traffic = traffic_list_traffic(rig->list);
    rig->network = network_create(rig->fabric, &rig->parameters, &rig->traffic, NULL);
    const enum network_status status = network_run(rig->network, watch, watcher);
    *hops = network_hops(rig->network);
    *end_ps = network_end_ps(rig->network);
    ck_assert_uint_gt(network_windows(rig->network), 100);
    ck_assert_uint_gt(network_bytes(rig->network), 1000);
    rig_free(rig);
    return status;
}

START_TEST(an_observer_sees_progress_and_can_end_it) {
    struct watcher patient = {0}, hasty = {.stop_at = 3};
    uint64_t hops, end_ps, hasty_hops, hasty_end_ps;
    ck_assert_int_eq(run_watched(&patient, &hops, &end_ps), NETWORK_FINISHED);
    ck_assert_uint_eq(end_ps, UINT64_C(30720) * 4160 * 20 + 2 * RIG_LATENCY_PS + 64 * 20 + 2 * RIG_LATENCY_PS);
    ck_assert_uint_gt(patient.asked, 3);
    ck_assert_uint_le(patient.hops, hops);
    ck_assert_int_eq(run_watched(&hasty, &hasty_hops, &hasty_end_ps), NETWORK_INTERRUPTED);
    ck_assert_uint_eq(hasty.asked, 3);
    ck_assert_uint_lt(hasty_hops, hops);
}
END_TEST

static void run_and_free(struct rig *rig) {
    rig_run(rig);
    rig_free(rig);
}

START_TEST(a_way_that_does_not_exist_is_a_bug) {
    const struct rig_shape islands = {.leaves = 2, .hosts_per_leaf = 2, .up_ps = 20};
    struct rig *rig = rig_create(&islands);
    rig_send(rig, 0, 2, 4096);
    run_and_free(rig);
}
END_TEST

START_TEST(nvlink_where_there_is_none_is_a_bug) {
    struct rig *rig = rig_create(&star);
    const struct traffic_message message = {.destination = 1, .bytes = 1, .route = TRAFFIC_NVLINK};
    rig_add(rig, 0, &message);
    run_and_free(rig);
}
END_TEST

/* A plan that asks for what no device may do. */
static void begin_badly(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    if (rank == 0) {
        traffic_outbox_add(outbox, plan);
    }
}

static void ignore(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                   struct traffic_outbox *outbox) {
    (void)plan;
    (void)rank;
    (void)source;
    (void)tag;
    (void)now_ps;
    (void)outbox;
}

static void run_message(struct traffic_message message) {
    const struct traffic traffic = {.plan = &message, .n_ranks = 4, .begin = begin_badly, .delivered = ignore};
    const struct network_parameters parameters = rig_parameters();
    struct fabric *fabric = rig_fabric(&star);
    struct network *network = network_create(fabric, &parameters, &traffic, NULL);
    network_run(network, NULL, NULL);
    network_free(network);
    fabric_free(fabric);
}

START_TEST(a_message_to_itself_is_a_bug) {
    run_message((struct traffic_message){.destination = 0, .bytes = 1});
}
END_TEST

START_TEST(a_message_of_nothing_is_a_bug) {
    run_message((struct traffic_message){.destination = 1, .bytes = 0});
}
END_TEST

START_TEST(more_ranks_than_endpoints_are_a_bug) {
    struct traffic_message message = {.destination = 1, .bytes = 1};
    const struct traffic traffic = {.plan = &message, .n_ranks = 5, .begin = begin_badly, .delivered = ignore};
    const struct network_parameters parameters = rig_parameters();
    network_create(rig_fabric(&star), &parameters, &traffic, NULL);
}
END_TEST

int main(void) {
    TCase *ends = tcase_create("ends");
    tcase_add_test(ends, without_messages_a_run_is_finished_at_once);
    tcase_add_test(ends, a_message_lost_for_good_stalls_the_run);
    tcase_add_test(ends, messages_that_wait_for_each_other_are_the_plans_to_report);
    tcase_add_test(ends, the_limit_falls_between_two_deliveries);
    tcase_add_test(ends, an_observer_sees_progress_and_can_end_it);
    TCase *bugs = tcase_create("bugs");
    tcase_add_test_raise_signal(bugs, a_way_that_does_not_exist_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(bugs, nvlink_where_there_is_none_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(bugs, a_message_to_itself_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(bugs, a_message_of_nothing_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(bugs, more_ranks_than_endpoints_are_a_bug, SIGABRT);
    Suite *suite = suite_create("end");
    suite_add_tcase(suite, ends);
    suite_add_tcase(suite, bugs);
    return run_suite(suite);
}
