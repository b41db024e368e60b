// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One flow alone takes size / rate + latency, to the picosecond. S = bytes on the wire, s = of its largest packet,
 * r = ps a byte, L = latency of a link. A switch that stores and forwards adds s × r; one that cuts through adds nothing.
 */
#include "base/hash.h"
#include "fabric/irregular.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES };

static const uint64_t sizes[] = {1, 63, 4096, 4097, 8192, 12345, 40960, 999999, 1u << 20};
#define N_SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static uint64_t largest_packet(uint64_t bytes) {
    return bytes < RIG_PAYLOAD_BYTES ? bytes + RIG_HEADER_BYTES : FULL_BYTES;
}

/* Delivered and acknowledged, over hops links with switches between them. */
static void assert_times(const struct rig_shape *shape, uint32_t source, uint32_t destination, uint64_t bytes,
                         uint64_t hops) {
    struct rig *rig = rig_create(shape);
    rig_send(rig, source, destination, bytes);
    rig_finish(rig);
    const uint64_t r = shape->up_ps, flight_ps = hops * RIG_LATENCY_PS;
    const uint64_t stored = shape->cut_through ? 0 : hops - 1;
    const uint64_t there_ps = rig_wire_bytes(rig, bytes) * r + stored * largest_packet(bytes) * r + flight_ps;
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), there_ps);
    ck_assert_uint_eq(rig_completed_ps(rig, 0), there_ps + (1 + stored) * RIG_CONTROL_BYTES * r + flight_ps);
    ck_assert_uint_eq(network_end_ps(rig->network), rig_completed_ps(rig, 0));
    const uint64_t packets = (bytes + RIG_PAYLOAD_BYTES - 1) / RIG_PAYLOAD_BYTES;
    ck_assert_uint_eq(network_data_hops(rig->network), packets * hops);
    ck_assert_uint_eq(network_hops(rig->network), (packets + 1) * hops);
    rig_free(rig);
}

START_TEST(a_flow_under_one_leaf_takes_size_over_rate_plus_latency) {
    for (int cut_through = 0; cut_through < 2; cut_through++) {
        const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 3, .up_ps = 20, .cut_through = cut_through};
        assert_times(&shape, 2, 0, sizes[_i], 2);
    }
}
END_TEST

START_TEST(a_flow_across_spines_takes_size_over_rate_plus_latency) {
    for (int cut_through = 0; cut_through < 2; cut_through++) {
        const struct rig_shape shape = {
            .leaves = 2, .hosts_per_leaf = 2, .spines = 3, .up_ps = 80, .cut_through = cut_through};
        assert_times(&shape, 1, 2, sizes[_i], 4);
    }
}
END_TEST

/* Time of delivery under one leaf whose two links differ. */
static uint64_t unequal_ps(uint64_t up_ps, uint64_t down_ps, uint64_t packets, bool cut_through) {
    const struct rig_shape shape = {
        .leaves = 1, .hosts_per_leaf = 2, .up_ps = up_ps, .down_ps = down_ps, .cut_through = cut_through};
    struct rig *rig = rig_create(&shape);
    rig_send(rig, 0, 1, packets * RIG_PAYLOAD_BYTES);
    const uint64_t time_ps = rig_finish(rig);
    rig_free(rig);
    return time_ps;
}

START_TEST(a_slower_way_out_sets_the_pace) {
    for (uint64_t packets = 1; packets < 40; packets += 6) {
        const uint64_t out_ps = packets * FULL_BYTES * 50 + 2 * RIG_LATENCY_PS;
        ck_assert_uint_eq(unequal_ps(20, 50, packets, true), out_ps);
        ck_assert_uint_eq(unequal_ps(20, 50, packets, false), FULL_BYTES * 20 + out_ps);
    }
}
END_TEST

/* The last bit cannot leave before it has come: a switch that cuts through waits so long with the first. */
START_TEST(a_faster_way_out_waits_for_the_last_bit) {
    for (uint64_t packets = 1; packets < 40; packets += 6) {
        const uint64_t in_ps = packets * FULL_BYTES * 50 + 2 * RIG_LATENCY_PS;
        ck_assert_uint_eq(unequal_ps(50, 20, packets, true), in_ps);
        ck_assert_uint_eq(unequal_ps(50, 20, packets, false), in_ps + FULL_BYTES * 20);
    }
}
END_TEST

