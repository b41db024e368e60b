// SPDX-License-Identifier: GPL-3.0-or-later
/* REPS, step by step as published: what is recycled, when senders explore, and what a freeze keeps. */
#include "path/host_reps.h"

#include "base/hash.h"
#include "run_suite.h"

#include <check.h>

static struct host_reps sender(void) {
    return (struct host_reps){.stream = host_reps_stream(1, 2, 3)};
}

/* The random entropy that is drawn as number n. */
static uint16_t drawn(uint64_t n) {
    return (uint16_t)hash_draw(host_reps_stream(1, 2, 3), n);
}

START_TEST(without_acknowledgements_every_entropy_is_drawn) {
    struct host_reps reps = sender();
    for (uint64_t n = 0; n < 20; n++) {
        ck_assert_uint_eq(host_reps_next(&reps), drawn(n));
    }
}
END_TEST

START_TEST(unmarked_entropies_come_again_once_the_oldest_first) {
    struct host_reps reps = sender();
    host_reps_acknowledged(&reps, 11, false, 0);
    host_reps_acknowledged(&reps, 12, true, 0); /* marked: its path is congested */
    host_reps_acknowledged(&reps, 13, false, 0);
    ck_assert_uint_eq(host_reps_next(&reps), 11);
    ck_assert_uint_eq(host_reps_next(&reps), 13);
    ck_assert_uint_eq(host_reps_next(&reps), drawn(0));
}
END_TEST

START_TEST(the_ring_forgets_the_oldest_of_nine) {
    struct host_reps reps = sender();
    for (uint16_t entropy = 1; entropy <= 9; entropy++) {
        host_reps_acknowledged(&reps, entropy, false, 0);
    }
    for (uint16_t entropy = 2; entropy <= 9; entropy++) {
        ck_assert_uint_eq(host_reps_next(&reps), entropy);
    }
    ck_assert_uint_eq(host_reps_next(&reps), drawn(0));
}
END_TEST

START_TEST(frozen_senders_keep_to_what_they_know) {
    struct host_reps reps = sender();
    host_reps_acknowledged(&reps, 21, false, 0);
    host_reps_acknowledged(&reps, 22, false, 0);
    ck_assert_uint_eq(host_reps_next(&reps), 21); /* used, but known to work */
    host_reps_timed_out(&reps, 1000);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(host_reps_next(&reps), i % 2 == 0 ? 21 : 22);
    }
    host_reps_acknowledged(&reps, 23, false, 1000 + HOST_REPS_FREEZE_PS - 1);
    ck_assert(reps.frozen);
}
END_TEST

START_TEST(after_a_freeze_sixteen_packets_explore) {
    struct host_reps reps = sender();
    host_reps_acknowledged(&reps, 21, false, 0);
    host_reps_timed_out(&reps, 1000);
    ck_assert_uint_eq(host_reps_next(&reps), 21);
    host_reps_acknowledged(&reps, 31, false, 1000 + HOST_REPS_FREEZE_PS);
    ck_assert(!reps.frozen);
    for (uint64_t n = 0; n < HOST_REPS_EXPLORATIONS; n++) {
        host_reps_timed_out(&reps, 2000 + HOST_REPS_FREEZE_PS); /* no new freeze while it explores */
        ck_assert_uint_eq(host_reps_next(&reps), drawn(n));
    }
    ck_assert_uint_eq(host_reps_next(&reps), 31); /* what was known before the freeze is forgotten */
    ck_assert_uint_eq(host_reps_next(&reps), drawn(HOST_REPS_EXPLORATIONS));
}
END_TEST

START_TEST(a_freeze_with_nothing_known_explores) {
    struct host_reps reps = sender();
    host_reps_timed_out(&reps, 0);
    ck_assert_uint_eq(host_reps_next(&reps), drawn(0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("host_reps");
    TCase *tests = tcase_create("sender");
    tcase_add_test(tests, without_acknowledgements_every_entropy_is_drawn);
    tcase_add_test(tests, unmarked_entropies_come_again_once_the_oldest_first);
    tcase_add_test(tests, the_ring_forgets_the_oldest_of_nine);
    tcase_add_test(tests, frozen_senders_keep_to_what_they_know);
    tcase_add_test(tests, after_a_freeze_sixteen_packets_explore);
    tcase_add_test(tests, a_freeze_with_nothing_known_explores);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
