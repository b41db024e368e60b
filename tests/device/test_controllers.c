// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What controllers make of an incast in the whole model: how much of the port is used, how deep the queue stands, how fairly it is
 * shared. Prints the table of sim/congestion/README.md, and fails where a controller does not do what its authors claim.
 *
 * 400 Gb/s, one switch, cables of 2 us: a base round trip of 8.2 us. ECN at 150 kB … 1.5 MB as Cumulus Linux sets it; nothing
 * is ever full, so no pause helps.
 */
#include "rig.h"
#include "run_suite.h"
#include "usual.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(400000000000)
#define FAIR 0.95

enum { PS_A_BYTE = 20, CABLE_PS = 2000000, MOST_FLOWS = 64, WINDOW_US = 250, MOST_WINDOWS = 40 };

/* One experiment: flows into host 0 that never end. */
struct incast {
    enum congestion_kind kind;
    uint32_t flows;
    uint64_t stagger_ps; /* the last flow starts so much later than the others */
    uint64_t end_ps;
    uint64_t ecn_minimum_bytes, ecn_maximum_bytes; /* 0: as said above */
};

/* Bytes that leave the port, by window and flow, and depth of the queue in front of it. */
struct outcome {
    uint64_t bytes[MOST_WINDOWS][MOST_FLOWS];
    uint32_t windows;
    double deepest_bytes, mean_bytes; /* the mean of the second half */
    double used, jain;                /* of the second half */
    double fair_after_us;             /* from then on every window is fair; negative: never */
};

static struct rig *run(const struct incast *incast) {
    const struct rig_shape shape = {.leaves = 1,
                                    .hosts_per_leaf = incast->flows + 1,
                                    .up_ps = PS_A_BYTE,
                                    .latency_ps = CABLE_PS,
                                    .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.congestion = usual_congestion(incast->kind, LINE);
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.leaf.ecn = true;
    rig->parameters.leaf.ecn_minimum_bytes = incast->ecn_maximum_bytes ? incast->ecn_minimum_bytes : 150000;
    rig->parameters.leaf.ecn_maximum_bytes = incast->ecn_maximum_bytes ? incast->ecn_maximum_bytes : 1500000;
    rig->parameters.leaf.ecn_probability_fxp20 = 1 << 20;
    rig->parameters.limit_ps = incast->end_ps;
    for (uint32_t flow = 0; flow < incast->flows; flow++) {
        rig_add(rig, flow + 1,
                &(struct traffic_message){.destination = 0,
                                          .bytes = incast->end_ps / PS_A_BYTE * 2,
                                          .start_ps = flow + 1 == incast->flows ? incast->stagger_ps : 0,
                                          .route = TRAFFIC_FABRIC});
    }
    ck_assert_int_eq(rig_run(rig), NETWORK_LIMIT);
    return rig;
}

/* Jain's index of flows that were there. */
static double jain(const uint64_t *bytes, uint32_t flows) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < flows; i++) {
        sum += (double)bytes[i];
        squares += (double)bytes[i] * (double)bytes[i];
    }
    return squares > 0 ? sum * sum / (flows * squares) : 0;
}

/* A change of the queue's depth. */
struct step {
    uint64_t time_ps;
    int64_t bytes;
};

static int by_time(const void *a, const void *b) {
    const struct step *one = a, *other = b;
    return (one->time_ps > other->time_ps) - (one->time_ps < other->time_ps);
}

/* Packets come to the port CABLE_PS after they start at a NIC, and have left it at the end of their transmission there. */
static void measure_queue(const struct rig *rig, const struct incast *incast, struct outcome *outcome) {
    struct step *steps = calloc(rig->trace.count + 1, sizeof *steps);
    size_t n = 0;
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event == TRACE_START && record->kind == PACKET_DATA) {
            const bool sender = record->device <= incast->flows;
            steps[n++] = (struct step){.time_ps = sender ? record->time_ps + CABLE_PS : record->detail,
                                       .bytes = sender ? record->size_bytes : -(int64_t)record->size_bytes};
        }
    }
    qsort(steps, n, sizeof *steps, by_time);
    int64_t depth = 0;
    for (size_t i = 0; i + 1 < n && steps[i + 1].time_ps < incast->end_ps; i++) {
        depth += steps[i].bytes;
        outcome->deepest_bytes = (double)depth > outcome->deepest_bytes ? (double)depth : outcome->deepest_bytes;
        if (steps[i].time_ps >= incast->end_ps / 2) {
            outcome->mean_bytes +=
                (double)depth * (double)(steps[i + 1].time_ps - steps[i].time_ps) / (double)(incast->end_ps / 2);
        }
    }
    free(steps);
}

