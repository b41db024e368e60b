// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs: turns, windows, and what happens when packets are lost. */
#include "base/hash.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, PACKET_PS = FULL_BYTES * R_PS };

static struct rig *star(uint32_t hosts) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = hosts, .up_ps = R_PS, .cut_through = true};
    return rig_create(&shape);
}

START_TEST(queue_pairs_of_a_nic_take_turns) {
    struct rig *rig = star(4);
    for (uint32_t destination = 1; destination < 4; destination++) {
        rig_send(rig, 0, destination, 50 * RIG_PAYLOAD_BYTES);
    }
    rig_finish(rig);
    // the first is alone when it is posted, so it starts at once and lines up again before the others: 0 0 1 2 0 1 2 …
    static const uint64_t packets[] = {146, 149, 150};
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(rig_delivered_ps(rig, i), packets[i] * PACKET_PS + 2 * RIG_LATENCY_PS);
    }
    rig_free(rig);
}
END_TEST

START_TEST(messages_to_a_peer_go_round_its_queue_pairs) {
    struct rig *rig = star(3);
    rig->parameters.nic.queue_pairs = 4;
    for (uint32_t i = 0; i < 20; i++) {
        rig_send(rig, 0, 1 + i % 2, 4096); // to two peers in turn
    }
    rig_finish(rig);
    uint32_t n;
    const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(rig->network, 0), &n);
    ck_assert_uint_eq(n, 20);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(sent[i].queue_pair, i % 2 * 4 + i / 2 % 4);
    }
    rig_free(rig);
}
END_TEST

/* Parts one after the other on one wire; what is left without bytes is a header. */
START_TEST(a_split_message_is_there_when_all_its_parts_are) {
    static const struct {
        uint64_t bytes, wire_bytes;
    } cases[] = {{10000, 10000 + 4 * RIG_HEADER_BYTES},  // 2,560 + 2,560 + 2,560 + 2,320
                 {40000, 40000 + 12 * RIG_HEADER_BYTES}, // 10,112 × 3 + 9,664: three packets each
                 {100, 100 + RIG_HEADER_BYTES + UINT64_C(3) * RIG_HEADER_BYTES}}; // and three headers
    struct rig *rig = star(2);
    rig->parameters.nic.queue_pairs = 4;
    rig->parameters.nic.split_messages = true;
    rig_send(rig, 0, 1, cases[_i].bytes);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), cases[_i].wire_bytes * R_PS + UINT64_C(2) * RIG_LATENCY_PS);
    uint32_t n;
    const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(rig->network, 0), &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(sent[0].bytes, cases[_i].bytes);
    ck_assert_uint_eq(sent[0].queue_pair, 0);
    ck_assert_uint_eq(rig_completed_ps(rig, 0), sent[0].acknowledged_ps);
    ck_assert_uint_eq(rig_endpoints(rig).delivered_messages, 1);
    rig_free(rig);
}
END_TEST

/* Over uplinks at a quarter of the hosts' rate a message is as quick as the uplinks that its queue pairs are hashed to. */
START_TEST(parts_of_a_message_take_paths_of_their_own) {
    const struct rig_shape shape = {
        .leaves = 2, .hosts_per_leaf = 1, .spines = 4, .up_ps = R_PS, .uplink_ps = 4 * R_PS, .cut_through = true};
    enum { MOST_PACKETS = 400, SPREAD = 16 };
    uint64_t took_ps[2];
    for (int split = 0; split < 2; split++) {
        struct rig *rig = rig_create(&shape);
        rig->parameters.nic.queue_pairs = SPREAD;
        rig->parameters.nic.split_messages = split;
        rig_send(rig, 0, 1, (uint64_t)MOST_PACKETS * RIG_PAYLOAD_BYTES);
        rig_finish(rig);
        took_ps[split] = rig_delivered_ps(rig, 0);
        rig_free(rig);
    }
    ck_assert_uint_gt(took_ps[0], UINT64_C(4) * MOST_PACKETS * PACKET_PS);
    ck_assert_uint_lt(took_ps[1], took_ps[0] / 2); // 16 queue pairs on 4 uplinks: at most 8 on one
    ck_assert_uint_gt(took_ps[1], took_ps[0] / 4);
}
END_TEST

/* w packets a round trip: the ACK of the first lets the next round begin. */
START_TEST(a_window_is_filled_once_a_round_trip) {
    enum { ROUNDS = 12 };
    const uint64_t round_trip_ps = PACKET_PS + RIG_CONTROL_BYTES * R_PS + 4 * RIG_LATENCY_PS;
    for (int any_order = 0; any_order < 2; any_order++) {
        struct rig *rig = star(2);
        rig->parameters.nic.window_packets = (uint32_t)_i;
        rig->parameters.nic.acknowledge_bytes = 1;
        rig->parameters.nic.out_of_order = any_order;
        rig_send(rig, 0, 1, (uint64_t)ROUNDS * (unsigned)_i * RIG_PAYLOAD_BYTES);
        rig_finish(rig);
        const uint64_t full_ps = (uint64_t)ROUNDS * (unsigned)_i * PACKET_PS + round_trip_ps - PACKET_PS;
        const uint64_t windowed_ps = ROUNDS * round_trip_ps + ((unsigned)_i - 1) * (uint64_t)PACKET_PS;
        ck_assert_uint_eq(rig_completed_ps(rig, 0), (unsigned)_i * PACKET_PS < round_trip_ps ? windowed_ps : full_ps);
        rig_free(rig);
    }
}
END_TEST

