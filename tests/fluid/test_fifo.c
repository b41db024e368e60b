// SPDX-License-Identifier: GPL-3.0-or-later
/* Messages in line: order, and memory that follows how many wait. */
#include "fluid/fifo.h"
#include "run_suite.h"

#include <check.h>

static void wait_for(struct fifo *fifo, uint64_t tag) {
    const struct traffic_message message = {.tag = tag};
    fifo_wait(fifo, &message);
}

static uint64_t next_of(struct fifo *fifo) {
    const uint64_t tag = fifo_first_waiting(fifo)->message.tag;
    fifo_drop_waiting(fifo);
    return tag;
}

START_TEST(those_that_wait_go_in_their_order) {
    struct fifo fifo = {0};
    uint64_t came = 0, went = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 1 + round % 7; i++) {
            wait_for(&fifo, came++);
        }
        for (int i = 0; i < round % 5 && fifo_first_waiting(&fifo) != NULL; i++) {
            ck_assert_uint_eq(next_of(&fifo), went++);
        }
    }
    while (fifo_first_waiting(&fifo) != NULL) {
        ck_assert_uint_eq(next_of(&fifo), went++);
    }
    ck_assert_uint_eq(went, came);
    fifo_fini(&fifo);
}
END_TEST

/* A line that is never empty, as of a GPU that always has one more message. */
START_TEST(room_is_for_those_that_wait_not_for_all_that_came) {
    struct fifo fifo = {0};
    for (uint64_t came = 0; came < 3; came++) {
        wait_for(&fifo, came);
    }
    for (uint64_t came = 3; came < 10000; came++) {
        wait_for(&fifo, came);
        ck_assert_uint_eq(next_of(&fifo), came - 3);
    }
    ck_assert_uint_le(fifo.waiting_capacity, 8);
    fifo_fini(&fifo);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("fifo");
    tcase_add_test(cases, those_that_wait_go_in_their_order);
    tcase_add_test(cases, room_is_for_those_that_wait_not_for_all_that_came);
    Suite *suite = suite_create("fluid-fifo");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
