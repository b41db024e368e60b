// SPDX-License-Identifier: GPL-3.0-or-later
/* The naive simulator against times computed by hand. */
#include "base/rate.h"
#include "congestion/dcqcn.h"
#include "reference.h"
#include "run_suite.h"
#include "star.h"
#include "workload/traffic_list.h"

#include <check.h>

#define GBPS UINT64_C(1000000000)
#define L ((uint64_t)STAR_LATENCY_PS)

enum { WIRE_BYTES = STAR_PAYLOAD_BYTES + STAR_HEADER_BYTES, PS_PER_BYTE_400G = 20 };

/** One test's run. */
struct trial {
    struct fabric *fabric;
    struct network_parameters parameters;
    struct traffic_list *list;
    struct reference *result;
};

static struct trial trial_of(struct fabric *fabric) {
    return (struct trial){
        .fabric = fabric, .parameters = star_parameters(), .list = traffic_list_create(fabric->n_endpoints)};
}

static void run(struct trial *trial) {
    const struct traffic traffic = traffic_list_traffic(trial->list);
    trial->result = reference_run(trial->fabric, &trial->parameters, &traffic);
}

static void end(struct trial *trial) {
    reference_free(trial->result);
    traffic_list_free(trial->list);
    fabric_free(trial->fabric);
}

static void send(struct trial *trial, uint32_t source, uint32_t destination, uint32_t tag, uint64_t bytes) {
    const struct traffic_message message = star_message(destination, tag, bytes);
    traffic_list_add(trial->list, source, &message);
}

/** Time of the first record of an event at a device with this tag; TIME_NEVER if there is none. */
static uint64_t time_of(const struct trial *trial, enum trace_event event, uint32_t device, uint32_t tag) {
    for (size_t i = 0; i < trial->result->trace.count; i++) {
        const struct trace_record *record = &trial->result->trace.records[i];
        if (record->event == event && record->device == device && record->message == tag) {
            return record->time_ps;
        }
    }
    return TIME_NEVER;
}

static uint64_t count_of(const struct trial *trial, enum trace_event event) {
    uint64_t count = 0;
    for (size_t i = 0; i < trial->result->trace.count; i++) {
        count += trial->result->trace.records[i].event == event;
    }
    return count;
}

static void expect_bytes_conserved(const struct trial *trial) {
    uint64_t dropped = 0;
    for (size_t i = 0; i < trial->result->trace.count; i++) {
        const struct trace_record *record = &trial->result->trace.records[i];
        dropped += record->event == TRACE_DROP ? record->size_bytes : 0;
    }
    uint64_t into_leaf = 0, out_of_leaf = 0;
    for (uint32_t link = 0; link < trial->fabric->n_links; link++) {
        const struct reference_link_counts *counts = &trial->result->links[link];
        ck_assert_uint_eq(counts->bytes, counts->arrived_bytes);
        if (trial->fabric->devices[trial->fabric->links[link].head_device].kind == FABRIC_ENDPOINT) {
            out_of_leaf += counts->bytes;
        } else {
            into_leaf += counts->bytes;
        }
    }
    ck_assert_uint_eq(into_leaf, out_of_leaf + dropped);
}

/* ---- exact times ---- */

START_TEST(a_stored_and_forwarded_flow_takes_size_over_rate_and_one_packet_more) {
    struct trial trial = trial_of(star_ethernet(2, 400 * GBPS, 400 * GBPS, false));
    send(&trial, 0, 1, 7, 10 * STAR_PAYLOAD_BYTES);
    run(&trial);
    const uint64_t packet = WIRE_BYTES * PS_PER_BYTE_400G;
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 11 * packet + 2 * L);
    const uint64_t ack = STAR_CONTROL_BYTES * PS_PER_BYTE_400G;
    ck_assert_uint_eq(time_of(&trial, TRACE_COMPLETE, 0, 7), 11 * packet + 2 * L + 2 * ack + 2 * L);
    ck_assert(trial.result->finished);
    ck_assert_uint_eq(trial.result->last_ps, 11 * packet + 2 * L + 2 * ack + 2 * L);
    expect_bytes_conserved(&trial);
    end(&trial);
}
END_TEST

