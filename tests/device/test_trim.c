// SPDX-License-Identifier: GPL-3.0-or-later
/* Packet trimming: which packet a full queue cuts, what becomes of its header, and flows that get their packets again. */
#include "rig.h"
#include "run_suite.h"
#include "stand.h"
#include "usual.h"

#include <check.h>

enum { SIZE = 1000, SIZE_PS = SIZE * STAND_PS_PER_BYTE, LEFT_BYTES = 100, FIRST_PS = 1000000, LATER_PS = 1000 };

static struct stand *trimming_stand(double arriving) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.pfc = false;
    stand->parameters.leaf.queue_limit_bytes = 5 * SIZE;
    stand->parameters.leaf.trim = true;
    stand->parameters.leaf.trim_bytes = LEFT_BYTES;
    stand->parameters.leaf.trim_arriving_fxp32 = (uint64_t)(arriving * 4294967296.0);
    return stand;
}

/* n packets from each of ports 0 and 1 to port 7, those of port 1 a little later. Numbers: 0 … n - 1, n … 2n - 1. */
static void two_into_one(struct stand *stand, uint32_t n) {
    for (uint32_t from = 0; from < 2; from++) {
        for (uint32_t i = 0; i < n; i++) {
            stand_packet(stand, FIRST_PS + i * (uint64_t)SIZE_PS + from * (uint64_t)LATER_PS, from, 7,
                         PACKET_CLASS_LOSSY, SIZE);
        }
    }
}

static uint32_t count_kind(const struct stand *stand, enum packet_kind kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < stand->n_sights; i++) {
        n += !stand->sights[i].control && packet_kind(&stand->sights[i].packet) == kind;
    }
    return n;
}

static enum packet_kind kind_of(const struct stand *stand, uint32_t number) {
    for (uint32_t i = 0; i < stand->n_sights; i++) {
        if (!stand->sights[i].control && stand->sights[i].packet.number == number) {
            return packet_kind(&stand->sights[i].packet);
        }
    }
    return PACKET_RECORD;
}

/*
 * Two come while one leaves: 1, 2 | 2, 3 | 3, 4 | 4, 5 packets are there after each arrival; the fifth pair finds 4, then 5. So its
 * second packet, of port 1, has no room; what is being sent ends a packet's time later, and then its header goes, before data.
 */
START_TEST(the_packet_that_arrives_is_cut) {
    struct stand *stand = trimming_stand(1);
    two_into_one(stand, 5);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 7)->trims, 1);
    ck_assert_uint_eq(stand_counters(stand, 7)->trimmed_bytes, SIZE - LEFT_BYTES);
    ck_assert_uint_eq(stand_counters(stand, 7)->lossy_drops, 0);
    ck_assert_uint_eq(kind_of(stand, 9), PACKET_TRIMMED);
    ck_assert_uint_eq(stand_start_ps(stand, 9), FIRST_PS + 5 * SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, 4), FIRST_PS + 8 * SIZE_PS + LEFT_BYTES * STAND_PS_PER_BYTE);
    stand_free(stand);
}
END_TEST

/* The same, but the one that joined last, number 4 of port 0, makes room for number 9. */
START_TEST(the_packet_that_joined_last_is_cut) {
    struct stand *stand = trimming_stand(0);
    two_into_one(stand, 5);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 7)->trims, 1);
    ck_assert_uint_eq(kind_of(stand, 4), PACKET_TRIMMED);
    ck_assert_uint_eq(kind_of(stand, 9), PACKET_DATA);
    ck_assert_uint_eq(stand_start_ps(stand, 4), FIRST_PS + 5 * SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, 9), FIRST_PS + 8 * SIZE_PS + LEFT_BYTES * STAND_PS_PER_BYTE);
    stand_free(stand);
}
END_TEST

START_TEST(half_of_the_cuts_hit_each) {
    struct stand *stand = trimming_stand(0.5);
    two_into_one(stand, 2000);
    stand_run(stand);
    const uint32_t trims = (uint32_t)stand_counters(stand, 7)->trims;
    uint32_t of_port_0 = 0;
    for (uint32_t number = 0; number < 2000; number++) {
        of_port_0 += kind_of(stand, number) == PACKET_TRIMMED;
    }
    ck_assert_uint_eq(count_kind(stand, PACKET_TRIMMED), trims);
    ck_assert_uint_eq(count_kind(stand, PACKET_DATA), 4000 - trims);
    ck_assert_uint_gt(trims, 1900);
    ck_assert_uint_gt(of_port_0, trims / 4); // of port 1 is what arrives at a full queue, most of the time
    ck_assert_uint_lt(of_port_0, trims * 3 / 4);
    stand_free(stand);
}
END_TEST

/* Room for one header: of four packets that come at once to a queue without room, one goes on as a header. */
START_TEST(headers_without_room_are_dropped) {
    struct stand *stand = trimming_stand(1);
    stand->parameters.leaf.queue_limit_bytes = SIZE;
    stand->parameters.leaf.trim_limit_bytes = LEFT_BYTES;
    for (uint32_t from = 0; from < 5; from++) {
        stand_packet(stand, FIRST_PS + from, from, 7, PACKET_CLASS_LOSSY, SIZE);
    }
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 7)->trims, 4);
    ck_assert_uint_eq(stand_counters(stand, 7)->lossy_drops, 3);
    ck_assert_uint_eq(stand_counters(stand, 7)->dropped_bytes, 3 * LEFT_BYTES);
    ck_assert_uint_eq(stand_start_ps(stand, 1), FIRST_PS + SIZE_PS);
    stand_free(stand);
}
END_TEST

