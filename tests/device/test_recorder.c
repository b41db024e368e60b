// SPDX-License-Identifier: GPL-3.0-or-later
/* Series: what an interval holds, that recording changes nothing, and that nothing changes what is recorded. */
#include "device/recorder.h"
#include "run_suite.h"
#include "scenario.h"

#include <check.h>
#include <stdlib.h>

enum { MOST = 4000, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, BYTE_PS = 20 };
enum {
    LATE_BYTES = 4 * RIG_CONTROL_BYTES
}; /* probes and their replies that are on their way when the last thing happens */

/* All links of a rig, all quantities. */
static struct recorder_wishes wishes_of(const struct rig *rig, uint64_t interval_ps) {
    uint32_t *links = calloc(rig->fabric->n_links, sizeof(*links));
    for (uint32_t l = 0; l < rig->fabric->n_links; l++) {
        links[l] = l;
    }
    return (struct recorder_wishes){.interval_ps = interval_ps,
                                    .n_intervals = MOST,
                                    .quantities = (1U << RECORDER_QUANTITIES) - 1,
                                    .links = links,
                                    .n_links = rig->fabric->n_links};
}

static uint64_t sum_of(const uint64_t *values, uint32_t rows, uint32_t columns, uint32_t column) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        sum += values[(size_t)r * columns + column];
    }
    return sum;
}

static uint64_t largest_of(const uint64_t *values, uint32_t rows, uint32_t columns, uint32_t column) {
    uint64_t largest = 0;
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t value = values[(size_t)r * columns + column];
        largest = value > largest ? value : largest;
    }
    return largest;
}

/* A scenario under record, finished. */
static struct rig *run_scenario(enum scenario scenario, struct recorder_wishes *wishes, uint32_t threads,
                                uint64_t window_parts) {
    struct rig *rig = scenario_create(scenario, 5);
    *wishes = wishes_of(rig, 777777);
    rig->parameters.series = wishes;
    rig->parameters.window_ps = rig->fabric->smallest_latency_ps / window_parts;
    ck_assert_int_eq(threads > 1 ? rig_run_on(rig, threads) : rig_run(rig), NETWORK_FINISHED);
    return rig;
}

START_TEST(intervals_add_up_to_what_links_count) {
    struct recorder_wishes wishes;
    struct rig *rig = run_scenario((enum scenario)_i, &wishes, 1, 1);
    struct recorder *recorder = network_recorder(rig->network);
    const uint32_t rows = recorder_intervals(recorder), columns = wishes.n_links;
    uint64_t *values[RECORDER_QUANTITIES];
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        values[q] = recorder_release(recorder, (enum recorder_quantity)q);
    }
    ck_assert_uint_eq(rows, (network_end_ps(rig->network) + wishes.interval_ps - 1) / wishes.interval_ps);
    for (uint32_t l = 0; l < columns; l++) {
        const struct link_counters *link = network_link(rig->network, l);
        const uint64_t sent = sum_of(values[RECORDER_SENT_BYTES], rows, columns, l);
        ck_assert_uint_le(sent, link->bytes);
        ck_assert_uint_ge(sent + LATE_BYTES, link->bytes);
        ck_assert_uint_eq(sum_of(values[RECORDER_PAUSED_PS], rows, columns, l), link->paused_ps);
        ck_assert_uint_eq(sum_of(values[RECORDER_MARKS], rows, columns, l), link->marks);
        ck_assert_uint_eq(sum_of(values[RECORDER_DROPS], rows, columns, l),
                          link->lossless_drops + link->lossy_drops + link->watchdog_drops);
        ck_assert_uint_eq(largest_of(values[RECORDER_DEEPEST_BYTES], rows, columns, l), link->deepest_bytes);
        ck_assert_uint_eq(values[RECORDER_QUEUE_BYTES][(size_t)(rows - 1) * columns + l], 0);
    }
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        free(values[q]);
    }
    rig_free(rig);
    free((void *)wishes.links);
}
END_TEST

START_TEST(recording_changes_nothing) {
    struct recorder_wishes wishes;
    struct rig *with = run_scenario((enum scenario)_i, &wishes, 1, 1), *without = scenario_create((enum scenario)_i, 5);
    rig_finish(without);
    rig_assert_equal(with, without);
    rig_free(with);
    rig_free(without);
    free((void *)wishes.links);
}
END_TEST

START_TEST(threads_and_windows_are_no_part_of_series) {
    struct recorder_wishes wishes, others;
    struct rig *one = run_scenario((enum scenario)_i, &wishes, 1, 1),
               *other = run_scenario((enum scenario)_i, &others, 3, 7);
    struct recorder *a = network_recorder(one->network), *b = network_recorder(other->network);
    ck_assert_uint_eq(recorder_intervals(a), recorder_intervals(b));
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        uint64_t *left = recorder_release(a, (enum recorder_quantity)q),
                 *right = recorder_release(b, (enum recorder_quantity)q);
        ck_assert_mem_eq(left, right, (size_t)recorder_intervals(a) * wishes.n_links * sizeof(*left));
        free(left);
        free(right);
    }
    rig_free(one);
    rig_free(other);
    free((void *)wishes.links);
    free((void *)others.links);
}
END_TEST

