// SPDX-License-Identifier: GPL-3.0-or-later
/* Many into one: the port's own time, fairness, pauses that lose nothing, and what overtakes. */
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, PACKET_PS = FULL_BYTES * R_PS };

static struct rig *star(uint32_t senders, bool cut_through) {
    const struct rig_shape shape = {
        .leaves = 1, .hosts_per_leaf = senders + 1, .up_ps = R_PS, .cut_through = cut_through};
    return rig_create(&shape);
}

/* Every other rank sends to rank 0. */
static void aim(struct rig *rig, uint32_t packets) {
    for (uint32_t source = 1; source < rig->fabric->n_endpoints; source++) {
        rig_send(rig, source, 0, (uint64_t)packets * RIG_PAYLOAD_BYTES);
    }
}

/* A pool so small that senders are paused, and headroom for all that comes until they stop. */
static void squeeze(struct switch_parameters *parameters, uint64_t pool_bytes) {
    // after the packet that did not fit: 2 × latency at full rate, and one that had just been started
    const uint64_t headroom_packets = 2 * RIG_LATENCY_PS / PACKET_PS + 3;
    parameters->lossless_pool_bytes = pool_bytes;
    parameters->headroom_bytes = headroom_packets * FULL_BYTES;
    parameters->xon_bytes = 2 * FULL_BYTES;
}

START_TEST(flows_into_one_port_are_done_when_it_has_carried_them_all) {
    static const uint32_t senders[] = {1, 2, 3, 8, 16, 33};
    for (int cut_through = 0; cut_through < 2; cut_through++) {
        struct rig *rig = star(senders[_i], cut_through);
        aim(rig, 50);
        const uint64_t stored_ps = cut_through ? 0 : PACKET_PS;
        ck_assert_uint_eq(rig_finish(rig), UINT64_C(50) * senders[_i] * PACKET_PS + stored_ps + 2 * RIG_LATENCY_PS);
        ck_assert_uint_eq(rig_links(rig).pauses, 0);
        rig_free(rig);
    }
}
END_TEST

START_TEST(flows_of_any_size_fill_the_port_without_a_gap) {
    struct rig *rig = star(9, true);
    uint64_t wire_bytes = 0;
    for (uint32_t source = 1; source < 10; source++) {
        const uint64_t bytes = source * UINT64_C(31) * 1000 + 17;
        rig_send(rig, source, 0, bytes);
        wire_bytes += rig_wire_bytes(rig, bytes);
    }
    ck_assert_uint_eq(rig_finish(rig), wire_bytes * R_PS + 2 * RIG_LATENCY_PS);
    rig_free(rig);
}
END_TEST

START_TEST(sixty_four_senders_on_a_small_pool_are_paused_and_lose_nothing) {
    for (int cut_through = 0; cut_through < 2; cut_through++) {
        struct rig *rig = star(64, cut_through);
        aim(rig, 64);
        squeeze(&rig->parameters.leaf, 1u << 20);
        const uint64_t stored_ps = cut_through ? 0 : PACKET_PS;
        // the pool never runs dry, so the port loses no time by the pauses
        ck_assert_uint_eq(rig_finish(rig), UINT64_C(64) * 64 * PACKET_PS + stored_ps + 2 * RIG_LATENCY_PS);
        const struct link_counters links = rig_links(rig);
        ck_assert_uint_eq(links.lossless_drops + links.lossy_drops + links.dropped_bytes, 0);
        ck_assert_uint_ge(links.pauses, 64);
        ck_assert_uint_gt(links.paused_ps, UINT64_C(64) * 64 * PACKET_PS);
        ck_assert_uint_eq(rig_endpoints(rig).retransmitted_packets, 0);
        ck_assert_uint_le(links.deepest_bytes, (1u << 20) + 64 * rig->parameters.leaf.headroom_bytes);
        rig_free(rig);
    }
}
END_TEST

