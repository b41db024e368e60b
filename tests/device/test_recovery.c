// SPDX-License-Identifier: GPL-3.0-or-later
/* Selective repeat: what is known of single packets, and what that does to a flow that loses some. */
#include "device/recovery.h"
#include "fabric/failure.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, PACKET_PS = FULL_BYTES * R_PS };
enum { CONTROL_PS = RIG_CONTROL_BYTES * R_PS, US = 1000000 };

static struct recovery sent(uint32_t n) {
    struct recovery recovery = {0};
    for (uint32_t i = 0; i < n; i++) {
        recovery_send_new(&recovery);
    }
    return recovery;
}

START_TEST(what_is_missing_below_what_is_there_is_lost_once) {
    struct recovery recovery = sent(10);
    uint8_t transmission;
    recovery_acknowledge(&recovery, 2);
    ck_assert(!recovery_arrived(&recovery, 5, 0));
    ck_assert(recovery_infer(&recovery, 1)); // 2, 3, 4
    ck_assert_uint_eq(recovery.n_lost, 3);
    ck_assert_uint_eq(recovery_received(&recovery), 3);
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 2);
    ck_assert_uint_eq(transmission, 1);
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 3);
    recovery_arrived(&recovery, 7, 0);
    ck_assert(!recovery_infer(&recovery, 1)); // 6, in the same recovery; 2 and 3 are not lost again
    ck_assert_uint_eq(recovery.n_lost, 2);
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 4);
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 6);
    ck_assert_uint_eq(recovery.n_lost, 0);
    recovery_time_out(&recovery); // 2, 3, 4, 6, 8, 9
    ck_assert_uint_eq(recovery.n_lost, 6);
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 2);
    ck_assert_uint_eq(transmission, 2);
    ck_assert(recovery_acknowledge(&recovery, 9));
    ck_assert_uint_eq(recovery.n_lost, 1);
    ck_assert_uint_eq(recovery_received(&recovery), 9);
    recovery_fini(&recovery);
}
END_TEST

START_TEST(a_distance_waits_for_packets_further_up) {
    struct recovery recovery = sent(10);
    recovery_arrived(&recovery, 2, 0);
    ck_assert(!recovery_infer(&recovery, 3));
    recovery_arrived(&recovery, 3, 0);
    ck_assert(recovery_infer(&recovery, 3)); // 0 is three below 3
    ck_assert_uint_eq(recovery.n_lost, 1);
    recovery_arrived(&recovery, 9, 0);
    recovery_infer(&recovery, 0); // nothing is inferred
    ck_assert_uint_eq(recovery.n_lost, 1);
    recovery_infer(&recovery, 3); // 1, 4, 5, 6
    ck_assert_uint_eq(recovery.n_lost, 5);
    recovery_fini(&recovery);
}
END_TEST

START_TEST(an_acknowledgement_of_an_earlier_sending_was_spurious) {
    struct recovery recovery = sent(4);
    uint8_t transmission;
    recovery_time_out(&recovery);
    recovery_send_lost(&recovery, &transmission);
    recovery_send_lost(&recovery, &transmission);
    ck_assert(recovery_arrived(&recovery, 0, 0));  // the first sending of 0 had arrived
    ck_assert(!recovery_arrived(&recovery, 1, 1)); // of 1 it had not
    ck_assert(!recovery_arrived(&recovery, 0, 1)); // known already
    ck_assert(!recovery_arrived(&recovery, 2, 0)); // waits to be sent again, and need not
    ck_assert_uint_eq(recovery.n_lost, 1);
    recovery_fini(&recovery);
}
END_TEST

START_TEST(a_nack_is_believed_of_the_last_sending_only) {
    struct recovery recovery = sent(3);
    uint8_t transmission;
    ck_assert(recovery_trimmed(&recovery, 1, 0));
    ck_assert(!recovery_trimmed(&recovery, 1, 0)); // it waits already
    ck_assert_uint_eq(recovery_send_lost(&recovery, &transmission), 1);
    ck_assert(!recovery_trimmed(&recovery, 1, 0)); // that was the sending before
    ck_assert(recovery_trimmed(&recovery, 1, 1));
    ck_assert_uint_eq(recovery.n_trimmed, 2);
    ck_assert(!recovery_trimmed(&recovery, 3, 0)); // never sent
    recovery_fini(&recovery);
}
END_TEST

START_TEST(memory_of_packets_goes_round) {
    struct recovery recovery = {0};
    for (uint32_t number = 0; number < 100000; number++) {
        recovery_send_new(&recovery);
        if (number >= 200) {
            recovery_arrived(&recovery, number - 100, 0);
            recovery_acknowledge(&recovery, number - 199);
            ck_assert_uint_eq(recovery_received(&recovery), number - 199 + (number < 300 ? number - 200 + 1 : 100));
        }
    }
    ck_assert_uint_eq(recovery.capacity, 256);
    recovery_fini(&recovery);
}
END_TEST

/* Two hosts at one switch; the link of the first loses all that starts on it for a while. Replies come 2 latencies, a packet and a reply after a start. */
static struct rig *interrupted(uint64_t from_ps, uint64_t until_ps, struct failure *failure) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = R_PS, .cut_through = true};
    static struct failure_list list;
    struct rig *rig = rig_create(&shape);
    *failure = (struct failure){.link = rig_up(rig, 0),
                                .kind = FAILURE_LOSSY,
                                .from_ps = from_ps,
                                .until_ps = until_ps,
                                .loss_fxp32 = FAILURE_LOSS_ONE};
    list = (struct failure_list){.failures = failure, .count = 1, .convergence_ps = UINT64_C(1000000000000)};
    rig->parameters.failures = &list;
    rig->parameters.nic.out_of_order = true;
    rig->parameters.nic.selective_repeat = true;
    rig->parameters.nic.loss_distance = 1;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.nic.retransmit_timeout_ps = 100 * US;
    return rig;
}

