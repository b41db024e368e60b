// SPDX-License-Identifier: GPL-3.0-or-later
/* One switch by its rules (sim/device/README.md, "Ethernet switch"): admission, pauses, classes, marks. */
#include "run_suite.h"
#include "stand.h"

#include <check.h>
#include <math.h>

enum { SIZE = 1000, SIZE_PS = SIZE * STAND_PS_PER_BYTE };
#define LOSSLESS PACKET_CLASS_LOSSLESS
#define LOSSY PACKET_CLASS_LOSSY

/* n packets into one port, as fast as its link carries them; returns the number of the first. */
static uint32_t stream(struct stand *stand, uint64_t time_ps, uint32_t from, uint32_t to, enum packet_class class,
                       uint32_t n) {
    const uint32_t first = stand->n_packets;
    for (uint32_t i = 0; i < n; i++) {
        stand_packet(stand, time_ps + (uint64_t)i * SIZE_PS, from, to, class, SIZE);
    }
    return first;
}

/* Lossless packets of one ingress that are accepted before one does not fit: the rule, packet by packet. */
static uint32_t packets_that_fit(uint64_t pool_bytes, int shift) {
    uint64_t shared = 0;
    for (uint32_t n = 0;; n++) {
        const uint64_t left = pool_bytes - shared;
        const uint64_t threshold = shift >= 0 ? left << shift : left >> -shift;
        if (shared + SIZE > threshold || shared + SIZE > pool_bytes) {
            return n;
        }
        shared += SIZE;
    }
}

static const int shifts[] = {-3, -1, 0, 1, 4};

START_TEST(an_ingress_is_paused_by_the_packet_that_passes_its_threshold) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.lossless_pool_bytes = 40 * SIZE + 500;
    stand->parameters.leaf.lossless_alpha_shift = shifts[_i];
    stand->parameters.leaf.headroom_bytes = 5 * SIZE;
    const uint32_t fit = packets_that_fit(40 * SIZE + 500, shifts[_i]);
    stand_control(stand, 0, 1, CONTROL_PAUSE); // nothing leaves
    stream(stand, 1000, 0, 1, LOSSLESS, fit + 7);
    stand_run(stand);
    uint64_t pause_ps, resume_ps;
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_PAUSE, &pause_ps), 1); // though five more came into headroom
    ck_assert_uint_eq(pause_ps, 1000 + (uint64_t)fit * SIZE_PS);
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_RESUME, &resume_ps), 0);
    ck_assert_uint_eq(stand_counters(stand, 1)->lossless_drops, 2);
    ck_assert_uint_eq(stand_counters(stand, 1)->dropped_bytes, 2 * SIZE);
    ck_assert_uint_eq(switch_buffered_bytes(stand->device), (fit + 5) * SIZE);
    ck_assert_uint_eq(stand_counters(stand, 1)->deepest_bytes, (fit + 5) * SIZE);
    stand_free(stand);
}
END_TEST

START_TEST(thresholds_shrink_with_what_others_hold) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.lossless_pool_bytes = 40 * SIZE;
    stand_control(stand, 0, 7, CONTROL_PAUSE);
    stream(stand, 0, 0, 7, LOSSLESS, 15);
    stream(stand, UINT64_C(100) * SIZE_PS, 1, 7, LOSSLESS, 20);
    stand_run(stand);
    uint64_t pause_ps;
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_PAUSE, &pause_ps), 0); // 15 of 40: 15 ≤ 40 - 14
    ck_assert_uint_eq(stand_controls(stand, 1, CONTROL_PAUSE, &pause_ps), 1);
    // n + 1 ≤ 40 - 15 - n holds up to n = 12: the 14th does not fit
    ck_assert_uint_eq(pause_ps, UINT64_C(113) * SIZE_PS);
    stand_free(stand);
}
END_TEST

