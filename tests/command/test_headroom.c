// SPDX-License-Identifier: GPL-3.0-or-later
/* Automatic PFC headroom: the published rows, what lies between and beyond them, and that it loses nothing on any cable. */
#include "fabric/headroom.h"
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>

enum { METRE_PS = 5000 };

#define GBPS UINT64_C(1000000000)

START_TEST(rows_are_those_of_their_speed_and_cable) {
    static const struct {
        uint64_t gbps, metres, bytes;
    } rows[] = {{200, 5, 131072},   {200, 40, 157696}, {200, 300, 355328}, {400, 5, 231424},   {400, 40, 283648},
                {400, 300, 677888}, {800, 5, 257024},  {800, 40, 362496},  {800, 300, 1150976}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_uint_eq(headroom_table_bytes(rows[i].gbps * GBPS, rows[i].metres * METRE_PS), rows[i].bytes);
    }
}
END_TEST

START_TEST(the_next_speed_and_the_next_cable_length_up_are_taken) {
    ck_assert_uint_eq(headroom_table_bytes(400 * GBPS, 0), 231424);
    ck_assert_uint_eq(headroom_table_bytes(400 * GBPS, 5 * METRE_PS + 1), 283648);
    ck_assert_uint_eq(headroom_table_bytes(400 * GBPS, 41 * METRE_PS), 677888);
    ck_assert_uint_eq(headroom_table_bytes(25 * GBPS, 5 * METRE_PS), 131072);
    ck_assert_uint_eq(headroom_table_bytes(390 * GBPS, 5 * METRE_PS), 231424);
}
END_TEST

/* 400G: 394,240 B for 260 m; so 560 m need 677,888 + 394,240. 1.6T: twice 800G. */
START_TEST(longer_cables_and_faster_ports_go_on_in_proportion) {
    ck_assert_uint_eq(headroom_table_bytes(400 * GBPS, 560 * METRE_PS), 677888 + 394240);
    ck_assert_uint_eq(headroom_table_bytes(1600 * GBPS, 5 * METRE_PS), 2 * 257024);
}
END_TEST

static struct laboratory crowd(uint32_t metres, const char *headroom) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "name: crowd\n"
        "traffic: {pattern: incast, senders: 12, destination: 0, bytes: 400 KB}\n"
        "policies: [ecmp+none]\nseeds: 1\nlimits: {simulated_time: 100 ms}\n"
        "topology:\n"
        "  name: crowd\n  racks: 16\n  gpus_used: 1\n"
        "  nvlink: {gpus: 1}\n"
        "  nic: {rate: 400 Gb/s, latency: 500 ns, retransmit_timeout: 10 ms}\n"
        "  leaf: {ports: 16, port_rate: 400 Gb/s, latency: 600 ns, lossless_pool: 300 KB, headroom: %s, ecn: false}\n"
        "  fabric: {leaf_downlinks: 8, leaf_uplinks: 4, spines: 2, host_cable: %u m, spine_cable: %u m}\n",
        headroom, metres, metres);
    return laboratory_run(text);
}

static uint64_t lossless_drops(const struct laboratory *laboratory, uint64_t *pauses) {
    uint64_t drops = 0;
    *pauses = 0;
    for (uint32_t l = 0; l < laboratory->measurement->n_links; l++) {
        drops += laboratory->measurement->links[l].drops_lossless;
        *pauses += laboratory->measurement->links[l].pauses;
    }
    return drops;
}

START_TEST(automatic_headroom_loses_nothing_on_short_and_long_cables) {
    static const uint32_t metres[] = {5, 40, 300, 1000};
    struct laboratory laboratory = crowd(metres[_i], "0 B");
    uint64_t pauses;
    ck_assert_uint_eq(lossless_drops(&laboratory, &pauses), 0);
    ck_assert_uint_gt(pauses, 12);
    ck_assert_int_eq(laboratory.measurement->outcome, MEASUREMENT_FINISHED);
    laboratory_fini(&laboratory);
}
END_TEST

START_TEST(headroom_for_a_short_cable_loses_packets_on_a_long_one) {
    struct laboratory laboratory = crowd(1000, "60 KB");
    uint64_t pauses;
    ck_assert_uint_gt(lossless_drops(&laboratory, &pauses), 0);
    laboratory_fini(&laboratory);
}
END_TEST

/* A NIC's link: 525 ns down, 1125 ns up, 50 B a nanosecond, three packets of 4178 B. */
START_TEST(what_is_in_flight_is_both_latencies_at_the_rate_and_three_packets) {
    struct laboratory laboratory = crowd(5, "0 B");
    const struct fabric *fabric = laboratory.fabric;
    const uint32_t up = fabric->devices[3].first_port;
    ck_assert_uint_eq(headroom_in_flight_bytes(fabric, up, 4178), (525 + 1125) * 50 + 3 * 4178);
    ck_assert_uint_eq(headroom_automatic_bytes(fabric, up, 4178), 231424);
    laboratory_fini(&laboratory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("headroom");
    TCase *table = tcase_create("table");
    tcase_add_test(table, rows_are_those_of_their_speed_and_cable);
    tcase_add_test(table, the_next_speed_and_the_next_cable_length_up_are_taken);
    tcase_add_test(table, longer_cables_and_faster_ports_go_on_in_proportion);
    suite_add_tcase(suite, table);
    TCase *runs = tcase_create("runs");
    tcase_add_loop_test(runs, automatic_headroom_loses_nothing_on_short_and_long_cables, 0, 4);
    tcase_add_test(runs, headroom_for_a_short_cable_loses_packets_on_a_long_one);
    tcase_add_test(runs, what_is_in_flight_is_both_latencies_at_the_rate_and_three_packets);
    suite_add_tcase(suite, runs);
    return run_suite(suite);
}