START_TEST(pauses_spread_through_two_tiers_and_lose_nothing) {
    const struct rig_shape shape = {.leaves = 4, .hosts_per_leaf = 8, .spines = 4, .up_ps = R_PS, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    aim(rig, 60);
    squeeze(&rig->parameters.leaf, 40 * FULL_BYTES);
    squeeze(&rig->parameters.spine, 40 * FULL_BYTES);
    rig_finish(rig);
    uint64_t uplink_pauses = 0;
    for (uint32_t l = 0; l < rig->fabric->n_links; l++) {
        const struct fabric_device *tail = &rig->fabric->devices[rig->fabric->links[l].tail_device];
        if (tail->kind == FABRIC_SWITCH) {
            uplink_pauses += network_link(rig->network, l)->pauses;
        }
    }
    const struct link_counters links = rig_links(rig);
    ck_assert_uint_gt(uplink_pauses, 0);
    ck_assert_uint_gt(links.pauses, uplink_pauses);
    ck_assert_uint_eq(links.lossless_drops + links.lossy_drops, 0);
    rig_free(rig);
}
END_TEST

START_TEST(too_little_headroom_loses_packets_and_says_so) {
    struct rig *rig = star(16, true);
    aim(rig, 100);
    squeeze(&rig->parameters.leaf, 40 * FULL_BYTES);
    rig->parameters.leaf.headroom_bytes = 5 * FULL_BYTES;
    rig->parameters.nic.retransmit_timeout_ps = UINT64_C(1000000000);
    rig_finish(rig);
    const struct link_counters links = rig_links(rig);
    ck_assert_uint_gt(links.lossless_drops, 0);
    ck_assert_uint_eq(links.lossy_drops, 0);
    ck_assert_uint_eq(links.dropped_bytes, links.lossless_drops * FULL_BYTES);
    ck_assert_uint_gt(rig_endpoints(rig).retransmitted_packets, 0);
    rig_free(rig);
}
END_TEST

/* Sum of resume minus pause of one switch port, as the trace tells it. A record takes the link's latency either way. */
static uint64_t traced_pause_ps(const struct rig *rig, uint32_t device, uint32_t port, uint64_t *pauses) {
    uint64_t sum_ps = 0;
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->device != device || record->port != port) {
            continue;
        }
        *pauses += record->event == TRACE_PAUSE;
        sum_ps -= record->event == TRACE_PAUSE ? record->time_ps : 0;
        sum_ps += record->event == TRACE_RESUME ? record->time_ps : 0;
    }
    return sum_ps;
}

START_TEST(paused_time_is_from_pause_to_resume) {
    const struct rig_shape shape = {.leaves = 3, .hosts_per_leaf = 4, .spines = 2, .up_ps = R_PS};
    struct rig *rig = rig_create(&shape);
    aim(rig, 60);
    squeeze(&rig->parameters.leaf, 30 * FULL_BYTES);
    squeeze(&rig->parameters.spine, 30 * FULL_BYTES);
    rig_finish(rig);
    uint64_t seen = 0;
    for (uint32_t l = 0; l < rig->fabric->n_links; l++) {
        const struct fabric_link *link = &rig->fabric->links[l];
        const struct link_counters *counters = network_link(rig->network, l);
        uint64_t pauses = 0;
        const uint64_t paused_ps = traced_pause_ps(rig, link->head_device, link->head_port, &pauses);
        ck_assert_uint_eq(counters->pauses, pauses);
        ck_assert_uint_eq(counters->paused_ps, paused_ps);
        seen += pauses;
    }
    ck_assert_uint_gt(seen, 20);
    rig_free(rig);
}
END_TEST

/* Largest lead of one of two senders, in packets, among what has left the port towards rank 0. */
static int64_t largest_lead(const struct rig *rig) {
    int64_t lead = 0, largest = 0;
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event == TRACE_START && record->kind == PACKET_DATA && record->device >= rig->fabric->n_endpoints) {
            lead += record->source == 1 ? 1 : -1;
            largest = llabs(lead) > largest ? llabs(lead) : largest;
        }
    }
    return largest;
}

/* Both packets come in at the same picosecond, again and again. */
START_TEST(two_in_step_share_a_port_within_one_packet_and_neither_always_wins) {
    enum { SEEDS = 60 };
    uint32_t won = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rig *rig = star(2, true);
        rig->parameters.seed = seed;
        aim(rig, 150);
        rig_finish(rig);
        ck_assert_int_eq(largest_lead(rig), 1);
        const uint64_t first_ps = rig_delivered_ps(rig, 0), second_ps = rig_delivered_ps(rig, 1);
        ck_assert_uint_eq(first_ps > second_ps ? first_ps - second_ps : second_ps - first_ps, PACKET_PS);
        won += first_ps < second_ps;
        rig_free(rig);
    }
    ck_assert_uint_gt(won, SEEDS / 2 - 20); // five standard deviations
    ck_assert_uint_lt(won, SEEDS / 2 + 20);
}
END_TEST