START_TEST(a_cut_through_flow_takes_size_over_rate_and_latency) {
    struct trial trial = trial_of(star_ethernet(2, 400 * GBPS, 400 * GBPS, true));
    send(&trial, 0, 1, 7, 10 * STAR_PAYLOAD_BYTES);
    run(&trial);
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 10 * WIRE_BYTES * PS_PER_BYTE_400G + 2 * L);
    end(&trial);
}
END_TEST

START_TEST(a_cut_through_packet_never_overtakes_its_own_last_bit) {
    struct trial trial = trial_of(star_ethernet(2, 200 * GBPS, 400 * GBPS, true));
    send(&trial, 0, 1, 7, 10 * STAR_PAYLOAD_BYTES);
    run(&trial);
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 10 * WIRE_BYTES * 2 * PS_PER_BYTE_400G + 2 * L);
    uint64_t held_back = 0;
    for (uint32_t link = 0; link < trial.fabric->n_links; link++) {
        held_back += trial.result->links[link].held_back;
    }
    ck_assert_uint_eq(held_back, 11); /* the acknowledgement too */
    end(&trial);
}
END_TEST

START_TEST(a_rate_that_is_not_whole_does_not_drift) {
    const uint64_t rate = 333 * GBPS;
    struct trial trial = trial_of(star_ethernet(2, rate, rate, true));
    send(&trial, 0, 1, 7, 1000 * STAR_PAYLOAD_BYTES);
    run(&trial);
    const uint64_t bytes = UINT64_C(1000) * WIRE_BYTES;
    const uint64_t expected = (rate_ps_per_byte(rate) * bytes >> RATE_FRACTION_BITS) + 2 * L;
    const uint64_t found = time_of(&trial, TRACE_DELIVER, 1, 7);
    ck_assert_uint_le(found, expected + 1);
    ck_assert_uint_ge(found, expected);
    ck_assert_uint_eq(bytes * 8000 / 333 + 2 * L, found);
    end(&trial);
}
END_TEST

START_TEST(flows_into_one_port_finish_at_their_sum_over_its_rate) {
    struct trial trial = trial_of(star_ethernet(6, 400 * GBPS, 400 * GBPS, false));
    for (uint32_t source = 1; source < 6; source++) {
        send(&trial, source, 0, source, 20 * STAR_PAYLOAD_BYTES);
    }
    run(&trial);
    uint64_t last = 0;
    for (uint32_t source = 1; source < 6; source++) {
        const uint64_t time = time_of(&trial, TRACE_DELIVER, 0, source);
        last = time > last ? time : last;
    }
    const uint64_t packet = WIRE_BYTES * PS_PER_BYTE_400G;
    ck_assert_uint_eq(last, packet + L + 5 * 20 * packet + L);
    expect_bytes_conserved(&trial);
    end(&trial);
}
END_TEST

START_TEST(packets_end_at_units) {
    struct trial trial = trial_of(star_ethernet(2, 400 * GBPS, 400 * GBPS, true));
    struct traffic_message message = star_message(1, 7, 15000);
    message.unit_bytes = 5000; /* 4096 + 904, three times */
    traffic_list_add(trial.list, 0, &message);
    run(&trial);
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), (15000 + 6 * STAR_HEADER_BYTES) * PS_PER_BYTE_400G + 2 * L);
    end(&trial);
}
END_TEST

