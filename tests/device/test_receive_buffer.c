// SPDX-License-Identifier: GPL-3.0-or-later
/* A NIC whose host does not take data as it arrives: the host's own time, pauses that lose nothing, and what overflows. */
#include "rig.h"

#include "base/rate.h"
#include "fabric/failure.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, PACKET_PS = FULL_BYTES * R_PS, SENDERS = 3 };

/* Store and forward over two links of 500 ns. */
enum { FIRST_ARRIVAL_PS = 2 * PACKET_PS + 2 * RIG_LATENCY_PS };

#define PS_PER_BYTE ((uint64_t)R_PS << RATE_FRACTION_BITS)

/* Hosts on one leaf; rank 0 receives. Its buffer holds all that ever comes, unless a test says otherwise. */
static struct rig *star(void) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = SENDERS + 1, .up_ps = R_PS};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nic.receive_buffer_bytes = UINT64_C(1) << 30;
    rig->parameters.nic.receive_xoff_bytes = UINT64_C(1) << 30;
    return rig;
}

static struct failure fails(const struct rig *rig, uint64_t from_ps, uint64_t until_ps, uint64_t ps_per_byte) {
    return (struct failure){.kind = FAILURE_RECEIVE,
                            .link = rig_down(rig, 0),
                            .from_ps = from_ps,
                            .until_ps = until_ps,
                            .ps_per_byte = ps_per_byte};
}

START_TEST(a_host_of_half_the_rate_takes_packets_one_after_the_other_at_its_own) {
    struct rig *rig = star();
    rig->parameters.nic.receive_ps_per_byte = 2 * PS_PER_BYTE;
    const uint32_t packets = 1 + 7 * (uint32_t)_i;
    const uint32_t tag = rig_send(rig, 1, 0, (uint64_t)packets * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, tag), FIRST_ARRIVAL_PS + UINT64_C(2) * PACKET_PS * packets);
    rig_free(rig);
}
END_TEST

START_TEST(a_host_that_never_fails_takes_packets_as_they_arrive) {
    struct rig *rig = star();
    struct failure later = fails(rig, UINT64_C(1000000000), TIME_NEVER, TIME_NEVER);
    const struct failure_list list = {.failures = &later, .count = 1};
    rig->parameters.failures = &list;
    const uint32_t tag = rig_send(rig, 1, 0, 10 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, tag), FIRST_ARRIVAL_PS + 9 * PACKET_PS);
    rig_free(rig);
}
END_TEST