START_TEST(what_is_as_small_as_a_header_is_dropped) {
    struct stand *stand = trimming_stand(1);
    stand->parameters.leaf.queue_limit_bytes = LEFT_BYTES;
    stand_packet(stand, FIRST_PS, 0, 7, PACKET_CLASS_LOSSY, LEFT_BYTES);
    stand_packet(stand, FIRST_PS, 1, 7, PACKET_CLASS_LOSSY, LEFT_BYTES);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 7)->trims, 0);
    ck_assert_uint_eq(stand_counters(stand, 7)->lossy_drops, 1);
    stand_free(stand);
}
END_TEST

/* Two control packets for each data packet while both wait: data 0 | c c d c c d. */
START_TEST(data_get_a_turn_after_so_many_control_packets) {
    struct stand *stand = trimming_stand(1);
    stand->parameters.leaf.trim_turns = 2;
    for (uint32_t from = 4; from < 7; from++) {
        stand_packet(stand, FIRST_PS + from, from, 7, PACKET_CLASS_LOSSY, SIZE);
    }
    for (uint32_t from = 0; from < 4; from++) {
        stand_packet(stand, FIRST_PS + LATER_PS + from, from, 7, PACKET_CLASS_CONTROL, SIZE);
    }
    stand_run(stand);
    static const uint32_t order[] = {0, 3, 4, 1, 5, 6, 2};
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(stand_start_ps(stand, order[i]), FIRST_PS + 4 + i * (uint64_t)SIZE_PS);
    }
    stand_free(stand);
}
END_TEST

/* Eight senders into a port with room for eight packets. */
static struct rig *trimmed_incast(enum congestion_kind kind) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = 9, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.leaf.pfc = false;
    rig->parameters.leaf.queue_limit_bytes = 8 * (RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES);
    rig->parameters.leaf.trim = true;
    rig->parameters.leaf.trim_bytes = 64;
    rig->parameters.leaf.trim_arriving_fxp32 = UINT64_C(1) << 31;
    rig->parameters.leaf.trim_turns = 100000;
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.nic.out_of_order = rig->parameters.nic.selective_repeat = true;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.congestion = usual_congestion(kind, UINT64_C(400000000000));
    for (uint32_t source = 1; source < 9; source++) {
        rig_send(rig, source, 0, 200 * RIG_PAYLOAD_BYTES);
    }
    return rig;
}

/* Each trim brings one NACK and one more packet, no time-out and no duplicate. All were cut at the receiver's port. */
START_TEST(each_trimmed_packet_is_sent_again_at_once) {
    struct rig *rig = trimmed_incast(_i == 0   ? CONGESTION_NONE
                                     : _i == 1 ? CONGESTION_NSCC
                                               : CONGESTION_RECEIVER_CREDIT);
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    const struct link_counters links = rig_links(rig);
    const struct endpoint_counters endpoints = rig_endpoints(rig);
    ck_assert_uint_gt(links.trims, 50);
    ck_assert_uint_eq(links.lossy_drops, 0);
    ck_assert_uint_eq(endpoints.nacks, links.trims);
    ck_assert_uint_eq(endpoints.retransmitted_packets, links.trims);
    ck_assert_uint_eq(endpoints.timeouts, 0);
    ck_assert_uint_eq(endpoints.duplicates, 0);
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event == TRACE_START && record->kind == PACKET_TRIMMED) {
            ck_assert_uint_ne(record->flags_transmission & PACKET_FLAG_LAST_HOP, 0);
            ck_assert_uint_eq(record->size_bytes, 64);
        }
    }
    rig_free(rig);
}
END_TEST

/* Windows and pulls keep the port busy and trim little; without control the senders trim most of what they send. */
START_TEST(control_keeps_trims_low) {
    uint64_t trims[3];
    for (int i = 0; i < 3; i++) {
        struct rig *rig = trimmed_incast(i == 0   ? CONGESTION_NONE
                                         : i == 1 ? CONGESTION_NSCC
                                                  : CONGESTION_RECEIVER_CREDIT);
        const uint64_t wire_ps = 8 * 200 * (uint64_t)(RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES) * 20;
        const uint64_t end_ps = rig_finish(rig);
        trims[i] = rig_links(rig).trims;
        ck_assert_uint_ge(end_ps, wire_ps);
        ck_assert_uint_lt(end_ps, wire_ps + wire_ps / 4);
        rig_free(rig);
    }
    ck_assert_uint_lt(4 * trims[1], trims[0]);
    ck_assert_uint_lt(4 * trims[2], trims[0]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("device/trim");
    TCase *queue = tcase_create("queue"), *flows = tcase_create("flows");
    tcase_add_test(queue, the_packet_that_arrives_is_cut);
    tcase_add_test(queue, the_packet_that_joined_last_is_cut);
    tcase_add_test(queue, half_of_the_cuts_hit_each);
    tcase_add_test(queue, headers_without_room_are_dropped);
    tcase_add_test(queue, what_is_as_small_as_a_header_is_dropped);
    tcase_add_test(queue, data_get_a_turn_after_so_many_control_packets);
    tcase_add_loop_test(flows, each_trimmed_packet_is_sent_again_at_once, 0, 3);
    tcase_add_test(flows, control_keeps_trims_low);
    suite_add_tcase(suite, queue);
    suite_add_tcase(suite, flows);
    return run_suite(suite);
}