START_TEST(senders_that_are_paused_still_share_alike) {
    struct rig *rig = star(8, true);
    aim(rig, 200);
    squeeze(&rig->parameters.leaf, 60 * FULL_BYTES);
    const uint64_t last_ps = rig_finish(rig);
    ck_assert_uint_gt(rig_links(rig).pauses, 8);
    // one may be ahead of another by no more than the buffer can hold
    const uint64_t buffer_bytes = 60 * FULL_BYTES + 8 * rig->parameters.leaf.headroom_bytes;
    for (uint32_t i = 0; i < rig->n_messages; i++) {
        ck_assert_uint_ge(rig_delivered_ps(rig, i) + buffer_bytes * R_PS, last_ps);
    }
    rig_free(rig);
}
END_TEST

START_TEST(a_paused_sender_holds_up_flows_to_others_too) {
    struct rig *rig = star(16, true);
    aim(rig, 100);
    const uint32_t victim =
        rig_send(rig, 1, 2, 40 * RIG_PAYLOAD_BYTES); // of head-of-line blocking: 2 is idle as a receiver
    squeeze(&rig->parameters.leaf, 40 * FULL_BYTES);
    rig_finish(rig);
    const uint64_t fair_ps = 2 * 40 * PACKET_PS; // in turn with the other flow of rank 1
    ck_assert_uint_gt(rig_delivered_ps(rig, victim), 3 * fair_ps);
    rig_free(rig);
}
END_TEST

/* An urgent message waits for at most one packet on each wire, however deep the queues of data are. */
START_TEST(urgent_messages_overtake) {
    struct rig *rig = star(8, true);
    aim(rig, 100);
    const struct traffic_message urgent = {.destination = 0, .bytes = 64, .start_ps = 10 * PACKET_PS + 7, .urgent = 1};
    const uint32_t tag = rig_add(rig, 3, &urgent);
    rig_finish(rig);
    const uint64_t alone_ps = (64 + RIG_HEADER_BYTES) * R_PS + 2 * RIG_LATENCY_PS;
    const uint64_t took_ps = rig_delivered_ps(rig, tag) - urgent.start_ps;
    ck_assert_uint_ge(took_ps, alone_ps);
    ck_assert_uint_le(took_ps, alone_ps + 2 * PACKET_PS);
    for (uint32_t i = 0; i < tag; i++) {
        ck_assert_uint_gt(rig_delivered_ps(rig, i), rig_delivered_ps(rig, tag));
    }
    rig_free(rig);
}
END_TEST

START_TEST(pauses_do_not_hold_urgent_messages) {
    struct rig *rig = star(8, true);
    aim(rig, 200);
    squeeze(&rig->parameters.leaf, 20 * FULL_BYTES);
    uint64_t took_ps = 0;
    for (uint64_t i = 1; i <= 50; i++) {
        const struct traffic_message urgent = {
            .destination = 0, .bytes = 64, .start_ps = i * 20 * PACKET_PS + 7, .urgent = 1};
        rig_add(rig, 3, &urgent);
    }
    rig_finish(rig);
    ck_assert_uint_gt(network_link(rig->network, rig_up(rig, 3))->paused_ps, 50 * PACKET_PS);
    for (uint32_t i = rig->n_messages - 50; i < rig->n_messages; i++) {
        took_ps = rig_delivered_ps(rig, i) - rig->messages[i].message.start_ps;
        ck_assert_uint_le(took_ps, (64 + RIG_HEADER_BYTES) * R_PS + 2 * RIG_LATENCY_PS + 2 * PACKET_PS);
    }
    rig_free(rig);
}
END_TEST

int main(void) {
    TCase *port = tcase_create("port");
    tcase_add_loop_test(port, flows_into_one_port_are_done_when_it_has_carried_them_all, 0, 6);
    tcase_add_test(port, flows_of_any_size_fill_the_port_without_a_gap);
    tcase_add_test(port, two_in_step_share_a_port_within_one_packet_and_neither_always_wins);
    TCase *pauses = tcase_create("pauses");
    tcase_add_test(pauses, sixty_four_senders_on_a_small_pool_are_paused_and_lose_nothing);
    tcase_add_test(pauses, pauses_spread_through_two_tiers_and_lose_nothing);
    tcase_add_test(pauses, too_little_headroom_loses_packets_and_says_so);
    tcase_add_test(pauses, paused_time_is_from_pause_to_resume);
    tcase_add_test(pauses, senders_that_are_paused_still_share_alike);
    tcase_add_test(pauses, a_paused_sender_holds_up_flows_to_others_too);
    TCase *urgent = tcase_create("urgent");
    tcase_add_test(urgent, urgent_messages_overtake);
    tcase_add_test(urgent, pauses_do_not_hold_urgent_messages);
    Suite *suite = suite_create("incast");
    suite_add_tcase(suite, port);
    suite_add_tcase(suite, pauses);
    suite_add_tcase(suite, urgent);
    return run_suite(suite);
}