START_TEST(a_host_that_stops_goes_on_at_the_rate_of_the_link) {
    struct rig *rig = star();
    const uint64_t end_ps = UINT64_C(50000000);
    struct failure stops = fails(rig, 0, end_ps, TIME_NEVER);
    const struct failure_list list = {.failures = &stops, .count = 1};
    rig->parameters.failures = &list;
    const uint32_t tag = rig_send(rig, 1, 0, 10 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_eq(rig_delivered_ps(rig, tag), end_ps + 10 * PACKET_PS);
    ck_assert_uint_eq(rig_endpoints(rig).receive_deepest_bytes, 10 * FULL_BYTES);
    rig_free(rig);
}
END_TEST

/* The packet after xoff comes 4 packets after the first one; what the leaf sends until the pause is there still comes. */
START_TEST(a_pause_is_sent_at_xoff_and_obeyed_one_latency_later) {
    struct rig *rig = star();
    struct failure stops = fails(rig, 0, UINT64_C(60000000), TIME_NEVER);
    const struct failure_list list = {.failures = &stops, .count = 1};
    rig->parameters.failures = &list;
    rig->parameters.nic.receive_xoff_bytes = 4 * FULL_BYTES;
    rig->parameters.nic.receive_xon_bytes = 2 * FULL_BYTES;
    rig_send(rig, 1, 0, 100 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    const struct link_counters *down = network_link(rig->network, rig_down(rig, 0));
    const uint64_t paused_at_ps = FIRST_ARRIVAL_PS + 4 * PACKET_PS + RIG_LATENCY_PS;
    // the leaf starts packet n at PACKET_PS + RIG_LATENCY_PS + n × PACKET_PS: the last one before the pause is the most that comes
    const uint64_t started = (paused_at_ps - PACKET_PS - RIG_LATENCY_PS + PACKET_PS - 1) / PACKET_PS;
    ck_assert_uint_eq(rig_endpoints(rig).receive_deepest_bytes, started * FULL_BYTES);
    ck_assert_uint_eq(rig_endpoints(rig).receive_pauses, down->pauses);
    // resumed when all but two have been taken
    const uint64_t resumed_at_ps = UINT64_C(60000000) + (started - 2) * PACKET_PS + RIG_LATENCY_PS;
    ck_assert_uint_eq(down->pauses, 1);
    ck_assert_uint_eq(down->paused_ps, resumed_at_ps - paused_at_ps);
    rig_free(rig);
}
END_TEST

START_TEST(a_slow_host_with_headroom_for_what_is_under_way_loses_nothing) {
    struct rig *rig = star();
    const uint64_t headroom_packets = 2 * RIG_LATENCY_PS / PACKET_PS + 3;
    rig->parameters.nic.receive_ps_per_byte = 3 * PS_PER_BYTE;
    rig->parameters.nic.receive_xoff_bytes = (uint64_t)(1 + _i) * FULL_BYTES;
    rig->parameters.nic.receive_buffer_bytes = (headroom_packets + 1 + (uint64_t)_i) * FULL_BYTES;
    for (uint32_t sender = 1; sender <= SENDERS; sender++) {
        rig_send(rig, sender, 0, 60 * RIG_PAYLOAD_BYTES);
    }
    rig_finish(rig);
    ck_assert_uint_gt(rig_endpoints(rig).receive_pauses, 1);
    ck_assert_uint_eq(rig_endpoints(rig).receive_discards, 0);
    ck_assert_uint_eq(rig_endpoints(rig).retransmitted_packets, 0);
    rig_free(rig);
}
END_TEST

/* 10 of 50 find room; the others are sent again once the host goes on. */
START_TEST(without_pfc_what_finds_the_buffer_full_is_discarded_and_sent_again) {
    struct rig *rig = star();
    struct failure stops = fails(rig, 0, UINT64_C(20000000), TIME_NEVER);
    const struct failure_list list = {.failures = &stops, .count = 1};
    rig->parameters.failures = &list;
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.nic.receive_buffer_bytes = 10 * FULL_BYTES;
    rig->parameters.nic.out_of_order = true;
    rig->parameters.nic.retransmit_timeout_ps = UINT64_C(100000000);
    rig_send(rig, 1, 0, 50 * RIG_PAYLOAD_BYTES);
    rig_finish(rig);
    ck_assert_uint_eq(rig_endpoints(rig).receive_discards, 40);
    ck_assert_uint_eq(rig_endpoints(rig).receive_pauses, 0);
    ck_assert_uint_ge(rig_endpoints(rig).retransmitted_packets, 40);
    rig_free(rig);
}
END_TEST

START_TEST(a_host_that_stops_for_good_holds_its_leaf_and_the_run_says_that_it_stalls) {
    struct rig *rig = star();
    struct failure stops = fails(rig, 0, TIME_NEVER, TIME_NEVER);
    const struct failure_list list = {.failures = &stops, .count = 1};
    rig->parameters.failures = &list;
    rig->parameters.nic.receive_xoff_bytes = FULL_BYTES;
    rig->parameters.stall_ps = UINT64_C(1000000000);
    rig_send(rig, 1, 0, 100 * RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_STALLED);
    ck_assert_uint_eq(network_link(rig->network, rig_down(rig, 0))->pauses, 1);
    ck_assert_uint_eq(network_paused_links(rig->network), 1);
    rig_free(rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("receive buffer");
    TCase *host = tcase_create("host");
    tcase_add_loop_test(host, a_host_of_half_the_rate_takes_packets_one_after_the_other_at_its_own, 0, 4);
    tcase_add_test(host, a_host_that_never_fails_takes_packets_as_they_arrive);
    tcase_add_test(host, a_host_that_stops_goes_on_at_the_rate_of_the_link);
    suite_add_tcase(suite, host);
    TCase *full = tcase_create("full");
    tcase_add_test(full, a_pause_is_sent_at_xoff_and_obeyed_one_latency_later);
    tcase_add_loop_test(full, a_slow_host_with_headroom_for_what_is_under_way_loses_nothing, 0, 5);
    tcase_add_test(full, without_pfc_what_finds_the_buffer_full_is_discarded_and_sent_again);
    tcase_add_test(full, a_host_that_stops_for_good_holds_its_leaf_and_the_run_says_that_it_stalls);
    suite_add_tcase(suite, full);
    return run_suite(suite);
}