/* 22 packets wait: 13 in the pool (26 of room), 9 in headroom. Departures empty headroom first. */
START_TEST(an_ingress_is_resumed_when_headroom_is_empty_and_the_pool_has_room) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.lossless_pool_bytes = 26 * SIZE;
    stand->parameters.leaf.xon_bytes = _i * SIZE;
    stand_control(stand, 0, 1, CONTROL_PAUSE);
    stand_control(stand, UINT64_C(1000) * SIZE_PS, 1, CONTROL_RESUME);
    stream(stand, 0, 0, 1, LOSSLESS, 22);
    stand_run(stand);
    uint64_t pause_ps, resume_ps;
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_PAUSE, &pause_ps), 1);
    ck_assert_uint_eq(pause_ps, UINT64_C(13) * SIZE_PS);
    ck_assert_uint_eq(stand_controls(stand, 0, CONTROL_RESUME, &resume_ps), 1);
    // shared + xon ≤ 26 - shared at shared ≤ (26 - xon) / 2, or shared ≤ xon; at the earliest after the ninth departure
    const uint64_t by_hysteresis = _i <= 26 ? (26u - (unsigned)_i) / 2 : 0;
    uint64_t level = (uint64_t)_i > by_hysteresis ? (uint64_t)_i : by_hysteresis;
    level = level > 13 ? 13 : level;
    ck_assert_uint_eq(resume_ps, (1000 + 9 + (13 - level)) * SIZE_PS);
    ck_assert_uint_eq(switch_buffered_bytes(stand->device), 0);
    stand_free(stand);
}
END_TEST

START_TEST(lossy_queues_drop_at_a_threshold_of_what_is_left) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.lossy_pool_bytes = 40 * SIZE;
    stand->parameters.leaf.lossy_alpha_shift = shifts[_i];
    const uint32_t fit = packets_that_fit(40 * SIZE, shifts[_i]);
    for (uint32_t from = 0; from < 5; from++) { // 50 packets in one burst of ten rounds
        stream(stand, from, from, 7, LOSSY, 10);
    }
    stand_run(stand);
    uint32_t left = 0;
    for (uint32_t number = 0; number < 50; number++) {
        left += stand_start_ps(stand, number) != TIME_NEVER;
    }
    // one leaves a round while the queue fills up
    ck_assert_uint_eq(stand_counters(stand, 7)->lossy_drops, 50 - left);
    ck_assert_uint_ge(left, fit);
    ck_assert_uint_le(left, fit + 10);
    ck_assert_uint_eq(stand_counters(stand, 7)->lossless_drops, 0);
    ck_assert_uint_le(stand_counters(stand, 7)->deepest_bytes, fit * SIZE);
    stand_free(stand);
}
END_TEST

START_TEST(a_queue_that_is_full_leaves_room_for_other_queues) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.lossy_pool_bytes = 40 * SIZE;
    for (uint32_t from = 0; from < 4; from++) {
        stream(stand, from, from, 7, LOSSY, 10);
    }
    const uint32_t other = stand_packet(stand, 9 * SIZE_PS + 100, 4, 6, LOSSY, SIZE);
    stand_run(stand);
    ck_assert_uint_gt(stand_counters(stand, 7)->lossy_drops, 5);
    ck_assert_uint_eq(stand_start_ps(stand, other), 9 * SIZE_PS + 100);
    stand_free(stand);
}
END_TEST

START_TEST(a_pause_holds_the_lossless_class_alone_and_from_the_next_packet_on) {
    struct stand *stand = stand_create();
    const uint64_t pause_ps = SIZE_PS / 2, resume_ps = UINT64_C(100) * SIZE_PS + 13;
    const uint32_t under_way = stand_packet(stand, 0, 0, 1, LOSSLESS, SIZE);
    const uint32_t held = stand_packet(stand, SIZE_PS, 0, 1, LOSSLESS, SIZE);
    const uint32_t lossy = stand_packet(stand, 2 * SIZE_PS, 0, 1, LOSSY, SIZE);
    const uint32_t control = stand_packet(stand, 3 * SIZE_PS, 0, 1, PACKET_CLASS_CONTROL, SIZE);
    const uint32_t elsewhere = stand_packet(stand, 4 * SIZE_PS, 0, 2, LOSSLESS, SIZE);
    stand_control(stand, pause_ps, 1, CONTROL_PAUSE);
    stand_control(stand, resume_ps, 1, CONTROL_RESUME);
    stand_run(stand);
    ck_assert_uint_eq(stand_start_ps(stand, under_way), 0);
    ck_assert_uint_eq(stand_start_ps(stand, held), resume_ps);
    ck_assert_uint_eq(stand_start_ps(stand, lossy), 2 * SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, control), 3 * SIZE_PS);
    ck_assert_uint_eq(stand_start_ps(stand, elsewhere), 4 * SIZE_PS);
    ck_assert_uint_eq(stand_counters(stand, 1)->pauses, 1);
    ck_assert_uint_eq(stand_counters(stand, 1)->paused_ps, resume_ps - pause_ps);
    ck_assert_uint_eq(stand_counters(stand, 2)->pauses, 0);
    stand_free(stand);
}
END_TEST

