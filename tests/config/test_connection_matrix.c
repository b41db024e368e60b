// SPDX-License-Identifier: GPL-3.0-or-later
/* Connection matrices of htsim: what is read, and that nothing is passed over in silence. */
#include "config/connection_matrix.h"
#include "run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define HEADER "Nodes 4\nConnections 2\n"
#define SIXTY_ZEROS "000000000000000000000000000000000000000000000000000000000000"
#define EIGHT_IDS " id 1 id 1 id 1 id 1 id 1 id 1 id 1 id 1"

/* The first message about a text, or NULL if there is none. Static memory. */
static const char *first_message(const char *text) {
    static struct error_list errors;
    struct connection_matrix matrix = {0};
    memset(&errors, 0, sizeof errors);
    const bool good = connection_matrix_read_text("x.cm", text, &matrix, &errors);
    connection_matrix_fini(&matrix);
    ck_assert_int_eq(good, errors.count == 0);
    return good ? NULL : errors.errors[0].message;
}

START_TEST(flows_have_their_figures) {
    struct error_list errors = {0};
    struct connection_matrix matrix = {0};
    ck_assert(
        connection_matrix_read_text("x.cm",
                                    "# by hand\nNodes 4\r\nConnections 2\nFailures 0\n\n0->3 id 7 start 5 size 1000\n"
                                    "2->1\tstart 1000000.0 size 2\n",
                                    &matrix, &errors));
    ck_assert_uint_eq(matrix.n_nodes, 4);
    ck_assert_uint_eq(matrix.n_connections, 2);
    ck_assert_uint_eq(matrix.connections[0].source, 0);
    ck_assert_uint_eq(matrix.connections[0].destination, 3);
    ck_assert_uint_eq(matrix.connections[0].id, 7);
    ck_assert_uint_eq(matrix.connections[0].start_ps, 5);
    ck_assert_uint_eq(matrix.connections[0].bytes, 1000);
    ck_assert_uint_eq(matrix.connections[0].line, 6);
    ck_assert_uint_eq(matrix.connections[1].start_ps, 1000000);
    connection_matrix_fini(&matrix);
}
END_TEST

START_TEST(triggers_join_flows_that_end_where_the_next_begins) {
    ck_assert_ptr_null(first_message("Nodes 4\nConnections 3\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 3\n"
                                     "2->1 start 0 size 1 recv_done_trigger 3\n1->3 trigger 3 size 9\n"
                                     "trigger id 3 barrier count 2\n"));
    ck_assert_ptr_null(first_message(HEADER "Triggers 1\n0->1 start 0 size 1 recv_done_trigger 3\n"
                                            "1->2 trigger 3 size 9\ntrigger id 3 oneshot\n"));
}
END_TEST