/* 388 Gb/s is no whole number of ps a byte: fractions are carried from packet to packet, and never drift. */
START_TEST(fractions_of_a_picosecond_are_carried_over) {
    const struct irregular_figures figures = {.rate_bits_per_s = UINT64_C(388000000000), .latency_ps = RIG_LATENCY_PS};
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = 20, .cut_through = true};
    const uint64_t packets[] = {1, 2, 3, 10, 1000, 5000};
    for (int i = 0; i < 6; i++) {
        struct rig *rig = rig_create(&shape);
        irregular_set_link(rig->fabric, rig_up(rig, 0), &figures);
        irregular_set_link(rig->fabric, rig_down(rig, 1), &figures);
        rig_send(rig, 0, 1, packets[i] * RIG_PAYLOAD_BYTES);
        const uint64_t exact_ps = packets[i] * FULL_BYTES * UINT64_C(8000) / 388; // 8 bits / 388 Gb/s = 8000 / 388 ps
        const uint64_t time_ps = rig_finish(rig) - 2 * RIG_LATENCY_PS;
        ck_assert_uint_le(time_ps, exact_ps + 1);
        ck_assert_uint_ge(time_ps + 2, exact_ps);
        rig_free(rig);
    }
}
END_TEST

START_TEST(packets_do_not_straddle_units) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    const struct traffic_message message = {.destination = 1, .bytes = 10 * 7392, .unit_bytes = 7392};
    rig_add(rig, 0, &message);
    const uint64_t wire_bytes = 10 * (7392 + 2 * RIG_HEADER_BYTES); // two packets a unit, not 1.8
    ck_assert_uint_eq(rig_finish(rig), wire_bytes * 20 + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(network_link(rig->network, rig_up(rig, 0))->packets, 20);
    rig_free(rig);
}
END_TEST

START_TEST(a_message_starts_when_it_is_told_to) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    const uint64_t starts_ps[] = {987654321, 123456789, 0}; // armed in any order
    for (int i = 0; i < 3; i++) {
        const struct traffic_message message = {.destination = 1, .bytes = 4096, .start_ps = starts_ps[i]};
        rig_add(rig, 0, &message);
    }
    rig_finish(rig);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(rig_delivered_ps(rig, i), starts_ps[i] + FULL_BYTES * 20 + 2 * RIG_LATENCY_PS);
    }
    rig_free(rig);
}
END_TEST

START_TEST(an_answer_waits_for_its_question) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    const uint32_t question = rig_send(rig, 0, 1, 4096);
    const uint32_t answer = rig_send(rig, 1, 0, 4096);
    traffic_list_after(rig->list, answer, 0, question);
    rig_finish(rig);
    const uint64_t one_way_ps = FULL_BYTES * 20 + 2 * RIG_LATENCY_PS;
    ck_assert_uint_eq(rig_delivered_ps(rig, question), one_way_ps);
    // the ACK is put on the wire first: it is the answer of the NIC itself
    ck_assert_uint_eq(rig_delivered_ps(rig, answer), 2 * one_way_ps + RIG_CONTROL_BYTES * 20);
    rig_free(rig);
}
END_TEST

/* Every link of the path at a rate of its own, then one of them faster. */
static uint64_t path_ps(const uint64_t *ps_per_byte, uint64_t bytes, bool cut_through) {
    const struct rig_shape shape = {
        .leaves = 2, .hosts_per_leaf = 1, .spines = 1, .up_ps = 20, .cut_through = cut_through};
    struct rig *rig = rig_create(&shape);
    const struct fabric *fabric = rig->fabric;
    uint32_t device = 0;
    for (int hop = 0; hop < 4; hop++) { // host 0 is device 0, host 1 the head of the last link
        uint32_t link = fabric->devices[device].first_port;
        if (device != 0) {
            link += fabric_route_to(fabric, device, 1).first_port;
        }
        const struct irregular_figures figures = {.rate_bits_per_s = UINT64_C(8000000000000) / ps_per_byte[hop],
                                                  .latency_ps = RIG_LATENCY_PS};
        irregular_set_link(rig->fabric, link, &figures);
        device = fabric->links[link].head_device;
    }
    ck_assert_uint_eq(device, 1);
    rig_send(rig, 0, 1, bytes);
    const uint64_t time_ps = rig_finish(rig);
    rig_free(rig);
    return time_ps;
}

