// SPDX-License-Identifier: GPL-3.0-or-later
/* Links that fail, by hand: what is lost, when, which way packets take instead, and that nothing stays behind. */
#include "base/hash.h"
#include "fabric/failure.h"
#include "fabric/failure_plan.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES, PACKET_PS = FULL_BYTES * R_PS };
enum { REPLY_PS = RIG_CONTROL_BYTES * R_PS, FAILURES = 64 };

#define US UINT64_C(1000000)

/** A set-up with failures. */
struct failing {
    struct rig *rig;
    struct failure failures[FAILURES];
    struct failure_list list;
};

static void begin(struct failing *failing, const struct rig_shape *shape) {
    *failing = (struct failing){.rig = rig_create(shape)};
    failing->list = (struct failure_list){
        .failures = failing->failures, .exclusion_ps = 100000, .convergence_ps = UINT64_C(1000) * US};
    failing->rig->parameters.failures = &failing->list;
    failing->rig->parameters.nic.acknowledge_bytes = 1;
    failing->rig->parameters.nic.out_of_order = true;
    failing->rig->parameters.nic.retransmit_timeout_ps = 100 * US;
}

static void begin_star(struct failing *failing, uint32_t hosts) {
    const struct rig_shape shape = {.leaves = 1, .hosts_per_leaf = hosts, .up_ps = R_PS, .cut_through = true};
    begin(failing, &shape);
}

/** Two leaves of four hosts and two spines. */
static void begin_leaves(struct failing *failing) {
    const struct rig_shape shape = {.leaves = 2, .hosts_per_leaf = 4, .spines = 2, .up_ps = R_PS, .cut_through = true};
    begin(failing, &shape);
}

static struct failure *add(struct failing *failing, enum failure_kind kind, uint32_t link, uint64_t from_ps,
                           uint64_t until_ps) {
    struct failure *failure = &failing->failures[failing->list.count++];
    ck_assert_uint_le(failing->list.count, FAILURES);
    *failure = (struct failure){.kind = kind, .link = link, .from_ps = from_ps, .until_ps = until_ps};
    return failure;
}

static void cut(struct failing *failing, uint32_t link, uint64_t from_ps, uint64_t until_ps) {
    add(failing, FAILURE_DOWN, link, from_ps, until_ps);
    add(failing, FAILURE_DOWN, failing->rig->fabric->links[link].reverse, from_ps, until_ps);
}

/** The link from leaf (number) to spine, or back. */
static uint32_t uplink(const struct failing *failing, uint32_t leaf, uint32_t spine) {
    const struct fabric *fabric = failing->rig->fabric;
    const uint32_t from = fabric->switch_devices[leaf], to = fabric->switch_devices[fabric->n_leaves + spine];
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (fabric->links[l].tail_device == from && fabric->links[l].head_device == to) {
            return l;
        }
    }
    ck_abort_msg("no link");
}

static const struct link_counters *counters(const struct failing *failing, uint32_t link) {
    return network_link(failing->rig->network, link);
}

/*
 * Twelve packets; the receiver's cable is dead for one picosecond when the last bit of packet 2 arrives. Packet k is on it from k packets
 * and a latency on, for a packet and a latency: packets 3 to 9 are lost, 2 and 10 are not. So are the ACKs of packets 0 to 2, but those
 * of 10 and 11 tell the sender what it must know. After a timeout it repeats from 3 on.
 */
START_TEST(what_is_on_a_link_that_dies_is_lost_to_the_picosecond) {
    struct failing failing;
    begin_star(&failing, 2);
    const uint64_t dies_ps = 3 * PACKET_PS + 2 * RIG_LATENCY_PS;
    cut(&failing, rig_down(failing.rig, 1), dies_ps, dies_ps + 1);
    rig_send(failing.rig, 0, 1, 12 * RIG_PAYLOAD_BYTES);
    rig_finish(failing.rig);
    ck_assert_uint_eq(counters(&failing, rig_down(failing.rig, 1))->lost_packets, 7);
    ck_assert_uint_eq(counters(&failing, rig_down(failing.rig, 1))->lost_bytes, 7 * FULL_BYTES);
    ck_assert_uint_eq(counters(&failing, rig_up(failing.rig, 1))->lost_packets, 3);
    ck_assert_uint_eq(rig_endpoints(failing.rig).retransmitted_packets, 9);
    const uint64_t last_ack_ps = 12 * PACKET_PS + 4 * RIG_LATENCY_PS + REPLY_PS;
    const uint64_t repeated_ps = last_ack_ps + failing.rig->parameters.nic.retransmit_timeout_ps;
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 0), repeated_ps + 7 * PACKET_PS + 2 * RIG_LATENCY_PS);
    rig_free(failing.rig);
}
END_TEST