START_TEST(paused_time_adds_up_and_runs_on_to_the_end) {
    struct stand *stand = stand_create();
    uint64_t sum_ps = 0;
    for (uint64_t i = 0; i < 50; i++) {
        stand_control(stand, i * 10000000, 3, CONTROL_PAUSE);
        stand_control(stand, i * 10000000 + 1 + i * 777, 3, CONTROL_RESUME);
        sum_ps += 1 + i * 777;
    }
    stand_control(stand, 600000000, 3, CONTROL_PAUSE);
    stand_run(stand);
    ck_assert_uint_eq(stand_counters(stand, 3)->pauses, 51);
    ck_assert_uint_eq(stand_counters(stand, 3)->paused_ps, sum_ps + engine_now_ps(stand->engine) - 600000000);
    stand_free(stand);
}
END_TEST

START_TEST(control_goes_before_all_data_that_waits) {
    struct stand *stand = stand_create();
    stream(stand, 0, 0, 7, LOSSLESS, 50);
    stream(stand, 0, 1, 7, LOSSLESS, 50);
    stream(stand, 0, 2, 7, LOSSY, 50);
    const uint64_t time_ps = 20 * SIZE_PS + 1234;
    const uint32_t first = stand_packet(stand, time_ps, 3, 7, PACKET_CLASS_CONTROL, 64);
    const uint32_t second = stand_packet(stand, time_ps + 64 * STAND_PS_PER_BYTE, 3, 7, PACKET_CLASS_CONTROL, 64);
    stand_run(stand);
    ck_assert_uint_eq(stand_start_ps(stand, first), 21 * SIZE_PS); // what is being sent is finished
    ck_assert_uint_eq(stand_start_ps(stand, second), 21 * SIZE_PS + 64 * STAND_PS_PER_BYTE);
    stand_free(stand);
}
END_TEST

/* Bytes of each class among what left port 7 before a time. */
static void count_bytes(const struct stand *stand, uint64_t until_ps, uint64_t *bytes) {
    for (uint32_t i = 0; i < stand->n_sights && stand->sights[i].time_ps < until_ps; i++) {
        const struct packet *packet = &stand->sights[i].packet;
        bytes[packet_class(packet)] += packet->size_bytes;
    }
}

START_TEST(two_classes_share_a_port_by_weight) {
    static const uint32_t weights[][2] = {{1, 1}, {3, 1}, {1, 2}, {7, 5}, {1, 20}};
    for (int w = 0; w < 5; w++) {
        struct stand *stand = stand_create();
        stand->parameters.leaf.class_weight[LOSSLESS] = weights[w][0];
        stand->parameters.leaf.class_weight[LOSSY] = weights[w][1];
        for (uint32_t from = 0; from < 5; from++) { // sizes differ: bytes are shared, not packets
            for (uint64_t i = 0; i < 1000; i++) {
                stand_packet(stand, i * 4160 * STAND_PS_PER_BYTE, from, 7, from < 2 ? LOSSLESS : LOSSY,
                             from < 2 ? 4160 : 777 + (uint32_t)i * 37 % 3000);
            }
        }
        stand_run(stand);
        uint64_t bytes[PACKET_CLASSES] = {0};
        // both are backlogged until the class with less to send runs dry
        count_bytes(stand, UINT64_C(800) * 4160 * STAND_PS_PER_BYTE, bytes);
        const double share = (double)bytes[LOSSLESS] / (double)(bytes[LOSSLESS] + bytes[LOSSY]);
        const double fair = (double)weights[w][0] / (weights[w][0] + weights[w][1]);
        ck_assert_double_le(fabs(share - fair), 0.005);
        stand_free(stand);
    }
}
END_TEST

START_TEST(a_class_alone_has_the_port_to_itself_whatever_its_weight) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.class_weight[LOSSLESS] = 100;
    stand->parameters.leaf.class_weight[LOSSY] = 1;
    const uint32_t first = stream(stand, 0, 0, 7, LOSSY, 100);
    stand_run(stand);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(stand_start_ps(stand, first + i), (uint64_t)i * SIZE_PS);
    }
    stand_free(stand);
}
END_TEST

/* Share of packets marked that leave a queue which stays depth packets deep. */
static double marked_share(struct stand *stand, uint32_t depth, uint32_t n, enum packet_class class) {
    for (uint32_t i = 0; i < depth; i++) { // a burst by many ports fills the queue
        stand_packet(stand, i / 7, i % 7, 7, class, SIZE);
    }
    stream(stand, SIZE_PS / 2, 0, 7, class, n); // then it gets as much as it sends
    stand_run(stand);
    uint32_t marked = 0, steady = 0;
    for (uint32_t i = depth; i < n; i++) { // by order of leaving, all but the beginning and the end
        steady++;
        marked += (stand->sights[i].packet.flags_transmission & PACKET_FLAG_MARKED) != 0;
    }
    ck_assert_uint_ge(stand_counters(stand, 7)->marks, marked);
    return (double)marked / steady;
}

