// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/traffic_list.h"

#include <check.h>
#include <signal.h>

static struct traffic_message to(uint32_t destination, uint32_t tag, uint64_t bytes) {
    return (struct traffic_message){.destination = destination, .tag = tag, .bytes = bytes};
}

START_TEST(outbox_keeps_order_and_content_while_it_grows) {
    struct traffic_outbox outbox = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        const struct traffic_message message = to(i, 7 * i, i + 1);
        traffic_outbox_add(&outbox, &message);
    }
    ck_assert_uint_eq(outbox.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(outbox.messages[i].destination, i);
        ck_assert_uint_eq(outbox.messages[i].tag, 7 * i);
        ck_assert_uint_eq(outbox.messages[i].bytes, i + 1);
    }
    traffic_outbox_free(&outbox);
    ck_assert_uint_eq(outbox.capacity, 0);
}
END_TEST

START_TEST(messages_without_dependency_start_at_once_in_order) {
    struct traffic_list *list = traffic_list_create(3);
    const struct traffic_message messages[] = {to(1, 5, 10), to(2, 5, 20), to(1, 4, 30)};
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(traffic_list_add(list, 0, &messages[i]), i);
    }
    struct traffic traffic = traffic_list_traffic(list);
    struct traffic_outbox outbox = {0};
    traffic.begin(traffic.plan, 0, &outbox);
    ck_assert_uint_eq(outbox.count, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(outbox.messages[i].bytes, messages[i].bytes);
    }
    traffic_outbox_free(&outbox);
    traffic_list_free(list);
}
END_TEST

START_TEST(message_waits_for_all_its_deliveries) {
    struct traffic_list *list = traffic_list_create(4);
    const struct traffic_message from_one = to(0, 1, 10), from_two = to(0, 1, 20), answer = to(3, 9, 5);
    traffic_list_add(list, 1, &from_one);
    traffic_list_add(list, 2, &from_two);
    const uint32_t last = traffic_list_add(list, 0, &answer);
    traffic_list_after(list, last, 1, 1);
    traffic_list_after(list, last, 2, 1);
    struct traffic traffic = traffic_list_traffic(list);
    struct traffic_outbox outbox = {0};
    for (uint32_t rank = 0; rank < 4; rank++) {
        traffic.begin(traffic.plan, rank, &outbox);
    }
    ck_assert_uint_eq(outbox.count, 2);
    outbox.count = 0;
    traffic.delivered(traffic.plan, 0, 2, 1, 100, &outbox);
    ck_assert_uint_eq(outbox.count, 0);
    traffic.delivered(traffic.plan, 0, 1, 1, 200, &outbox);
    ck_assert_uint_eq(outbox.count, 1);
    ck_assert_uint_eq(outbox.messages[0].destination, 3);
    ck_assert(!traffic_list_finished(list));
    traffic.delivered(traffic.plan, 3, 0, 9, 300, &outbox);
    ck_assert(traffic_list_finished(list));
    traffic_outbox_free(&outbox);
    traffic_list_free(list);
}
END_TEST

/* A ring of chains: message (rank, step) waits for (rank - 1, step - 1). */
static struct traffic_list *ring(uint32_t ranks, uint32_t steps) {
    struct traffic_list *list = traffic_list_create(ranks);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t rank = 0; rank < ranks; rank++) {
            const struct traffic_message message = to((rank + 1) % ranks, step, 1 + step);
            const uint32_t number = traffic_list_add(list, rank, &message);
            if (step > 0) {
                traffic_list_after(list, number, (rank + ranks - 1) % ranks, step - 1);
            }
        }
    }
    return list;
}

START_TEST(chains_run_to_their_end_and_can_be_run_again) {
    struct traffic_list *list = ring(5, 11);
    struct traffic traffic = traffic_list_traffic(list);
    for (int again = 0; again < 2; again++) {
        struct instant_run run = instant_run(&traffic, 100, 50, (uint64_t)again);
        ck_assert_uint_eq(run.count, 55);
        ck_assert(traffic_list_finished(list));
        ck_assert_uint_eq(traffic_list_delivered(list, 3), 11);
        instant_free(&run);
    }
    traffic_list_free(list);
}
END_TEST

START_TEST(delivery_twice_is_a_bug) {
    struct traffic_list *list = ring(2, 1);
    struct traffic traffic = traffic_list_traffic(list);
    struct traffic_outbox outbox = {0};
    traffic.begin(traffic.plan, 1, &outbox);
    traffic.delivered(traffic.plan, 1, 0, 0, 1, &outbox);
    traffic.delivered(traffic.plan, 1, 0, 0, 2, &outbox);
}
END_TEST

START_TEST(repeated_tag_is_a_bug) {
    struct traffic_list *list = traffic_list_create(2);
    const struct traffic_message message = to(1, 3, 10);
    traffic_list_add(list, 0, &message);
    traffic_list_add(list, 0, &message);
    traffic_list_traffic(list);
}
END_TEST

START_TEST(waiting_for_what_nobody_sends_is_a_bug) {
    struct traffic_list *list = traffic_list_create(2);
    const struct traffic_message message = to(1, 3, 10);
    traffic_list_after(list, traffic_list_add(list, 0, &message), 1, 77);
    traffic_list_traffic(list);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("traffic_list");
    TCase *cases = tcase_create("traffic_list");
    tcase_add_test(cases, outbox_keeps_order_and_content_while_it_grows);
    tcase_add_test(cases, messages_without_dependency_start_at_once_in_order);
    tcase_add_test(cases, message_waits_for_all_its_deliveries);
    tcase_add_test(cases, chains_run_to_their_end_and_can_be_run_again);
    tcase_add_test_raise_signal(cases, delivery_twice_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(cases, repeated_tag_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(cases, waiting_for_what_nobody_sends_is_a_bug, SIGABRT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