/*
 * The GPU starts nothing before 5 us, nor from 6 to 9 us. What it has at 0 starts at 5 us, what was to start at 6 us at 9 us; what it has
 * posted by then goes on meanwhile. The other host sends as always.
 */
START_TEST(a_gpu_that_starts_no_messages_sends_them_when_that_ends) {
    struct failing failing;
    begin_star(&failing, 3);
    const uint32_t link = rig_up(failing.rig, 0);
    add(&failing, FAILURE_SEND, link, 0, 5 * US);
    add(&failing, FAILURE_SEND, link, 6 * US, 8 * US);
    add(&failing, FAILURE_SEND, link, 8 * US, 9 * US);
    rig_send(failing.rig, 0, 1, 20 * RIG_PAYLOAD_BYTES);
    rig_send(failing.rig, 2, 1, RIG_PAYLOAD_BYTES);
    const struct traffic_message later = {
        .destination = 2, .bytes = RIG_PAYLOAD_BYTES, .start_ps = 6 * US, .route = TRAFFIC_FABRIC};
    rig_add(failing.rig, 0, &later);
    rig_finish(failing.rig);
    ck_assert_uint_gt(5 * US + 20 * PACKET_PS, 6 * US);
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 0), 5 * US + 20 * PACKET_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 1), PACKET_PS + 2 * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 2), 9 * US + PACKET_PS + 2 * RIG_LATENCY_PS);
    rig_free(failing.rig);
}
END_TEST

/** One picosecond later the same packet is safe, and the next begins after the link is up again. */
START_TEST(a_link_may_die_between_two_packets) {
    struct failing failing;
    begin_star(&failing, 2);
    rig_send(failing.rig, 0, 1, RIG_PAYLOAD_BYTES);
    const struct traffic_message later = {
        .destination = 1, .bytes = RIG_PAYLOAD_BYTES, .start_ps = 4 * US, .route = TRAFFIC_FABRIC};
    rig_add(failing.rig, 0, &later);
    const uint64_t idle_ps = PACKET_PS + 3 * RIG_LATENCY_PS + REPLY_PS; /* the ACK has left the cable */
    cut(&failing, rig_down(failing.rig, 1), idle_ps, 4 * US + RIG_LATENCY_PS);
    rig_finish(failing.rig);
    ck_assert_uint_eq(rig_links(failing.rig).lost_packets, 0);
    rig_free(failing.rig);
}
END_TEST

/* A link at half its rate: first the one into the switch, then the one out of it. The cut-through switch waits so that it never runs dry. */
START_TEST(a_slow_link_takes_its_time) {
    for (int out = 0; out < 2; out++) {
        struct failing failing;
        begin_star(&failing, 2);
        const uint32_t link = out ? rig_down(failing.rig, 1) : rig_up(failing.rig, 0);
        struct failure *slow = add(&failing, FAILURE_SLOW, link, 0, out ? TIME_NEVER : 1);
        slow->ps_per_byte = 2 * failing.rig->fabric->links[link].ps_per_byte;
        rig_send(failing.rig, 0, 1, 3 * RIG_PAYLOAD_BYTES);
        rig_finish(failing.rig);
        /* in: only the packet that began in time is slow, and the two behind it wait for it; out: all three are */
        const uint64_t packets = out ? 6 : 4;
        ck_assert_uint_eq(rig_delivered_ps(failing.rig, 0), packets * PACKET_PS + 2 * RIG_LATENCY_PS);
        rig_free(failing.rig);
    }
}
END_TEST