/* Two senders at line rate into one port: from the time at which its first byte may leave, it sends without a pause. */
START_TEST(a_busy_port_sends_its_rate_in_every_whole_interval) {
    struct rig *rig = rig_create(&(struct rig_shape){.leaves = 1, .hosts_per_leaf = 3, .up_ps = BYTE_PS});
    rig_send(rig, 0, 2, 100 * RIG_PAYLOAD_BYTES);
    rig_send(rig, 1, 2, 100 * RIG_PAYLOAD_BYTES);
    struct recorder_wishes wishes = wishes_of(rig, UINT64_C(1000000));
    rig->parameters.series = &wishes;
    rig_finish(rig);
    struct recorder *recorder = network_recorder(rig->network);
    uint64_t *sent = recorder_release(recorder, RECORDER_SENT_BYTES),
             *queue = recorder_release(recorder, RECORDER_QUEUE_BYTES);
    const uint32_t port = rig_down(rig, 2), columns = wishes.n_links;
    const uint64_t first_ps = RIG_LATENCY_PS + (uint64_t)FULL_BYTES * BYTE_PS; /* store and forward */
    ck_assert_uint_eq(sent[port], (wishes.interval_ps - first_ps) / BYTE_PS);
    for (uint32_t i = 1; i < 15; i++) {
        ck_assert_uint_eq(sent[(size_t)i * columns + port], wishes.interval_ps / BYTE_PS);
    }
    /* by the end of interval 4 both have sent for 5 us less the latency, in whole packets; the port has sent for less a packet's time */
    const uint64_t packets = (5 * wishes.interval_ps - RIG_LATENCY_PS - 1) / ((uint64_t)FULL_BYTES * BYTE_PS);
    const uint64_t left = (5 * wishes.interval_ps - first_ps - 1) / ((uint64_t)FULL_BYTES * BYTE_PS);
    ck_assert_uint_eq(queue[4 * columns + port], (2 * packets - left) * FULL_BYTES);
    free(sent);
    free(queue);
    free((void *)wishes.links);
    rig_free(rig);
}
END_TEST

START_TEST(a_queue_pair_shows_what_its_controller_allows) {
    struct recorder_wishes wishes;
    struct rig *rig = scenario_create(SCENARIO_PAUSED_INCAST, 5);
    wishes = wishes_of(rig, UINT64_C(1000000));
    const struct recorder_pair pair = {rig->messages[0].source, rig->messages[0].message.destination};
    wishes.pairs = &pair;
    wishes.n_pairs = 1;
    rig->parameters.series = &wishes;
    rig_finish(rig);
    struct recorder *recorder = network_recorder(rig->network);
    uint64_t *rate = recorder_release_pairs(recorder, RECORDER_PAIR_RATE_BITS_PER_S);
    uint64_t *sent = recorder_release_pairs(recorder, RECORDER_PAIR_SENT_PACKETS);
    const uint32_t rows = recorder_intervals(recorder), columns = recorder_pair_columns(recorder);
    const uint64_t line = rig->fabric->links[rig_up(rig, pair.source)].rate_bits_per_s;
    uint64_t least = line, packets = 0;
    for (uint32_t i = 0; i < rows; i++) {
        least = rate[(size_t)i * columns] < least ? rate[(size_t)i * columns] : least;
        ck_assert_uint_le(rate[(size_t)i * columns], line);
        packets += sent[(size_t)i * columns];
    }
    ck_assert_uint_lt(least, line); /* DCQCN has cut it */
    ck_assert_uint_gt(least, 0);
    ck_assert_uint_gt(packets, 0);
    free(rate);
    free(sent);
    free((void *)wishes.links);
    rig_free(rig);
}
END_TEST

START_TEST(a_series_begins_and_ends_as_wished) {
    struct rig *rig = rig_create(&(struct rig_shape){.leaves = 1, .hosts_per_leaf = 2, .up_ps = BYTE_PS});
    rig_send(rig, 0, 1, 1000 * RIG_PAYLOAD_BYTES);
    struct recorder_wishes wishes = wishes_of(rig, UINT64_C(1000000));
    wishes.from_ps = UINT64_C(10000000);
    wishes.n_intervals = 7;
    rig->parameters.series = &wishes;
    rig_finish(rig);
    struct recorder *recorder = network_recorder(rig->network);
    ck_assert_uint_eq(recorder_intervals(recorder), 7);
    uint64_t *sent = recorder_release(recorder, RECORDER_SENT_BYTES);
    ck_assert_uint_eq(sum_of(sent, 7, wishes.n_links, rig_up(rig, 0)), 7 * wishes.interval_ps / BYTE_PS);
    free(sent);
    free((void *)wishes.links);
    rig_free(rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("device-recorder");
    TCase *tests = tcase_create("series");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, intervals_add_up_to_what_links_count, 0, SCENARIOS);
    tcase_add_loop_test(tests, recording_changes_nothing, 0, SCENARIOS);
    tcase_add_loop_test(tests, threads_and_windows_are_no_part_of_series, 0, SCENARIOS);
    tcase_add_test(tests, a_busy_port_sends_its_rate_in_every_whole_interval);
    tcase_add_test(tests, a_queue_pair_shows_what_its_controller_allows);
    tcase_add_test(tests, a_series_begins_and_ends_as_wished);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
