// SPDX-License-Identifier: GPL-3.0-or-later
/* NVLink: records over all ports, credits, channels. d = time of a record on a link, L = latency of a link. */
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/failure.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>

enum { R_PS = 160, D_PS = RIG_RECORD_BYTES * R_PS }; // 50 GB/s a link

static struct rig *domain(uint32_t gpus, uint32_t chips, uint32_t links_per_chip) {
    const struct rig_shape shape = {.hosts_per_leaf = gpus,
                                    .domain_gpus = gpus,
                                    .chips = chips,
                                    .links_per_chip = links_per_chip,
                                    .nvlink_ps = R_PS};
    return rig_create(&shape);
}

static uint32_t send(struct rig *rig, uint32_t source, uint32_t destination, uint64_t bytes, uint8_t channel) {
    const struct traffic_message message = {
        .destination = destination, .bytes = bytes, .route = TRAFFIC_NVLINK, .channel = channel};
    return rig_add(rig, source, &message);
}

/* Record n of GPU g takes port (n + g) mod ports; a chip stores the first record of a port before the others follow. */
static uint64_t expected_ps(uint64_t bytes, uint32_t ports, uint32_t gpu) {
    uint64_t latest_ps = 0;
    for (uint32_t port = 0; port < ports; port++) {
        uint64_t sum = 0, largest = 0;
        for (uint64_t n = 0; n * RIG_RECORD_BYTES < bytes; n++) {
            const uint64_t left = bytes - n * RIG_RECORD_BYTES;
            const uint64_t size = left < RIG_RECORD_BYTES ? left : RIG_RECORD_BYTES;
            if ((n + gpu) % ports == port) {
                sum += size;
                largest = size > largest ? size : largest;
            }
        }
        const uint64_t time_ps = (sum + largest) * R_PS + 2 * RIG_LATENCY_PS;
        latest_ps = sum && time_ps > latest_ps ? time_ps : latest_ps;
    }
    return latest_ps;
}

START_TEST(a_flow_takes_its_share_of_every_link_plus_latency) {
    static const uint32_t ports[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 2}, {18, 1}};
    static const uint64_t sizes[] = {1, 1000, 1024, 1025, 18432, 18433, 100000, 1 << 20};
    for (int p = 0; p < 5; p++) {
        struct rig *rig = domain(4, ports[p][0], ports[p][1]);
        send(rig, 3, 1, sizes[_i], 0);
        ck_assert_uint_eq(rig_finish(rig), expected_ps(sizes[_i], ports[p][0] * ports[p][1], 3));
        ck_assert_uint_eq(endpoint_counters_of(network_endpoint(rig->network, 3))->nvlink_bytes_sent, sizes[_i]);
        ck_assert_uint_eq(endpoint_counters_of(network_endpoint(rig->network, 1))->nvlink_bytes_received, sizes[_i]);
        rig_free(rig);
    }
}
END_TEST

/* What a slow GPU sends takes twice as long on its own link; what it receives, and what the chip forwards, does not. */
START_TEST(a_slow_gpu_sends_at_its_own_rate_and_receives_at_that_of_others) {
    struct rig *rig = domain(4, 1, 1);
    const uint32_t link = rig->fabric->devices[3].first_port;
    struct failure slow = {.kind = FAILURE_SLOW,
                           .link = link,
                           .until_ps = TIME_NEVER,
                           .ps_per_byte = 2 * rig->fabric->links[link].ps_per_byte};
    const struct failure_list list = {.failures = &slow, .count = 1};
    rig->parameters.failures = &list;
    const uint32_t sent = send(rig, 3, 1, 10 * RIG_RECORD_BYTES, 0);
    const uint32_t received = send(rig, 2, 3, 10 * RIG_RECORD_BYTES, 0);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, sent), UINT64_C(21) * D_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_delivered_ps(rig, received), UINT64_C(11) * D_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