START_TEST(an_urgent_message_waits_for_one_packet_only) {
    struct trial trial = trial_of(star_ethernet(2, 400 * GBPS, 400 * GBPS, true));
    send(&trial, 0, 1, 7, 100 * STAR_PAYLOAD_BYTES);
    struct traffic_message message = star_message(1, 8, 100);
    message.urgent = 1;
    message.start_ps = WIRE_BYTES * PS_PER_BYTE_400G + 1; /* the second packet has just started */
    traffic_list_add(trial.list, 0, &message);
    run(&trial);
    const uint64_t size = 100 + STAR_HEADER_BYTES;
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 8), (2 * WIRE_BYTES + size) * PS_PER_BYTE_400G + 2 * L);
    ck_assert_uint_eq(time_of(&trial, TRACE_COMPLETE, 0, 8), TIME_NEVER);
    end(&trial);
}
END_TEST

START_TEST(a_window_of_one_sends_one_packet_a_round_trip) {
    struct trial trial = trial_of(star_ethernet(2, 400 * GBPS, 400 * GBPS, true));
    trial.parameters.nic.window_packets = 1;
    trial.parameters.nic.acknowledge_bytes = 1;
    send(&trial, 0, 1, 7, 5 * STAR_PAYLOAD_BYTES);
    run(&trial);
    const uint64_t there = WIRE_BYTES * PS_PER_BYTE_400G + 2 * L;
    const uint64_t back = STAR_CONTROL_BYTES * PS_PER_BYTE_400G + 2 * L;
    ck_assert_uint_eq(time_of(&trial, TRACE_COMPLETE, 0, 7), 5 * (there + back));
    end(&trial);
}
END_TEST

START_TEST(a_dependent_message_starts_when_it_may) {
    struct trial trial = trial_of(star_ethernet(3, 400 * GBPS, 400 * GBPS, true));
    send(&trial, 0, 1, 7, STAR_PAYLOAD_BYTES);
    const struct traffic_message message = star_message(2, 8, STAR_PAYLOAD_BYTES);
    const uint32_t next = traffic_list_add(trial.list, 1, &message);
    traffic_list_after(trial.list, next, 0, 7);
    run(&trial);
    const uint64_t there = WIRE_BYTES * PS_PER_BYTE_400G + 2 * L;
    const uint64_t ack = STAR_CONTROL_BYTES * PS_PER_BYTE_400G; /* it goes first */
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 2, 8), there + ack + there);
    end(&trial);
}
END_TEST

START_TEST(records_take_size_over_rate_and_one_record_more) {
    struct trial trial = trial_of(star_nvlink(2, 1, 400 * GBPS));
    struct traffic_message message = star_message(1, 7, 10 * STAR_RECORD_BYTES);
    message.route = TRAFFIC_NVLINK;
    traffic_list_add(trial.list, 0, &message);
    run(&trial);
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 11 * STAR_RECORD_BYTES * PS_PER_BYTE_400G + 2 * L);
    ck_assert(trial.result->finished);
    end(&trial);
}
END_TEST

START_TEST(records_are_spread_over_the_links) {
    struct trial trial = trial_of(star_nvlink(2, 2, 400 * GBPS));
    struct traffic_message message = star_message(1, 7, 10 * STAR_RECORD_BYTES);
    message.route = TRAFFIC_NVLINK;
    traffic_list_add(trial.list, 0, &message);
    run(&trial);
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 6 * STAR_RECORD_BYTES * PS_PER_BYTE_400G + 2 * L);
    end(&trial);
}
END_TEST

START_TEST(little_credit_sends_little_a_round_trip) {
    struct trial trial = trial_of(star_nvlink(2, 1, 400 * GBPS));
    trial.parameters.nvlink.buffer_bytes = STAR_RECORD_BYTES + 1; /* one record in flight on each link */
    struct traffic_message message = star_message(1, 7, 5 * STAR_RECORD_BYTES);
    message.route = TRAFFIC_NVLINK;
    traffic_list_add(trial.list, 0, &message);
    run(&trial);
    const uint64_t record = STAR_RECORD_BYTES * PS_PER_BYTE_400G;
    const uint64_t hop = record + L;
    /* The chip gives the buffer back when the record has left it: the next one starts a record, two latencies and a record later. */
    ck_assert_uint_eq(time_of(&trial, TRACE_DELIVER, 1, 7), 4 * (hop + record + L) + 2 * hop);
    end(&trial);
}
END_TEST