/** As many as the draws say, and about as many as the probability. */
START_TEST(a_lossy_link_loses_its_share) {
    enum { PACKETS = 4000, ONE_IN = 20 };
    struct failing failing;
    begin_star(&failing, 2);
    const uint32_t link = rig_down(failing.rig, 1);
    const struct fabric_link *place = &failing.rig->fabric->links[link];
    add(&failing, FAILURE_LOSSY, link, 0, TIME_NEVER)->loss_fxp32 = FAILURE_LOSS_ONE / ONE_IN;
    rig_send(failing.rig, 0, 1, PACKETS * RIG_PAYLOAD_BYTES);
    rig_finish(failing.rig);
    const uint64_t stream = hash_stream(failing.rig->parameters.seed, HASH_PURPOSE_LOSS, link, 0);
    uint64_t lost = 0, started = 0;
    for (size_t i = 0; i < failing.rig->trace.count; i++) {
        const struct trace_record *record = &failing.rig->trace.records[i];
        if (record->event == TRACE_START && record->device == place->tail_device && record->port == place->tail_port) {
            lost += hash_draw(stream, record->time_ps) >> 32 < FAILURE_LOSS_ONE / ONE_IN;
            started++;
        }
    }
    ck_assert_uint_eq(counters(&failing, link)->lost_packets, lost);
    const double away = (double)lost - (double)started / ONE_IN;
    ck_assert_double_le(away * away, 25.0 * (double)started / ONE_IN); /* five deviations */
    ck_assert_uint_eq(rig_links(failing.rig).lost_packets, lost);      /* the other direction loses nothing */
    rig_free(failing.rig);
}
END_TEST

/** Posts a message of every host of leaf 0 to its like on leaf 1, at a time. */
static void send_across(struct failing *failing, uint64_t start_ps) {
    for (uint32_t host = 0; host < 4; host++) {
        const struct traffic_message message = {
            .destination = 4 + host, .bytes = 20 * RIG_PAYLOAD_BYTES, .start_ps = start_ps, .route = TRAFFIC_FABRIC};
        rig_add(failing->rig, host, &message);
    }
}

/** Before routing has converged, what ECMP hashes to a dead port is lost; after it nothing goes there, from the other leaf neither. */
START_TEST(ecmp_sends_into_the_void_until_routing_converges) {
    for (int late = 0; late < 2; late++) {
        struct failing failing;
        begin_leaves(&failing);
        failing.list.convergence_ps = 50 * US;
        cut(&failing, uplink(&failing, 0, 0), US, TIME_NEVER);
        send_across(&failing, late ? 51 * US : 2 * US);
        rig_finish(failing.rig);
        const uint64_t lost = rig_links(failing.rig).lost_packets;
        ck_assert(late ? lost == 0 : lost > 0);
        const uint32_t back = failing.rig->fabric->links[uplink(&failing, 1, 0)].reverse;
        if (late) { /* spine 0 has lost leaf 0: leaf 1 does not send its ACKs there */
            ck_assert_uint_eq(counters(&failing, uplink(&failing, 0, 0))->bytes, 0);
            ck_assert_uint_eq(counters(&failing, uplink(&failing, 1, 0))->bytes, 0);
            ck_assert_uint_eq(counters(&failing, back)->bytes, 0);
        }
        rig_free(failing.rig);
    }
}
END_TEST

/** A policy that decides packet by packet leaves its own dead port out after the exclusion time, and not before. */
START_TEST(per_packet_policies_leave_a_dead_port_out_at_once) {
    static const enum path_kind kinds[] = {PATH_ADAPTIVE, PATH_SPRAY_RANDOM, PATH_SPRAY_ROUND_ROBIN, PATH_TWO_CHOICES,
                                           PATH_DRILL};
    for (int late = 0; late < 2; late++) {
        struct failing failing;
        begin_leaves(&failing);
        failing.rig->parameters.path.kind = kinds[_i];
        failing.rig->parameters.path.refresh_period_ps = US;
        failing.rig->parameters.path.round_robin_rounds = 5;
        failing.rig->parameters.nic.adaptive_marking = true;
        const uint64_t first_ps = 2 * US + RIG_LATENCY_PS; /* the first packets reach leaf 0 */
        failing.list.exclusion_ps = 100000;
        const uint64_t exclusion_ps = failing.list.exclusion_ps;
        cut(&failing, uplink(&failing, 0, 1), first_ps - exclusion_ps + !late, TIME_NEVER);
        send_across(&failing, 2 * US);
        rig_finish(failing.rig);
        const uint64_t sent = counters(&failing, uplink(&failing, 0, 1))->bytes;
        ck_assert_uint_eq(counters(&failing, uplink(&failing, 0, 1))->lost_bytes, sent);
        ck_assert(late ? sent == 0 : sent <= 4 * FULL_BYTES); /* those of the first picosecond, if any */
        rig_free(failing.rig);
    }
}
END_TEST

