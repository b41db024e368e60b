// SPDX-License-Identifier: GPL-3.0-or-later
/* Connection matrices as plans: who posts what, and when triggers let go. */
#include "run_suite.h"
#include "workload/connection_plan.h"

#include <check.h>

static const char ring[] = "Nodes 3\nConnections 4\nTriggers 2\n"
                           "0->1 id 1 start 7 size 100 recv_done_trigger 1\n"
                           "2->1 id 2 start 0 size 200 recv_done_trigger 1\n"
                           "1->2 id 3 trigger 1 size 300 recv_done_trigger 9\n"
                           "2->0 id 4 trigger 9 size 400\n"
                           "trigger id 9 oneshot\ntrigger id 1 barrier count 2\n";

static struct connection_plan *plan_of(const char *text) {
    struct error_list errors = {0};
    struct connection_matrix matrix = {0};
    ck_assert(connection_matrix_read_text("x.cm", text, &matrix, &errors));
    struct connection_plan *plan = connection_plan_create(&matrix, 4);
    connection_matrix_fini(&matrix);
    return plan;
}

START_TEST(flows_with_a_start_are_posted_at_once_and_others_when_all_pulls_are_there) {
    struct connection_plan *plan = plan_of(ring);
    struct traffic traffic = connection_plan_traffic(plan);
    struct traffic_outbox outbox = {0};
    const uint32_t first[] = {1, 0, 1, 0};
    for (uint32_t rank = 0; rank < 4; rank++) {
        outbox.count = 0;
        traffic.begin(traffic.plan, rank, &outbox);
        ck_assert_uint_eq(outbox.count, first[rank]);
    }
    outbox.count = 0;
    traffic.delivered(traffic.plan, 1, 2, 1, 1000, &outbox);
    ck_assert_uint_eq(outbox.count, 0); /* a barrier of two */
    traffic.delivered(traffic.plan, 1, 0, 0, 2000, &outbox);
    ck_assert_uint_eq(outbox.count, 1);
    ck_assert_uint_eq(outbox.messages[0].destination, 2);
    ck_assert_uint_eq(outbox.messages[0].bytes, 300);
    ck_assert_uint_eq(connection_plan_delivered(plan), 2);
    outbox.count = 0;
    traffic.delivered(traffic.plan, 2, 1, 2, 3000, &outbox);
    ck_assert_uint_eq(outbox.count, 1);
    ck_assert_uint_eq(outbox.messages[0].destination, 0);
    traffic.delivered(traffic.plan, 0, 2, 3, 4000, &outbox);
    ck_assert_uint_eq(connection_plan_delivered(plan), connection_plan_count(plan));
    traffic_outbox_free(&outbox);
    connection_plan_free(plan);
}
END_TEST

START_TEST(starts_and_sizes_are_those_of_the_file) {
    struct connection_plan *plan = plan_of(ring);
    struct traffic traffic = connection_plan_traffic(plan);
    struct traffic_outbox outbox = {0};
    traffic.begin(traffic.plan, 0, &outbox);
    ck_assert_uint_eq(outbox.messages[0].start_ps, 7);
    ck_assert_uint_eq(outbox.messages[0].bytes, 100);
    ck_assert_uint_eq(outbox.messages[0].route, TRAFFIC_FABRIC);
    ck_assert_uint_eq(connection_plan_bytes(plan), 1000);
    traffic_outbox_free(&outbox);
    connection_plan_free(plan);
}
END_TEST

START_TEST(the_digest_is_of_all_that_is_sent) {
    static const char *const other[] = {
        "Nodes 3\nConnections 1\n0->1 id 1 start 0 size 100\n", "Nodes 3\nConnections 1\n0->2 id 1 start 0 size 100\n",
        "Nodes 3\nConnections 1\n0->1 id 1 start 1 size 100\n", "Nodes 3\nConnections 1\n0->1 id 1 start 0 size 101\n"};
    uint64_t digests[4];
    for (int i = 0; i < 4; i++) {
        struct connection_plan *plan = plan_of(other[i]), *again = plan_of(other[i]);
        digests[i] = connection_plan_digest(plan);
        ck_assert_uint_eq(digests[i], connection_plan_digest(again));
        for (int j = 0; j < i; j++) {
            ck_assert_uint_ne(digests[i], digests[j]);
        }
        connection_plan_free(plan);
        connection_plan_free(again);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connection plan");
    TCase *tests = tcase_create("plan");
    tcase_add_test(tests, flows_with_a_start_are_posted_at_once_and_others_when_all_pulls_are_there);
    tcase_add_test(tests, starts_and_sizes_are_those_of_the_file);
    tcase_add_test(tests, the_digest_is_of_all_that_is_sent);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