static void measure_shares(const struct rig *rig, const struct incast *incast, struct outcome *outcome) {
    outcome->windows = (uint32_t)(incast->end_ps / (WINDOW_US * US));
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        const uint64_t window = record->time_ps / (WINDOW_US * US);
        if (record->event == TRACE_START && record->kind == PACKET_DATA && record->device > incast->flows &&
            window < outcome->windows) {
            outcome->bytes[window][record->source - 1] += record->size_bytes;
        }
    }
    uint64_t sums[MOST_FLOWS] = {0}, all = 0;
    outcome->fair_after_us = -1;
    for (uint32_t w = outcome->windows; w-- > 0;) {
        if (jain(outcome->bytes[w], incast->flows) < FAIR) {
            break;
        }
        outcome->fair_after_us = (double)w * WINDOW_US;
    }
    for (uint32_t w = outcome->windows / 2; w < outcome->windows; w++) {
        for (uint32_t flow = 0; flow < incast->flows; flow++) {
            sums[flow] += outcome->bytes[w][flow];
            all += outcome->bytes[w][flow];
        }
    }
    outcome->jain = jain(sums, incast->flows);
    outcome->used = (double)all * PS_A_BYTE / (double)(incast->end_ps / 2);
}

static struct outcome measure(const struct incast *incast) {
    static struct outcome outcome; /* large */
    outcome = (struct outcome){0};
    struct rig *rig = run(incast);
    measure_queue(rig, incast, &outcome);
    measure_shares(rig, incast, &outcome);
    rig_free(rig);
    const double from_us = (double)(incast->stagger_ps / US);
    if (outcome.fair_after_us >= 0) {
        outcome.fair_after_us = outcome.fair_after_us > from_us ? outcome.fair_after_us - from_us : 0;
    }
    printf("# %-10s %2" PRIu32 " flows%s: used %5.1f %%, queue %6.0f kB at most, %6.0f kB on average, Jain %.3f, fair "
           "after %.0f us\n",
           congestion_controller_of(incast->kind)->name, incast->flows, incast->stagger_ps ? " (one late)" : "",
           100 * outcome.used, outcome.deepest_bytes / 1000, outcome.mean_bytes / 1000, outcome.jain,
           outcome.fair_after_us);
    fflush(stdout);
    return outcome;
}

/* Flows that start together, and two of which one comes when the other has the port. */
static const uint32_t flow_counts[] = {2, 8, 32, 64};

enum { COUNTS = sizeof flow_counts / sizeof *flow_counts };

static struct outcome together(enum congestion_kind kind, int count) {
    return measure(&(struct incast){.kind = kind, .flows = flow_counts[count], .end_ps = 4000 * US});
}

static struct outcome one_late(enum congestion_kind kind) {
    return measure(&(struct incast){.kind = kind, .flows = 2, .stagger_ps = 500 * US, .end_ps = 10000 * US});
}

/* The paper: the delay stays at the target, flows share fairly. 23.05 us without scaling are 14.9 us of queue, 743 kB; scaling adds to it. */
START_TEST(swift_keeps_the_delay_near_its_target_and_shares_fairly) {
    for (int c = 0; c < COUNTS; c++) {
        const struct outcome outcome = together(CONGESTION_SWIFT, c);
        ck_assert_double_gt(outcome.used, 0.99);
        ck_assert_double_gt(outcome.jain, FAIR);
        ck_assert(outcome.mean_bytes > 700e3 && outcome.mean_bytes < 2 * 743e3);
    }
    const struct outcome late = one_late(CONGESTION_SWIFT);
    ck_assert_double_gt(late.jain, FAIR);
}
END_TEST