/** A leaf that nobody reaches: packets are lost on its dead cables, then dropped as unrouted; the run ends as stalled. */
START_TEST(what_stays_unreachable_ends_as_stalled) {
    struct failing failing;
    begin_leaves(&failing);
    failing.list.convergence_ps = 50 * US;
    failing.rig->parameters.stall_ps = UINT64_C(20000) * US;
    for (uint32_t spine = 0; spine < 2; spine++) {
        cut(&failing, uplink(&failing, 1, spine), 0, TIME_NEVER);
    }
    send_across(&failing, US);
    ck_assert_int_eq(rig_run(failing.rig), NETWORK_STALLED);
    const struct link_counters sum = rig_links(failing.rig);
    ck_assert_uint_eq(sum.lost_packets, 80); /* all of the first time */
    ck_assert_uint_gt(sum.unrouted_packets, 80);
    rig_free(failing.rig);
}
END_TEST

/** A leaf that comes back is used again: the same run ends well. */
START_TEST(what_comes_back_is_reached_again) {
    struct failing failing;
    begin_leaves(&failing);
    failing.list.convergence_ps = 50 * US;
    for (uint32_t spine = 0; spine < 2; spine++) {
        cut(&failing, uplink(&failing, 1, spine), 0, 1000 * US);
    }
    send_across(&failing, US);
    rig_finish(failing.rig);
    ck_assert_uint_gt(rig_links(failing.rig).unrouted_packets, 0);
    rig_free(failing.rig);
}
END_TEST

/** Eight senders into one port under PFC, with a small pool. */
static void begin_paused(struct failing *failing) {
    begin_star(failing, 9);
    failing->rig->parameters.leaf.pfc = true;
    failing->rig->parameters.leaf.lossless_pool_bytes = 16 * FULL_BYTES;
    failing->rig->parameters.leaf.headroom_bytes = 40 * FULL_BYTES;
    failing->rig->parameters.leaf.xon_bytes = 0;
    failing->rig->parameters.nic.data_class = PACKET_CLASS_LOSSLESS;
    for (uint32_t source = 1; source < 9; source++) {
        rig_send(failing->rig, source, 0, 60 * RIG_PAYLOAD_BYTES);
    }
}

/** Pauses and resumes of a port, in order: +1 and -1; those in a row without the other between them are counted. */
static uint32_t pauses_in_a_row(const struct failing *failing) {
    uint32_t repeated = 0;
    bool pausing[16] = {false};
    for (size_t i = 0; i < failing->rig->trace.count; i++) {
        const struct trace_record *record = &failing->rig->trace.records[i];
        if (record->event == TRACE_PAUSE) {
            repeated += pausing[record->port];
            pausing[record->port] = true;
        } else if (record->event == TRACE_RESUME) {
            pausing[record->port] = false;
        }
    }
    return repeated;
}

/** A NIC whose cable blinks has forgotten its pause, sends into the void, and is told again when the cable is back. Nothing stays in any buffer (rig_run checks). */
START_TEST(a_pause_is_forgotten_with_the_link_and_told_again) {
    struct failing failing;
    begin_paused(&failing);
    const uint32_t link = rig_up(failing.rig, 1);
    cut(&failing, link, 12 * US, 12 * US + 1000);
    rig_finish(failing.rig);
    ck_assert_uint_gt(rig_links(failing.rig).pauses, 0);
    ck_assert_uint_gt(counters(&failing, link)->lost_packets, 0);
    ck_assert_uint_eq(pauses_in_a_row(&failing), 1);
    ck_assert_uint_eq(rig_links(failing.rig).lossless_drops, 0);
    rig_free(failing.rig);
}
END_TEST