/* Four links with rates of their own, a message, a kind of switch, and a link to be made faster. */
struct path_case {
    uint64_t ps_per_byte[4], bytes;
    uint32_t hop;
};

static struct path_case draw_path(uint64_t number) {
    static const uint64_t rates[] = {20, 40, 80, 100, 200}; // whole ps a byte that divide 8 Tb/s
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 7, number);
    struct path_case drawn = {.bytes = 1 + hash_draw(stream, 0) % 50000, .hop = hash_below(hash_draw(stream, 1), 4)};
    for (uint64_t hop = 0; hop < 4; hop++) {
        drawn.ps_per_byte[hop] = rates[hash_below(hash_draw(stream, 2 + hop), 5)];
    }
    return drawn;
}

START_TEST(a_faster_link_never_makes_a_stored_flow_slower) {
    uint32_t faster = 0;
    for (uint64_t i = 0; i < 300; i++) {
        struct path_case drawn = draw_path(i);
        const uint64_t before_ps = path_ps(drawn.ps_per_byte, drawn.bytes, false);
        drawn.ps_per_byte[drawn.hop] = 10;
        const uint64_t after_ps = path_ps(drawn.ps_per_byte, drawn.bytes, false);
        ck_assert_uint_lt(after_ps, before_ps); // each link is stored behind: each counts
        faster += before_ps - after_ps > drawn.bytes * 10;
    }
    ck_assert_uint_gt(faster, 50); // as when it was the bottleneck
}
END_TEST

/* Out of a faster link the first bit comes later, so that the last one does not come too early: a slower link behind it begins later. */
START_TEST(a_faster_link_costs_a_cut_through_flow_no_more_than_one_packet_of_waiting) {
    uint32_t faster = 0;
    for (uint64_t i = 0; i < 300; i++) {
        struct path_case drawn = draw_path(i);
        const uint64_t before_ps = path_ps(drawn.ps_per_byte, drawn.bytes, true);
        const uint64_t gain_ps = largest_packet(drawn.bytes) * (drawn.ps_per_byte[drawn.hop] - 10);
        drawn.ps_per_byte[drawn.hop] = 10;
        const uint64_t after_ps = path_ps(drawn.ps_per_byte, drawn.bytes, true);
        ck_assert_uint_le(after_ps, before_ps + gain_ps);
        faster += after_ps < before_ps;
    }
    ck_assert_uint_gt(faster, 30);
}
END_TEST

START_TEST(more_bandwidth_everywhere_makes_a_flow_faster) {
    for (uint64_t i = 0; i < 300; i++) {
        struct path_case drawn = draw_path(i);
        const uint64_t before_ps = path_ps(drawn.ps_per_byte, drawn.bytes, i & 1);
        for (int hop = 0; hop < 4; hop++) {
            drawn.ps_per_byte[hop] /= 2;
        }
        // all but the latency halves
        ck_assert_uint_eq(2 * path_ps(drawn.ps_per_byte, drawn.bytes, i & 1), before_ps + 4 * RIG_LATENCY_PS);
    }
}
END_TEST

int main(void) {
    TCase *alone = tcase_create("alone");
    tcase_add_loop_test(alone, a_flow_under_one_leaf_takes_size_over_rate_plus_latency, 0, N_SIZES);
    tcase_add_loop_test(alone, a_flow_across_spines_takes_size_over_rate_plus_latency, 0, N_SIZES);
    tcase_add_test(alone, a_slower_way_out_sets_the_pace);
    tcase_add_test(alone, a_faster_way_out_waits_for_the_last_bit);
    tcase_add_test(alone, fractions_of_a_picosecond_are_carried_over);
    tcase_add_test(alone, packets_do_not_straddle_units);
    tcase_add_test(alone, a_faster_link_never_makes_a_stored_flow_slower);
    tcase_add_test(alone, a_faster_link_costs_a_cut_through_flow_no_more_than_one_packet_of_waiting);
    tcase_add_test(alone, more_bandwidth_everywhere_makes_a_flow_faster);
    TCase *starts = tcase_create("starts");
    tcase_add_test(starts, a_message_starts_when_it_is_told_to);
    tcase_add_test(starts, an_answer_waits_for_its_question);
    Suite *suite = suite_create("flow");
    suite_add_tcase(suite, alone);
    suite_add_tcase(suite, starts);
    return run_suite(suite);
}