static struct stand *marking_stand(uint32_t probability_fxp20) {
    struct stand *stand = stand_create();
    stand->parameters.leaf.ecn = true;
    stand->parameters.leaf.ecn_minimum_bytes = 20 * SIZE;
    stand->parameters.leaf.ecn_maximum_bytes = 60 * SIZE;
    stand->parameters.leaf.ecn_probability_fxp20 = probability_fxp20;
    return stand;
}

START_TEST(marks_grow_from_none_at_the_minimum_to_the_probability_at_the_maximum) {
    enum { PACKETS = 8000 };
    for (uint32_t depth = 1; depth <= 60; depth += depth == 1 ? 19 : 8) { // 1, 20, 28, … 60
        struct stand *stand = marking_stand(1u << 18);                    // a quarter at the maximum
        const double share = marked_share(stand, depth, PACKETS, depth % 3 ? LOSSLESS : LOSSY);
        const double expected = depth <= 20 ? 0 : 0.25 * (depth - 20) / 40;
        const double deviation = sqrt(expected * (1 - expected) / PACKETS);
        ck_assert_double_le(fabs(share - expected), 5 * deviation);
        stand_free(stand);
    }
}
END_TEST

START_TEST(above_the_maximum_every_packet_is_marked) {
    struct stand *stand = marking_stand(1u << 18);
    ck_assert_double_eq(marked_share(stand, 61, 500, LOSSLESS), 1.0);
    stand_free(stand);
}
END_TEST

START_TEST(without_a_range_marks_begin_at_one_depth) {
    for (uint32_t depth = 20; depth <= 21; depth++) {
        struct stand *stand = marking_stand(1u << 20);
        stand->parameters.leaf.ecn_maximum_bytes = stand->parameters.leaf.ecn_minimum_bytes;
        ck_assert_double_eq(marked_share(stand, depth, 500, LOSSLESS), depth == 21 ? 1.0 : 0.0);
        stand_free(stand);
    }
}
END_TEST

START_TEST(control_and_switches_without_ecn_mark_nothing) {
    struct stand *stand = marking_stand(1u << 20);
    ck_assert_double_eq(marked_share(stand, 100, 500, PACKET_CLASS_CONTROL), 0.0);
    stand_free(stand);
    stand = marking_stand(1u << 20);
    stand->parameters.leaf.ecn = false;
    ck_assert_double_eq(marked_share(stand, 100, 500, LOSSLESS), 0.0);
    ck_assert_uint_eq(stand_counters(stand, 7)->marks, 0);
    stand_free(stand);
}
END_TEST

static Suite *switch_suite(void) {
    TCase *buffer = tcase_create("buffer");
    tcase_add_loop_test(buffer, an_ingress_is_paused_by_the_packet_that_passes_its_threshold, 0, 5);
    tcase_add_test(buffer, thresholds_shrink_with_what_others_hold);
    tcase_add_loop_test(buffer, an_ingress_is_resumed_when_headroom_is_empty_and_the_pool_has_room, 0, 30);
    tcase_add_loop_test(buffer, lossy_queues_drop_at_a_threshold_of_what_is_left, 0, 5);
    tcase_add_test(buffer, a_queue_that_is_full_leaves_room_for_other_queues);
    TCase *classes = tcase_create("classes");
    tcase_add_test(classes, a_pause_holds_the_lossless_class_alone_and_from_the_next_packet_on);
    tcase_add_test(classes, paused_time_adds_up_and_runs_on_to_the_end);
    tcase_add_test(classes, control_goes_before_all_data_that_waits);
    tcase_add_test(classes, two_classes_share_a_port_by_weight);
    tcase_add_test(classes, a_class_alone_has_the_port_to_itself_whatever_its_weight);
    TCase *marks = tcase_create("marks");
    tcase_add_test(marks, marks_grow_from_none_at_the_minimum_to_the_probability_at_the_maximum);
    tcase_add_test(marks, above_the_maximum_every_packet_is_marked);
    tcase_add_test(marks, without_a_range_marks_begin_at_one_depth);
    tcase_add_test(marks, control_and_switches_without_ecn_mark_nothing);
    Suite *suite = suite_create("switch");
    suite_add_tcase(suite, buffer);
    suite_add_tcase(suite, classes);
    suite_add_tcase(suite, marks);
    return suite;
}

int main(void) {
    return run_suite(switch_suite());
}