/** All that fails, at once, and on several threads and in any window: the same. */
START_TEST(threads_change_nothing) {
    struct failing failing[2];
    for (int run = 0; run < 2; run++) {
        begin_leaves(&failing[run]);
        failing[run].list.convergence_ps = 30 * US;
        failing[run].rig->parameters.path.kind = PATH_ADAPTIVE;
        failing[run].rig->parameters.path.refresh_period_ps = US;
        failing[run].rig->parameters.nic.adaptive_marking = true;
        for (uint64_t flap = 0; flap < 6; flap++) {
            cut(&failing[run], uplink(&failing[run], 0, flap % 2), 3 * US + 7 * flap * US, 5 * US + 7 * flap * US);
        }
        add(&failing[run], FAILURE_LOSSY, uplink(&failing[run], 0, 1), 0, TIME_NEVER)->loss_fxp32 =
            FAILURE_LOSS_ONE / 10;
        add(&failing[run], FAILURE_SLOW, rig_up(failing[run].rig, 2), US, 20 * US)->ps_per_byte =
            3 * failing[run].rig->fabric->links[0].ps_per_byte;
        send_across(&failing[run], US);
        send_across(&failing[run], 20 * US);
        ck_assert_int_eq(run == 0 ? rig_run(failing[run].rig) : rig_run_on(failing[run].rig, 3), NETWORK_FINISHED);
    }
    ck_assert_uint_gt(rig_links(failing[0].rig).lost_packets, 0);
    rig_assert_equal(failing[0].rig, failing[1].rig);
    rig_free(failing[0].rig);
    rig_free(failing[1].rig);
}
END_TEST

/* What leaf 1 is told of its ports towards leaf 0 by the tables of a time: each of the two to spine 0 and to spine 1, in Mb/s; 0 = no weights. */
static void expect_weights(const struct failing *failing, const struct failure_plan *plan, uint64_t time_ps,
                           const uint32_t by_spine[2]) {
    const struct fabric *fabric = failing->rig->fabric;
    const uint32_t *weights = failure_plan_weights(plan, time_ps, 1, 0);
    const uint32_t leaf = fabric->switch_devices[1];
    const struct fabric_route route = fabric->routes[fabric->plane_leaves]; /* of switch 1 to leaf 0 */
    ck_assert_uint_eq(route.count, 4);
    ck_assert(weights != NULL || by_spine[0] == 0);
    for (uint32_t i = 0; i < route.count && weights != NULL; i++) {
        const uint32_t link = fabric->devices[leaf].first_port + route.first_port + i;
        const uint32_t spine = fabric->devices[fabric->links[link].head_device].ordinal - fabric->n_leaves;
        ck_assert_uint_eq(weights[i], by_spine[spine]);
    }
}

/* Two cables of 400 Gb/s between each leaf and each of two spines. At 10 us one to leaf 0 is gone, at 20 us one link of spine 1 is down to a quarter. */
START_TEST(ports_weigh_what_is_left_behind_them) {
    const struct rig_shape shape = {.leaves = 3, .hosts_per_leaf = 1, .spines = 2, .parallel = 2, .up_ps = R_PS};
    struct failing failing;
    begin(&failing, &shape);
    failing.list.convergence_ps = 5 * US;
    cut(&failing, uplink(&failing, 0, 0), 10 * US, 30 * US);
    const uint32_t down = failing.rig->fabric->links[uplink(&failing, 0, 1)].reverse;
    add(&failing, FAILURE_SLOW, down, 20 * US, TIME_NEVER)->ps_per_byte = (uint64_t)4 * R_PS << RATE_FRACTION_BITS;
    struct failure_plan *plan = failure_plan_create(failing.rig->fabric, &failing.list);
    expect_weights(&failing, plan, 40 * US, (const uint32_t[]){0, 0}); /* it does not weigh yet */
    failure_plan_weigh(plan);
    expect_weights(&failing, plan, 15 * US - 1, (const uint32_t[]){0, 0});
    expect_weights(&failing, plan, 15 * US, (const uint32_t[]){200000, 400000}); /* one cable for two */
    expect_weights(&failing, plan, 25 * US, (const uint32_t[]){200000, 250000}); /* and 400 + 100 for two */
    expect_weights(&failing, plan, 35 * US, (const uint32_t[]){400000, 250000});
    failure_plan_free(plan);
    rig_free(failing.rig);
}
END_TEST