static const struct {
    const char *text, *message;
} broken[] = {
    {"Connections 0\n", "begins with `Nodes`"},
    {HEADER "0->1 start 0 size 1\n", "the header says 2 connections"},
    {HEADER "0->4 start 0 size 1\n", "node 4 does not exist"},
    {HEADER "1->1 start 0 size 1\n", "send to itself"},
    {HEADER "0-1 start 0 size 1\n", "no word of a connection matrix"},
    {HEADER "0->x start 0 size 1\n", "SOURCE->DESTINATION"},
    {HEADER "0->-1 start 0 size 1\n", "SOURCE->DESTINATION"},
    {HEADER "0->1->2 start 0 size 1\n", "SOURCE->DESTINATION"},
    {HEADER "0->4294967297 start 0 size 1\n", "node 4294967297 does not exist"},
    {"Connections 1\n0->9 start 0 size 1\nNodes 4\n", "`Nodes` must come before"},
    {HEADER "0->1 start 0 size " SIXTY_ZEROS "0005x\n", "whole number"},
    {HEADER "0->1 start 0 size " SIXTY_ZEROS "0005678\n", "the header says 2 connections"},
    {HEADER "0->1" EIGHT_IDS EIGHT_IDS " start 0 size 1 prio 3\n", "`prio` cannot be simulated"},
    {HEADER "0->1 start 0 size 1 prio 3\n", "`prio` cannot be simulated"},
    {HEADER "0->1 start 0 size 1 addon\n", "`addon` cannot be simulated"},
    {HEADER "0->1 start 0 size 1 send_done_trigger 1\n", "`send_done_trigger` cannot be simulated"},
    {HEADER "failure switch_type TOR switch_id 1 link_id 2\n", "`failure` cannot be simulated"},
    {HEADER "Failures 1\n", "`Failures` cannot be simulated"},
    {HEADER "trigger id 1 multishot\n", "`multishot` cannot be simulated"},
    {HEADER "trigger id 1\n", "needs an id from 1 and a kind"},
    {HEADER "0->1 start 0\n", "no `size`"},
    {HEADER "0->1 start 0 size 0\n", "no `size`"},
    {HEADER "0->1 size 5\n", "has neither"},
    {HEADER "0->1 start 0 trigger 1 size 5\n", "not both"},
    {HEADER "0->1 start -1 size 5\n", "whole number"},
    {HEADER "0->1 start 0 size\n", "needs a number"},
    {HEADER "0->1 start 0 size 1e6\n", "whole number"},
    {HEADER "0->1 start 0 size 99999999999999999999\n", "whole number"},
    {HEADER "0->1 id 0 start 0 size 1\n", "`id` 0 is not allowed"},
    {HEADER "0->1 start 0 size 1\n1->2 trigger 5 size 1\n", "no line describes"},
    {HEADER "0->1 start 0 size 1 recv_done_trigger 5\n1->2 start 0 size 1\n", "no line describes"},
    {HEADER "Triggers 1\n0->1 start 0 size 1 recv_done_trigger 3\n3->2 trigger 3 size 9\ntrigger id 3 oneshot\n",
     "end at another host"},
    {HEADER "Triggers 1\n0->1 start 0 size 1\n1->2 trigger 3 size 9\ntrigger id 3 oneshot\n",
     "another than it waits for"},
    {"Nodes 4\nConnections 0\nTriggers 2\ntrigger id 3 oneshot\ntrigger id 3 oneshot\n", "another"},
};

START_TEST(what_cannot_be_is_refused_by_name) {
    const char *message = first_message(broken[_i].text);
    ck_assert_ptr_nonnull(message);
    ck_assert_msg(strstr(message, broken[_i].message) != NULL, "%s", message);
}
END_TEST

START_TEST(all_mistakes_are_told_with_their_places) {
    struct error_list errors = {0};
    struct connection_matrix matrix = {0};
    ck_assert(!connection_matrix_read_text("x.cm", HEADER "0->1 start 0 siez 1\n0->1 start 0 size 1 pri 2\n", &matrix,
                                           &errors));
    ck_assert_uint_eq(errors.count, 2);
    ck_assert_uint_eq(errors.errors[0].line, 3);
    ck_assert_uint_eq(errors.errors[0].column, 14);
    ck_assert_str_eq(errors.errors[0].hint, "did you mean `size`?");
    ck_assert_str_eq(errors.errors[0].source, "0->1 start 0 siez 1");
    ck_assert_uint_eq(errors.errors[1].line, 4);
    connection_matrix_fini(&matrix);
    memset(&errors, 0, sizeof errors);
    ck_assert(!connection_matrix_read_text("x.cm", "# ours\n" HEADER "0->1 start 0 size 1\n", &matrix, &errors));
    ck_assert_uint_eq(errors.errors[0].line, 3); /* where the number of connections is said */
    ck_assert_uint_eq(errors.errors[0].column, 1);
    connection_matrix_fini(&matrix);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connection matrix");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, flows_have_their_figures);
    tcase_add_test(tests, triggers_join_flows_that_end_where_the_next_begins);
    tcase_add_loop_test(tests, what_cannot_be_is_refused_by_name, 0, (int)(sizeof broken / sizeof broken[0]));
    tcase_add_test(tests, all_mistakes_are_told_with_their_places);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