/* ---- loss, pause, fairness ---- */

static void incast(struct trial *trial, uint32_t n, uint64_t packets) {
    for (uint32_t source = 1; source <= n; source++) {
        send(trial, source, 0, source, packets * STAR_PAYLOAD_BYTES);
    }
    run(trial);
}

START_TEST(pause_never_drops_and_loses_no_time_on_the_port) {
    struct trial trial = trial_of(star_ethernet(6, 400 * GBPS, 400 * GBPS, false));
    trial.parameters.leaf.lossless_pool_bytes = 500000;
    trial.parameters.leaf.xon_bytes = 60000;
    trial.parameters.leaf.headroom_bytes = 80000; /* 2 × (latency + a packet) at 50 B/ns is 58 KB */
    incast(&trial, 5, 100);
    ck_assert(trial.result->finished);
    ck_assert_uint_eq(count_of(&trial, TRACE_DROP), 0);
    ck_assert_uint_gt(count_of(&trial, TRACE_PAUSE), 5);
    ck_assert_uint_eq(count_of(&trial, TRACE_PAUSE), count_of(&trial, TRACE_RESUME));
    const uint64_t packet = WIRE_BYTES * PS_PER_BYTE_400G;
    uint64_t last = 0, first = TIME_NEVER;
    for (uint32_t source = 1; source <= 5; source++) {
        const uint64_t time = time_of(&trial, TRACE_DELIVER, 0, source);
        last = time > last ? time : last;
        first = time < first ? time : first;
    }
    ck_assert_uint_eq(last, packet + L + 5 * 100 * packet + L);
    ck_assert_uint_gt(first, last * 9 / 10); /* symmetric senders share */
    expect_bytes_conserved(&trial);
    end(&trial);
}
END_TEST

static void expect_recovery(bool out_of_order) {
    struct trial trial = trial_of(star_ethernet(4, 400 * GBPS, 400 * GBPS, false));
    trial.parameters.leaf.pfc = false;
    trial.parameters.leaf.lossy_pool_bytes = 100000;
    trial.parameters.nic.data_class = PACKET_CLASS_LOSSY;
    trial.parameters.nic.out_of_order = out_of_order;
    trial.parameters.nic.acknowledge_bytes = 1;
    trial.parameters.nic.window_packets = 64;
    trial.parameters.nic.retransmit_timeout_ps = 20000000;
    trial.parameters.nic.nack_interval_ps = 5000000;
    incast(&trial, 3, 100);
    ck_assert(trial.result->finished);
    ck_assert_uint_gt(count_of(&trial, TRACE_DROP), 0);
    ck_assert_uint_eq(count_of(&trial, TRACE_DELIVER), 3);
    ck_assert_uint_eq(count_of(&trial, TRACE_COMPLETE), 3);
    uint64_t retransmitted = 0, nacks = 0;
    for (uint32_t endpoint = 0; endpoint < 4; endpoint++) {
        retransmitted += trial.result->endpoints[endpoint].retransmitted_packets;
        nacks += trial.result->endpoints[endpoint].nacks;
    }
    ck_assert_uint_gt(retransmitted, 0);
    ck_assert_int_eq(nacks > 0, !out_of_order);
    expect_bytes_conserved(&trial);
    end(&trial);
}

START_TEST(go_back_n_recovers_what_was_dropped) {
    expect_recovery(false);
}
END_TEST

START_TEST(out_of_order_placement_recovers_what_was_dropped) {
    expect_recovery(true);
}
END_TEST