START_TEST(messages_of_a_channel_follow_each_other) {
    struct rig *rig = domain(3, 1, 1);
    const uint32_t first = send(rig, 0, 1, 20 * RIG_RECORD_BYTES, 0);
    const uint32_t second = send(rig, 0, 2, 30 * RIG_RECORD_BYTES, 0);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, first), 21 * D_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_delivered_ps(rig, second), 51 * D_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

START_TEST(two_channels_take_turns) {
    struct rig *rig = domain(3, 1, 1);
    const uint32_t first = send(rig, 0, 1, 20 * RIG_RECORD_BYTES, 0);
    const uint32_t second = send(rig, 0, 2, 20 * RIG_RECORD_BYTES, 1);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, first), (2 * 20 - 1 + 1) * D_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_delivered_ps(rig, second), (2 * 20 + 1) * D_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

START_TEST(flows_into_one_gpu_are_done_when_its_links_have_carried_them_all) {
    static const uint32_t chips_links[][2] = {{1, 1}, {2, 1}, {2, 3}, {18, 1}};
    for (int c = 0; c < 4; c++) {
        const uint32_t ports = chips_links[c][0] * chips_links[c][1];
        struct rig *rig = domain(9, chips_links[c][0], chips_links[c][1]);
        for (uint32_t source = 1; source < 9; source++) {
            send(rig, source, 0, UINT64_C(40) * ports * RIG_RECORD_BYTES, 0);
        }
        ck_assert_uint_eq(rig_finish(rig), (8 * 40 + 1) * D_PS + 2 * RIG_LATENCY_PS);
        rig_free(rig);
    }
}
END_TEST

/* Of b records' worth of credit, the first comes back after two links and two transmissions; until then the wire is idle. */
START_TEST(a_small_buffer_gives_so_many_records_a_round_trip) {
    enum { ROUNDS = 10, ROUND_TRIP_PS = 2 * D_PS + 2 * RIG_LATENCY_PS };
    for (uint32_t records = 2; records * D_PS < ROUND_TRIP_PS; records++) {
        struct rig *rig = domain(2, 1, 1);
        rig->parameters.nvlink.buffer_bytes = records * RIG_RECORD_BYTES;
        send(rig, 0, 1, (uint64_t)ROUNDS * records * RIG_RECORD_BYTES, 0);
        const uint64_t last_round_ps = (records - 1) * D_PS + 2 * D_PS + 2 * RIG_LATENCY_PS;
        ck_assert_uint_eq(rig_finish(rig), UINT64_C(9) * ROUND_TRIP_PS + last_round_ps);
        rig_free(rig);
    }
}
END_TEST