/*
 * 40 packets; number 3 gets lost, 4 arrives at 5 packets + 2 latencies and its ACK is back after 2 latencies and a reply. 3 goes
 * out again when what is being sent then has ended, and nothing else is sent again.
 */
START_TEST(one_lost_packet_is_sent_once_more) {
    struct failure failure;
    struct rig *rig = interrupted(3 * PACKET_PS, 3 * PACKET_PS + 1, &failure);
    rig_send(rig, 0, 1, 40 * RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    const struct endpoint_counters counters = rig_endpoints(rig);
    ck_assert_uint_eq(rig_links(rig).lost_packets, 1);
    ck_assert_uint_eq(counters.retransmitted_packets, 1);
    ck_assert_uint_eq(counters.timeouts, 0);
    ck_assert_uint_eq(counters.duplicates, 0);
    ck_assert_uint_eq(counters.spurious, 0);
    const uint64_t told_ps = 5 * PACKET_PS + 4 * RIG_LATENCY_PS + CONTROL_PS;
    const uint64_t again_ps = (told_ps + PACKET_PS - 1) / PACKET_PS * PACKET_PS;
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event == TRACE_START && record->device == 0 && record->flags_transmission >> 4 == 1) {
            ck_assert_uint_eq(record->time_ps, again_ps);
            ck_assert_uint_eq(record->number, 3);
        }
    }
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), 41 * PACKET_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

/* The same under go-back-N with placement: nobody notices until the clock runs out, and 37 packets are sent again. */
START_TEST(placement_without_selective_repeat_waits_for_the_clock) {
    struct failure failure;
    struct rig *rig = interrupted(3 * PACKET_PS, 3 * PACKET_PS + 1, &failure);
    rig->parameters.nic.selective_repeat = false;
    rig_send(rig, 0, 1, 40 * RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    const struct endpoint_counters counters = rig_endpoints(rig);
    ck_assert_uint_eq(counters.timeouts, 1);
    // number 3 fills the gap, and its ACK is back before all others have left again
    ck_assert_uint_gt(counters.retransmitted_packets, 20);
    ck_assert_uint_eq(counters.duplicates, counters.retransmitted_packets - 1);
    rig_free(rig);
}
END_TEST

/* The last packet of four gets lost: no later one tells, so the clock does, the short one since few packets are out. */
START_TEST(a_short_timeout_finds_a_lost_tail) {
    struct failure failure;
    struct rig *rig = interrupted(3 * PACKET_PS, 3 * PACKET_PS + 1, &failure);
    rig->parameters.nic.short_timeout_ps = 20 * US;
    rig->parameters.nic.short_timeout_packets = 3;
    rig_send(rig, 0, 1, 4 * RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    // the clock restarts at the ACK of number 2
    const uint64_t progress_ps = 3 * PACKET_PS + 4 * RIG_LATENCY_PS + CONTROL_PS;
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), progress_ps + 20 * US + PACKET_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_endpoints(rig).timeouts, 1);
    rig_free(rig);
}
END_TEST

/* The link loses everything for 1 ms: sendings after 100, 100 + 200, … + 400 us, and 800 us later the first that arrives. */
START_TEST(repeated_timeouts_back_off) {
    struct failure failure;
    struct rig *rig = interrupted(0, 1000 * US, &failure);
    rig->parameters.nic.selective_repeat = _i == 1;
    rig_send(rig, 0, 1, RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    ck_assert_uint_eq(rig_endpoints(rig).timeouts, 4);
    ck_assert_uint_eq(rig_delivered_ps(rig, 0),
                      (100 + 200 + 400 + 800) * (uint64_t)US + PACKET_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

/*
 * The way takes 2 latencies and a packet (cut-through) and 2 latencies and a reply back: 2,084,480 ps, in which 400 Gb/s carry
 * 104,224 B, 25.05 packets. So 25 are in flight, and the 26th starts when the first ACK is back.
 */
START_TEST(the_way_caps_what_is_in_flight) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 2, .up_ps = R_PS, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nic.out_of_order = rig->parameters.nic.selective_repeat = true;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.nic.window_products = 1;
    rig_send(rig, 0, 1, 30 * RIG_PAYLOAD_BYTES);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    const uint64_t first_ack_ps = PACKET_PS + 4 * RIG_LATENCY_PS + CONTROL_PS;
    ck_assert_uint_eq(rig_delivered_ps(rig, 0), first_ack_ps + 5 * PACKET_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("device/recovery");
    TCase *known = tcase_create("packets"), *flows = tcase_create("flows");
    tcase_add_test(known, what_is_missing_below_what_is_there_is_lost_once);
    tcase_add_test(known, a_distance_waits_for_packets_further_up);
    tcase_add_test(known, an_acknowledgement_of_an_earlier_sending_was_spurious);
    tcase_add_test(known, a_nack_is_believed_of_the_last_sending_only);
    tcase_add_test(known, memory_of_packets_goes_round);
    tcase_add_test(flows, one_lost_packet_is_sent_once_more);
    tcase_add_test(flows, placement_without_selective_repeat_waits_for_the_clock);
    tcase_add_test(flows, a_short_timeout_finds_a_lost_tail);
    tcase_add_loop_test(flows, repeated_timeouts_back_off, 0, 2);
    tcase_add_test(flows, the_way_caps_what_is_in_flight);
    suite_add_tcase(suite, known);
    suite_add_tcase(suite, flows);
    return run_suite(suite);
}