/* Both links of spine 1 to leaf 0 at 100 kb/s: little gets through, but a port that leads there must have a chance. */
START_TEST(a_way_that_is_slower_than_a_megabit_still_weighs) {
    const struct rig_shape shape = {.leaves = 3, .hosts_per_leaf = 1, .spines = 2, .parallel = 2, .up_ps = R_PS};
    struct failing failing;
    begin(&failing, &shape);
    failing.list.convergence_ps = 0;
    const uint32_t up = uplink(&failing, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t down = failing.rig->fabric->links[up + i].reverse;
        add(&failing, FAILURE_SLOW, down, 0, TIME_NEVER)->ps_per_byte = UINT64_C(80000000) << RATE_FRACTION_BITS;
    }
    struct failure_plan *plan = failure_plan_create(failing.rig->fabric, &failing.list);
    failure_plan_weigh(plan);
    expect_weights(&failing, plan, 1 * US, (const uint32_t[]){400000, 1});
    failure_plan_free(plan);
    rig_free(failing.rig);
}
END_TEST

static void post_urgent(struct failing *failing) {
    const struct traffic_message message = {.destination = 1, .bytes = 100, .route = TRAFFIC_FABRIC, .urgent = 1};
    failing->rig->parameters.nic.urgent_timeout_ps = 10 * US;
    rig_add(failing->rig, 0, &message);
}

/* Sent at 0 and after 10 us into a dead link, and after 20 us more again. */
START_TEST(a_lost_urgent_message_is_sent_again) {
    struct failing failing;
    begin_star(&failing, 2);
    cut(&failing, rig_down(failing.rig, 1), 0, 20 * US);
    post_urgent(&failing);
    rig_finish(failing.rig);
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 0),
                      30 * US + (100 + RIG_HEADER_BYTES) * R_PS + UINT64_C(2) * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_endpoints(failing.rig).timeouts, 2);
    ck_assert_uint_eq(rig_endpoints(failing.rig).retransmitted_packets, 2);
    rig_free(failing.rig);
}
END_TEST

/* Its first two acknowledgements are lost: it comes three times, and counts once. */
START_TEST(an_urgent_message_that_comes_again_is_delivered_once) {
    struct failing failing;
    begin_star(&failing, 2);
    add(&failing, FAILURE_LOSSY, rig_up(failing.rig, 1), 0, 20 * US)->loss_fxp32 = FAILURE_LOSS_ONE;
    post_urgent(&failing);
    rig_finish(failing.rig);
    ck_assert_uint_eq(rig_delivered_ps(failing.rig, 0), (100 + RIG_HEADER_BYTES) * R_PS + UINT64_C(2) * RIG_LATENCY_PS);
    ck_assert_uint_eq(rig_endpoints(failing.rig).duplicates, 2);
    ck_assert_uint_eq(rig_endpoints(failing.rig).delivered_messages, 1);
    ck_assert_uint_eq(counters(&failing, rig_up(failing.rig, 1))->lost_packets, 2);
    rig_free(failing.rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("device: failures");
    TCase *tests = tcase_create("failures");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_on_a_link_that_dies_is_lost_to_the_picosecond);
    tcase_add_test(tests, a_gpu_that_starts_no_messages_sends_them_when_that_ends);
    tcase_add_test(tests, a_link_may_die_between_two_packets);
    tcase_add_test(tests, a_slow_link_takes_its_time);
    tcase_add_test(tests, a_lossy_link_loses_its_share);
    tcase_add_test(tests, ecmp_sends_into_the_void_until_routing_converges);
    tcase_add_loop_test(tests, per_packet_policies_leave_a_dead_port_out_at_once, 0, 5);
    tcase_add_test(tests, what_stays_unreachable_ends_as_stalled);
    tcase_add_test(tests, what_comes_back_is_reached_again);
    tcase_add_test(tests, a_pause_is_forgotten_with_the_link_and_told_again);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, ports_weigh_what_is_left_behind_them);
    tcase_add_test(tests, a_way_that_is_slower_than_a_megabit_still_weighs);
    tcase_add_test(tests, a_lost_urgent_message_is_sent_again);
    tcase_add_test(tests, an_urgent_message_that_comes_again_is_delivered_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