/* The paper: queues are close to empty, 5 % of the port are kept free. Fairness comes by small steps. */
START_TEST(hpcc_keeps_queues_close_to_empty) {
    for (int c = 0; c < COUNTS; c++) {
        const struct outcome outcome = together(CONGESTION_HPCC, c);
        ck_assert(outcome.used > 0.8 && outcome.used < 0.97); // windows of one or two packets are coarse
        ck_assert_double_lt(outcome.mean_bytes, 50e3);
        ck_assert_double_gt(outcome.jain, FAIR);
    }
    const struct outcome late = one_late(CONGESTION_HPCC);
    ck_assert_double_gt(late.jain, FAIR);
}
END_TEST

/* The specification: a queue of about the target (one base round trip, 8.2 us, 410 kB) up to where marks are sure (1.5 MB). */
START_TEST(nscc_fills_the_port_with_a_bounded_queue) {
    for (int c = 0; c < COUNTS; c++) {
        const struct outcome outcome = together(CONGESTION_NSCC, c);
        ck_assert_double_gt(outcome.used, 0.99);
        ck_assert_double_gt(outcome.jain, FAIR);
        ck_assert_double_lt(outcome.mean_bytes, 1600e3);
    }
    const struct outcome denser = measure(&(struct incast){.kind = CONGESTION_NSCC, /* 0.2 and 0.8 of 410 kB, uec.cpp */
                                                           .flows = 8,
                                                           .end_ps = 4000 * US,
                                                           .ecn_minimum_bytes = 82000,
                                                           .ecn_maximum_bytes = 328000});
    ck_assert(denser.used > 0.99 && denser.jain > FAIR && denser.mean_bytes < 1.25 * 410e3);
    const struct outcome late = one_late(CONGESTION_NSCC);
    ck_assert_double_gt(late.jain, FAIR);
}
END_TEST

/* EQDS and Ultra Ethernet: the receiver shares its port out, so the shares are equal from the first round trip on. */
START_TEST(receiver_credit_shares_the_port_at_once) {
    for (int c = 0; c < COUNTS; c++) {
        const struct outcome outcome = together(CONGESTION_RECEIVER_CREDIT, c);
        ck_assert_double_gt(outcome.jain, 0.99);
        ck_assert_double_ge(outcome.fair_after_us, 0);
    }
    one_late(CONGESTION_RECEIVER_CREDIT);
}
END_TEST

/* Steps that grow with the line (400 Mb/s, 2 Gb/s) against thresholds that do not: a saw of 50 us, and less of it with more flows. */
START_TEST(timely_swings_around_its_thresholds) {
    const struct outcome two = together(CONGESTION_TIMELY, 0), eight = together(CONGESTION_TIMELY, 1);
    ck_assert(two.used > 0.75 && two.used < 1);
    ck_assert_double_gt(two.jain, FAIR);
    ck_assert_double_gt(two.mean_bytes, 100e3);
    ck_assert(eight.used > 0.7 && eight.jain > FAIR);
    one_late(CONGESTION_TIMELY);
}
END_TEST

/* What there was before, for the table; without a controller the queue grows as long as the flows last. */
START_TEST(others_beside_them) {
    const struct outcome none = together(CONGESTION_NONE, 1);
    ck_assert_double_gt(none.used, 0.999);
    ck_assert_double_gt(none.mean_bytes, 100e6);
    for (int c = 0; c < COUNTS; c++) {
        together(CONGESTION_DCQCN, c);
        together(CONGESTION_SPECTRUM_X, c);
    }
    ck_assert_double_gt(one_late(CONGESTION_DCQCN).jain, FAIR);
    ck_assert_double_gt(one_late(CONGESTION_SPECTRUM_X).jain, FAIR);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("controllers");
    TCase *tests = tcase_create("controllers");
    tcase_set_timeout(tests, 200);
    tcase_add_test(tests, swift_keeps_the_delay_near_its_target_and_shares_fairly);
    tcase_add_test(tests, hpcc_keeps_queues_close_to_empty);
    tcase_add_test(tests, nscc_fills_the_port_with_a_bounded_queue);
    tcase_add_test(tests, receiver_credit_shares_the_port_at_once);
    tcase_add_test(tests, timely_swings_around_its_thresholds);
    tcase_add_test(tests, others_beside_them);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