START_TEST(windows_bound_the_queue_of_an_incast) {
    struct rig *rig = star(17);
    rig->parameters.nic.window_packets = 3;
    rig->parameters.nic.acknowledge_bytes = 1;
    for (uint32_t source = 1; source < 17; source++) {
        rig_send(rig, source, 0, 100 * RIG_PAYLOAD_BYTES);
    }
    rig_finish(rig);
    const uint64_t deepest_bytes = network_link(rig->network, rig_down(rig, 0))->deepest_bytes;
    ck_assert_uint_le(deepest_bytes, 16 * 3 * FULL_BYTES);
    ck_assert_uint_ge(deepest_bytes, 16 * FULL_BYTES);
    rig_free(rig);
}
END_TEST

/* Eight senders into one port of a switch with room for few packets. */
static struct rig *lossy_incast(uint64_t seed, bool any_order) {
    struct rig *rig = star(9);
    rig->parameters.seed = seed;
    rig->parameters.leaf.lossy_pool_bytes = 30 * FULL_BYTES;
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.nic.out_of_order = any_order;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.nic.window_packets = 32;
    rig->parameters.nic.nack_interval_ps = 4000000;
    rig->parameters.nic.retransmit_timeout_ps = UINT64_C(100000000);
    for (uint32_t source = 1; source < 9; source++) {
        for (uint32_t i = 0; i < 3; i++) {
            rig_send(rig, source, 0, 40000 + hash_mix(seed + source * 8 + i) % 200000);
        }
    }
    return rig;
}

START_TEST(go_back_n_recovers_what_was_dropped) {
    struct rig *rig = lossy_incast((uint64_t)_i, false);
    rig_finish(rig);
    const struct link_counters links = rig_links(rig);
    const struct endpoint_counters endpoints = rig_endpoints(rig);
    ck_assert_uint_gt(links.lossy_drops, 20);
    ck_assert_uint_eq(links.lossless_drops, 0);
    ck_assert_uint_gt(endpoints.nacks, 0);
    ck_assert_uint_gt(endpoints.timeouts, 0); // a tail that was lost shows by no NACK
    ck_assert_uint_ge(endpoints.retransmitted_packets, links.lossy_drops);
    rig_free(rig);
}
END_TEST

/* Shortest time between two NACKs of one packet of one sender, as they leave the receiver. */
static uint64_t shortest_nack_gap_ps(const struct rig *rig) {
    uint64_t last_ps[9] = {0}, gap_ps = TIME_NEVER;
    uint32_t numbers[9] = {0};
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event != TRACE_START || record->kind != PACKET_NACK || record->device != 0) {
            continue;
        }
        const uint32_t sender = record->destination;
        if (last_ps[sender] && numbers[sender] == record->number && record->time_ps - last_ps[sender] < gap_ps) {
            gap_ps = record->time_ps - last_ps[sender];
        }
        last_ps[sender] = record->time_ps;
        numbers[sender] = record->number;
    }
    return gap_ps;
}

START_TEST(one_packet_is_asked_for_once_in_an_interval) {
    enum { QUEUEING_PS = 9 * RIG_CONTROL_BYTES * R_PS }; // behind replies to the other senders
    struct rig *rig = lossy_incast(1, false);
    rig_finish(rig);
    const uint64_t interval_ps = rig->parameters.nic.nack_interval_ps;
    ck_assert_uint_ge(shortest_nack_gap_ps(rig) + QUEUEING_PS, interval_ps);
    ck_assert_uint_lt(shortest_nack_gap_ps(rig), 4 * interval_ps); // it was asked for again
    ck_assert_uint_lt(rig_endpoints(rig).nacks, rig_endpoints(rig).out_of_order / 2);
    rig_free(rig);
    rig = lossy_incast(1, false);
    rig->parameters.nic.nack_interval_ps = 0;
    rig_finish(rig);
    ck_assert_uint_eq(rig_endpoints(rig).nacks, rig_endpoints(rig).out_of_order);
    rig_free(rig);
}
END_TEST

START_TEST(placement_in_any_order_recovers_by_timers_alone) {
    struct rig *rig = lossy_incast((uint64_t)_i, true);
    rig_finish(rig);
    const struct endpoint_counters endpoints = rig_endpoints(rig);
    ck_assert_uint_gt(rig_links(rig).lossy_drops, 20);
    ck_assert_uint_eq(endpoints.nacks, 0);
    ck_assert_uint_gt(endpoints.timeouts, 0);
    ck_assert_uint_gt(endpoints.out_of_order, 0);
    rig_free(rig);
}
END_TEST