START_TEST(a_buffer_of_one_round_trip_keeps_the_wire_busy) {
    const uint64_t round_trip_ps = 2 * D_PS + 2 * RIG_LATENCY_PS;
    struct rig *rig = domain(2, 1, 1);
    rig->parameters.nvlink.buffer_bytes = (round_trip_ps + D_PS - 1) / D_PS * RIG_RECORD_BYTES;
    send(rig, 0, 1, 100 * RIG_RECORD_BYTES, 0);
    ck_assert_uint_eq(rig_finish(rig), 101 * D_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

/* Bytes sent on each link less bytes given back never pass the buffer behind it. */
static void assert_credits_hold(struct rig *rig, uint64_t buffer_bytes) {
    uint64_t *held = memory_allocate(rig->fabric->n_links, sizeof(*held));
    uint64_t largest = 0;
    trace_sort(&rig->trace);
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        const uint32_t link = rig->fabric->devices[record->device].first_port + record->port;
        if (record->event == TRACE_START) {
            held[link] += record->size_bytes;
            largest = held[link] > largest ? held[link] : largest;
        } else if (record->event == TRACE_CREDIT) {
            const uint32_t sender = rig->fabric->links[link].reverse;
            ck_assert_uint_ge(held[sender], record->detail);
            ck_assert_uint_ge(record->detail, rig->parameters.nvlink.credit_grain_bytes);
            held[sender] -= record->detail;
        }
    }
    ck_assert_uint_le(largest, buffer_bytes);
    ck_assert_uint_gt(largest + 3 * RIG_RECORD_BYTES, buffer_bytes); // and it was needed: the rest is credit on its way
    free(held);
}

START_TEST(credits_never_let_a_buffer_overflow) {
    for (uint32_t grain = 1; grain <= 4096; grain *= 8) {
        struct rig *rig = domain(8, 2, 2);
        rig->parameters.nvlink.buffer_bytes = 6 * RIG_RECORD_BYTES;
        rig->parameters.nvlink.credit_grain_bytes = grain;
        for (uint32_t source = 1; source < 8; source++) {
            send(rig, source, 0, 100000 + source * 777, 0);
            send(rig, source, 1 + source % 7, 50000, 1);
        }
        rig_finish(rig);
        assert_credits_hold(rig, 6 * RIG_RECORD_BYTES);
        rig_free(rig);
    }
}
END_TEST

START_TEST(a_buffer_without_a_figure_is_twice_the_round_trip) {
    struct rig *rig = domain(3, 1, 1);
    send(rig, 1, 0, 500 * RIG_RECORD_BYTES, 0);
    send(rig, 2, 0, 500 * RIG_RECORD_BYTES, 0);
    rig_finish(rig);
    // floor(2 × (2 latencies + 2 records) × rate): what a sender can be ahead by
    const uint64_t buffer_bytes = 2 * (2 * RIG_LATENCY_PS + 2 * D_PS) / R_PS;
    assert_credits_hold(rig, buffer_bytes);
    rig_free(rig);
}
END_TEST

START_TEST(nvlink_and_nic_do_not_slow_each_other) {
    const struct rig_shape shape = {.leaves = 1,
                                    .hosts_per_leaf = 4,
                                    .domain_gpus = 2,
                                    .chips = 2,
                                    .links_per_chip = 1,
                                    .up_ps = 20,
                                    .nvlink_ps = R_PS,
                                    .cut_through = true};
    struct rig *rig = rig_create(&shape);
    const uint32_t near = send(rig, 0, 1, 100000, 0);
    const uint32_t far = rig_send(rig, 0, 2, 100000);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, near), expected_ps(100000, 2, 0));
    ck_assert_uint_eq(rig_delivered_ps(rig, far), rig_wire_bytes(rig, 100000) * 20 + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

START_TEST(records_do_not_straddle_units) {
    struct rig *rig = domain(2, 1, 1);
    const struct traffic_message message = {
        .destination = 1, .bytes = 10 * 1500, .unit_bytes = 1500, .route = TRAFFIC_NVLINK};
    rig_add(rig, 0, &message);
    rig_finish(rig);
    ck_assert_uint_eq(network_data_hops(rig->network), 2 * 20);
    rig_free(rig);
}
END_TEST

int main(void) {
    TCase *times = tcase_create("times");
    tcase_add_loop_test(times, a_flow_takes_its_share_of_every_link_plus_latency, 0, 8);
    tcase_add_test(times, a_slow_gpu_sends_at_its_own_rate_and_receives_at_that_of_others);
    tcase_add_test(times, messages_of_a_channel_follow_each_other);
    tcase_add_test(times, two_channels_take_turns);
    tcase_add_test(times, flows_into_one_gpu_are_done_when_its_links_have_carried_them_all);
    tcase_add_test(times, nvlink_and_nic_do_not_slow_each_other);
    tcase_add_test(times, records_do_not_straddle_units);
    TCase *credits = tcase_create("credits");
    tcase_add_test(credits, a_small_buffer_gives_so_many_records_a_round_trip);
    tcase_add_test(credits, a_buffer_of_one_round_trip_keeps_the_wire_busy);
    tcase_add_test(credits, credits_never_let_a_buffer_overflow);
    tcase_add_test(credits, a_buffer_without_a_figure_is_twice_the_round_trip);
    Suite *suite = suite_create("nvlink");
    suite_add_tcase(suite, times);
    suite_add_tcase(suite, credits);
    return run_suite(suite);
}