START_TEST(marks_make_dcqcn_slow_down) {
    struct trial trial = trial_of(star_ethernet(6, 400 * GBPS, 400 * GBPS, false));
    trial.parameters.leaf.ecn = true;
    trial.parameters.leaf.ecn_minimum_bytes = trial.parameters.leaf.ecn_maximum_bytes = 100000;
    trial.parameters.congestion.kind = CONGESTION_DCQCN;
    ck_assert(dcqcn_profile("mellanox", 400 * GBPS, true, &trial.parameters.congestion.dcqcn,
                            &trial.parameters.congestion.notification_interval_ps));
    incast(&trial, 5, 2000);
    const uint32_t port = trial.fabric->devices[6].first_port;
    ck_assert(trial.result->finished);
    ck_assert_uint_gt(trial.result->links[port].marks, 0);
    ck_assert_uint_gt(trial.result->endpoints[1].notifications_received, 5);
    ck_assert_uint_gt(trial.result->endpoints[1].paced_packets, 100);
    ck_assert_uint_lt(trial.result->links[port].deepest_bytes, 4 * 2000 * WIRE_BYTES / 2);
    end(&trial);
}
END_TEST

START_TEST(a_second_run_is_the_same) {
    struct trial trial = trial_of(star_ethernet(6, 400 * GBPS, 400 * GBPS, false));
    incast(&trial, 5, 20);
    const struct traffic traffic = traffic_list_traffic(trial.list);
    struct reference *again = reference_run(trial.fabric, &trial.parameters, &traffic);
    ck_assert(trace_compare(stderr, "first", &trial.result->trace, "second", &again->trace));
    reference_free(again);
    end(&trial);
}
END_TEST

START_TEST(another_seed_breaks_ties_otherwise) {
    struct trial trial = trial_of(star_ethernet(6, 400 * GBPS, 400 * GBPS, false));
    incast(&trial, 5, 20);
    const struct traffic traffic = traffic_list_traffic(trial.list);
    trial.parameters.seed = 2;
    struct reference *other = reference_run(trial.fabric, &trial.parameters, &traffic);
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    ck_assert(!trace_compare(nowhere, "first", &trial.result->trace, "other", &other->trace));
    ck_assert_uint_eq(trial.result->trace.count, other->trace.count);
    fclose(nowhere);
    reference_free(other);
    end(&trial);
}
END_TEST

static Suite *suite(void) {
    Suite *created = suite_create("reference");
    TCase *times = tcase_create("times");
    tcase_add_test(times, a_stored_and_forwarded_flow_takes_size_over_rate_and_one_packet_more);
    tcase_add_test(times, a_cut_through_flow_takes_size_over_rate_and_latency);
    tcase_add_test(times, a_cut_through_packet_never_overtakes_its_own_last_bit);
    tcase_add_test(times, a_rate_that_is_not_whole_does_not_drift);
    tcase_add_test(times, flows_into_one_port_finish_at_their_sum_over_its_rate);
    tcase_add_test(times, packets_end_at_units);
    tcase_add_test(times, an_urgent_message_waits_for_one_packet_only);
    tcase_add_test(times, a_window_of_one_sends_one_packet_a_round_trip);
    tcase_add_test(times, a_dependent_message_starts_when_it_may);
    tcase_add_test(times, records_take_size_over_rate_and_one_record_more);
    tcase_add_test(times, records_are_spread_over_the_links);
    tcase_add_test(times, little_credit_sends_little_a_round_trip);
    suite_add_tcase(created, times);
    TCase *trouble = tcase_create("trouble");
    tcase_add_test(trouble, pause_never_drops_and_loses_no_time_on_the_port);
    tcase_add_test(trouble, go_back_n_recovers_what_was_dropped);
    tcase_add_test(trouble, out_of_order_placement_recovers_what_was_dropped);
    tcase_add_test(trouble, marks_make_dcqcn_slow_down);
    tcase_add_test(trouble, a_second_run_is_the_same);
    tcase_add_test(trouble, another_seed_breaks_ties_otherwise);
    suite_add_tcase(created, trouble);
    return created;
}

int main(void) {
    return run_suite(suite());
}