START_TEST(a_lossless_class_without_pauses_drops_and_recovers) {
    struct rig *rig = lossy_incast(3, false);
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSLESS;
    rig->parameters.leaf.pfc = false;
    rig_finish(rig);
    const struct link_counters links = rig_links(rig);
    ck_assert_uint_gt(links.lossless_drops, 20);
    ck_assert_uint_eq(links.pauses + links.lossy_drops, 0);
    rig_free(rig);
}
END_TEST

START_TEST(without_loss_nothing_is_sent_twice) {
    for (int any_order = 0; any_order < 2; any_order++) {
        struct rig *rig = lossy_incast(1, any_order);
        rig->parameters.leaf.lossy_pool_bytes = 1u << 28;
        rig_finish(rig);
        const struct endpoint_counters endpoints = rig_endpoints(rig);
        ck_assert_uint_eq(endpoints.retransmitted_packets + endpoints.nacks + endpoints.timeouts, 0);
        ck_assert_uint_eq(endpoints.duplicates + endpoints.out_of_order + endpoints.reordering_depth, 0);
        rig_free(rig);
    }
}
END_TEST

/* Time of transmission number n of the only packet. */
static uint64_t transmission_ps(const struct rig *rig, uint32_t n) {
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event == TRACE_START && record->device == 0 && n-- == 0) {
            return record->time_ps;
        }
    }
    return TIME_NEVER;
}

START_TEST(timeouts_double_seven_times) {
    enum { TIMEOUT_PS = 50000000 };
    struct rig *rig = star(2);
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.leaf.lossy_pool_bytes = FULL_BYTES - 1; // no packet ever fits
    rig->parameters.nic.retransmit_timeout_ps = TIMEOUT_PS;
    rig->parameters.limit_ps = UINT64_C(600) * TIMEOUT_PS;
    rig_send(rig, 0, 1, RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_LIMIT);
    uint64_t time_ps = 0;
    for (uint32_t n = 0; n < 10; n++) { // after 1, 2, 4, … 64, 128, 128, 128
        ck_assert_uint_eq(transmission_ps(rig, n), time_ps);
        time_ps += (uint64_t)TIMEOUT_PS << (n < 7 ? n : 7);
    }
    ck_assert_uint_eq(rig_endpoints(rig).timeouts, 10);
    ck_assert_uint_eq(rig_endpoints(rig).retransmitted_packets, 10);
    ck_assert_uint_eq(rig_links(rig).lossy_drops, 11);
    rig_free(rig);
}
END_TEST

START_TEST(go_back_n_on_many_paths_rewinds_without_loss) {
    const struct rig_shape shape = {.leaves = 2, .hosts_per_leaf = 8, .spines = 8, .up_ps = R_PS, .cut_through = true};
    uint64_t rewound[2];
    for (int any_order = 0; any_order < 2; any_order++) {
        struct rig *rig = rig_create(&shape);
        rig->parameters.path.kind = PATH_ADAPTIVE;
        rig->parameters.nic.adaptive_marking = true;
        rig->parameters.nic.out_of_order = any_order;
        rig->parameters.nic.nack_interval_ps = 4000000;
        for (uint32_t source = 0; source < 8; source++) {
            rig_send(rig, source, 8 + (source + 3) % 8, 1u << 20);
        }
        rig_finish(rig);
        ck_assert_uint_gt(rig_endpoints(rig).out_of_order, 100);
        ck_assert_uint_eq(rig_links(rig).lossless_drops, 0);
        rewound[any_order] = rig_endpoints(rig).retransmitted_packets;
        rig_free(rig);
    }
    ck_assert_uint_gt(rewound[0], 100);
    ck_assert_uint_eq(rewound[1], 0);
}
END_TEST

int main(void) {
    TCase *turns = tcase_create("turns");
    tcase_add_test(turns, queue_pairs_of_a_nic_take_turns);
    tcase_add_test(turns, messages_to_a_peer_go_round_its_queue_pairs);
    tcase_add_loop_test(turns, a_split_message_is_there_when_all_its_parts_are, 0, 3);
    tcase_add_test(turns, parts_of_a_message_take_paths_of_their_own);
    TCase *windows = tcase_create("windows");
    tcase_add_loop_test(windows, a_window_is_filled_once_a_round_trip, 1, 30);
    tcase_add_test(windows, windows_bound_the_queue_of_an_incast);
    TCase *loss = tcase_create("loss");
    tcase_add_loop_test(loss, go_back_n_recovers_what_was_dropped, 0, 10);
    tcase_add_test(loss, one_packet_is_asked_for_once_in_an_interval);
    tcase_add_loop_test(loss, placement_in_any_order_recovers_by_timers_alone, 0, 10);
    tcase_add_test(loss, a_lossless_class_without_pauses_drops_and_recovers);
    tcase_add_test(loss, without_loss_nothing_is_sent_twice);
    tcase_add_test(loss, timeouts_double_seven_times);
    tcase_add_test(loss, go_back_n_on_many_paths_rewinds_without_loss);
    Suite *suite = suite_create("transport");
    suite_add_tcase(suite, turns);
    suite_add_tcase(suite, windows);
    suite_add_tcase(suite, loss);
    return run_suite(suite);
}
