// SPDX-License-Identifier: GPL-3.0-or-later
/* What must not change a result, and what must change it in one way only. */
#include "base/hash.h"
#include "fabric/irregular.h"
#include "run_suite.h"
#include "scenario.h"

#include <check.h>

enum { FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES };

START_TEST(every_scenario_does_what_it_is_for) {
    struct link_counters links[SCENARIOS];
    struct endpoint_counters endpoints[SCENARIOS];
    for (int i = 0; i < SCENARIOS; i++) {
        struct rig *rig = scenario_create((enum scenario)i, 1);
        rig_finish(rig);
        links[i] = rig_links(rig);
        endpoints[i] = rig_endpoints(rig);
        ck_assert_uint_eq(links[i].lossless_drops, 0);
        rig_free(rig);
    }
    ck_assert_uint_gt(links[SCENARIO_PAUSED_INCAST].pauses, 20);
    ck_assert_uint_gt(links[SCENARIO_PAUSED_INCAST].marks, 100);
    ck_assert_uint_gt(endpoints[SCENARIO_PAUSED_INCAST].notifications_received, 20);
    ck_assert_uint_gt(links[SCENARIO_LOSSY_INCAST].lossy_drops, 20);
    ck_assert_uint_gt(endpoints[SCENARIO_LOSSY_INCAST].nacks, 20);
    ck_assert_uint_gt(endpoints[SCENARIO_LOSSY_INCAST].timeouts, 0);
    ck_assert_uint_gt(endpoints[SCENARIO_ADAPTIVE].out_of_order, 100);
    ck_assert_uint_gt(endpoints[SCENARIO_ADAPTIVE].probes, 20);
    ck_assert_uint_gt(endpoints[SCENARIO_NVLINK].nvlink_bytes_received, 1000000);
}
END_TEST

START_TEST(a_run_repeats) {
    struct rig *first = scenario_create((enum scenario)_i, 7), *second = scenario_create((enum scenario)_i, 7);
    rig_finish(first);
    rig_finish(second);
    rig_assert_equal(first, second);
    rig_free(first);
    rig_free(second);
}
END_TEST

START_TEST(the_window_is_no_part_of_the_result) {
    static const uint64_t parts[] = {2, 7, 41};
    for (int p = 0; p < 3; p++) {
        struct rig *whole = scenario_create((enum scenario)_i, 3), *part = scenario_create((enum scenario)_i, 3);
        part->parameters.window_ps = part->fabric->smallest_latency_ps / parts[p];
        rig_finish(whole);
        rig_finish(part);
        ck_assert_uint_gt(network_windows(part->network), network_windows(whole->network));
        rig_assert_equal(whole, part);
        rig_free(whole);
        rig_free(part);
    }
}
END_TEST

/* Also of a run that is cut off: what is due up to the limit happens, what is due later does not. */
START_TEST(the_window_is_no_part_of_an_unfinished_result) {
    struct rig *finished = scenario_create((enum scenario)_i, 3);
    const uint64_t last_ps = rig_finish(finished);
    rig_free(finished);
    for (uint64_t cut = 1; cut < 8; cut++) {
        struct rig *whole = scenario_create((enum scenario)_i, 3), *part = scenario_create((enum scenario)_i, 3);
        whole->parameters.limit_ps = part->parameters.limit_ps = cut * last_ps / 8;
        part->parameters.window_ps = part->fabric->smallest_latency_ps / 7;
        ck_assert_int_eq(rig_run(whole), NETWORK_LIMIT);
        ck_assert_int_eq(rig_run(part), NETWORK_LIMIT);
        rig_assert_equal(whole, part);
        rig_free(whole);
        rig_free(part);
    }
}
END_TEST

START_TEST(threads_are_no_part_of_the_result) {
    struct rig *alone = scenario_create((enum scenario)_i, 3);
    rig_finish(alone);
    for (uint32_t threads = 2; threads <= 3; threads++) {
        struct rig *split = scenario_create((enum scenario)_i, 3);
        ck_assert_int_eq(rig_run_on(split, threads), NETWORK_FINISHED);
        ck_assert(traffic_list_finished(split->list));
        ck_assert_uint_eq(network_windows(split->network), network_windows(alone->network));
        rig_assert_equal(alone, split);
        rig_free(split);
    }
    rig_free(alone);
}
END_TEST

START_TEST(threads_are_no_part_of_an_unfinished_result) {
    struct rig *alone = scenario_create((enum scenario)_i, 3), *split = scenario_create((enum scenario)_i, 3);
    alone->parameters.limit_ps = split->parameters.limit_ps = 9876543;
    ck_assert_int_eq(rig_run(alone), NETWORK_LIMIT);
    ck_assert_int_eq(rig_run_on(split, 3), NETWORK_LIMIT);
    rig_assert_equal(alone, split);
    rig_free(alone);
    rig_free(split);
}
END_TEST

START_TEST(seeds_draw_other_paths) {
    struct rig *first = scenario_create(SCENARIO_PAUSED_INCAST, 1);
    const uint64_t first_ps = rig_finish(first);
    uint32_t others = 0;
    for (uint64_t seed = 2; seed < 7; seed++) {
        struct rig *other = scenario_create(SCENARIO_PAUSED_INCAST, seed);
        others += rig_finish(other) != first_ps;
        rig_free(other);
    }
    ck_assert_uint_ge(others, 4);
    rig_free(first);
}
END_TEST

/* All times of a set-up multiplied. The order of two packets of one picosecond is drawn by their time, so such must not meet. */
static struct rig *scaled(uint64_t scale, bool cut_through) {
    const struct rig_shape shape = {.leaves = 3,
                                    .hosts_per_leaf = 3,
                                    .spines = 2,
                                    .domain_gpus = 3,
                                    .chips = 2,
                                    .links_per_chip = 1,
                                    .up_ps = 20 * scale,
                                    .down_ps = 50 * scale,
                                    .uplink_ps = 40 * scale,
                                    .nvlink_ps = 160 * scale,
                                    .latency_ps = RIG_LATENCY_PS * scale,
                                    .cut_through = cut_through};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.nic.retransmit_timeout_ps = 40000000 * scale;
    rig->parameters.nic.nack_interval_ps = 4000000 * scale;
    rig->parameters.limit_ps *= scale;
    return rig;
}

/* One flow into a slower port: pauses, losses or a window make it wait. */
static struct rig *scaled_flow(uint64_t scale, int variant) {
    struct rig *rig = scaled(scale, variant & 1);
    rig->parameters.nic.window_packets = variant & 2 ? 60 : 0;
    if (variant & 4) {
        rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
        rig->parameters.nic.out_of_order = false;
        rig->parameters.leaf.lossy_pool_bytes = 10 * FULL_BYTES;
    } else {
        rig->parameters.leaf.lossless_pool_bytes = 25 * FULL_BYTES;
        rig->parameters.leaf.xon_bytes = FULL_BYTES;
    }
    for (uint32_t i = 0; i < 5; i++) {
        const struct traffic_message message = {
            .destination = 3, .bytes = 300000 + 999 * i, .start_ps = i * 5000001 * scale};
        rig_add(rig, 0, &message);
    }
    return rig;
}

/* Many flows that never wait for each other's acknowledgements, with marks; and NVLink. Starts keep packets apart. */
static struct rig *scaled_incast(uint64_t scale, int variant) {
    struct rig *rig = scaled(scale, variant & 1);
    rig->parameters.leaf.ecn = true;
    rig->parameters.leaf.ecn_minimum_bytes = 3 * FULL_BYTES;
    rig->parameters.leaf.ecn_maximum_bytes = 40 * FULL_BYTES;
    rig->parameters.leaf.ecn_probability_fxp20 = 1u << 19;
    rig->parameters.nvlink.buffer_bytes = 4 * RIG_RECORD_BYTES;
    for (uint32_t source = 1; source < 9; source++) {
        const struct traffic_message far = {
            .destination = 0, .bytes = 100000 + source, .start_ps = (1 + source * 1009) * scale};
        rig_add(rig, source, &far);
        const struct traffic_message near = {.destination = source / 3 * 3 + (source + 1) % 3,
                                             .bytes = 30000,
                                             .start_ps = source * 1013 * scale,
                                             .route = TRAFFIC_NVLINK};
        rig_add(rig, source, &near);
    }
    return rig;
}

static void assert_scaled(struct rig *single, struct rig *longer, uint64_t scale) {
    rig_finish(longer);
    ck_assert_uint_eq(single->trace.count, longer->trace.count);
    for (uint32_t i = 0; i < single->n_messages; i++) {
        ck_assert_uint_eq(scale * rig_delivered_ps(single, i), rig_delivered_ps(longer, i));
    }
    const struct link_counters a = rig_links(single), b = rig_links(longer);
    ck_assert_uint_eq(a.bytes, b.bytes);
    ck_assert_uint_eq(a.marks, b.marks);
    ck_assert_uint_eq(a.pauses, b.pauses);
    ck_assert_uint_eq(a.lossy_drops, b.lossy_drops);
    ck_assert_uint_eq(a.deepest_bytes, b.deepest_bytes);
    ck_assert_uint_eq(scale * a.paused_ps, b.paused_ps);
    rig_free(longer);
}

START_TEST(a_flow_with_all_times_doubled_takes_exactly_twice_as_long) {
    struct rig *single = scaled_flow(1, _i);
    rig_finish(single);
    const struct link_counters links = rig_links(single);
    ck_assert_uint_gt(_i & 4 ? links.lossy_drops : links.pauses, 1); // it was held up
    assert_scaled(single, scaled_flow(2, _i), 2);
    assert_scaled(single, scaled_flow(5, _i), 5);
    rig_free(single);
}
END_TEST

START_TEST(an_incast_with_all_times_doubled_takes_exactly_twice_as_long) {
    struct rig *single = scaled_incast(1, _i);
    rig_finish(single);
    ck_assert_uint_gt(rig_links(single).marks, 20);
    assert_scaled(single, scaled_incast(2, _i), 2);
    assert_scaled(single, scaled_incast(3, _i), 3);
    rig_free(single);
}
END_TEST

static struct rig *under(enum path_kind kind, const struct rig_shape *shape) {
    struct rig *rig = rig_create(shape);
    rig->parameters.path.kind = kind;
    rig->parameters.nic.adaptive_marking = path_policy_of(kind)->reorders;
    return rig;
}

START_TEST(with_one_path_all_policies_are_the_same) {
    const struct rig_shape shape = {.leaves = 4, .hosts_per_leaf = 4, .spines = 1, .up_ps = 20, .cut_through = true};
    struct rig *rigs[PATH_KINDS];
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        rigs[kind] = under((enum path_kind)kind, &shape);
        for (uint32_t i = 0; i < 64; i++) {
            rig_send(rigs[kind], i % 16, (i % 16 + 1 + i / 16 * 3) % 16, 50000 + i * 100);
        }
        rig_finish(rigs[kind]);
    }
    for (int kind = 1; kind < PATH_KINDS; kind++) {
        for (uint32_t i = 0; i < 64; i++) {
            ck_assert_uint_eq(rig_delivered_ps(rigs[kind], i), rig_delivered_ps(rigs[0], i));
            ck_assert_uint_eq(rig_completed_ps(rigs[kind], i), rig_completed_ps(rigs[0], i));
        }
        ck_assert_uint_eq(rig_endpoints(rigs[kind]).out_of_order, 0);
        rig_free(rigs[kind]);
    }
    rig_free(rigs[0]);
}
END_TEST

/* A permutation in which every flow crosses the spines. */
static uint64_t permutation_ps(enum path_kind kind, uint64_t seed) {
    const struct rig_shape shape = {.leaves = 4, .hosts_per_leaf = 8, .spines = 8, .up_ps = 20, .cut_through = true};
    struct rig *rig = under(kind, &shape);
    rig->parameters.seed = seed;
    const uint32_t shift = 8 * (1 + hash_below(hash_mix(seed), 3)); // another leaf, and another host of it
    for (uint32_t source = 0; source < 32; source++) {
        const uint32_t host = (source + (uint32_t)hash_mix(seed + 1)) % 8;
        rig_send(rig, source, (source / 8 * 8 + shift) % 32 + host, 1u << 20);
    }
    const uint64_t time_ps = rig_finish(rig);
    rig_free(rig);
    return time_ps;
}

START_TEST(adaptive_paths_never_lose_to_hashed_ones_on_a_permutation) {
    const uint64_t ideal_ps = (UINT64_C(1) << 20) / RIG_PAYLOAD_BYTES * FULL_BYTES * 20 + 4 * RIG_LATENCY_PS;
    uint64_t hashed_sum_ps = 0, adaptive_sum_ps = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const uint64_t hashed_ps = permutation_ps(PATH_ECMP, seed), adaptive_ps = permutation_ps(PATH_ADAPTIVE, seed);
        ck_assert_uint_ge(adaptive_ps, ideal_ps);
        ck_assert_uint_le(adaptive_ps, hashed_ps);
        hashed_sum_ps += hashed_ps;
        adaptive_sum_ps += adaptive_ps;
    }
    ck_assert_uint_gt(hashed_sum_ps, 2 * adaptive_sum_ps); // eight flows on eight links: the fullest carries three
    // ports are looked at once in 1 us: what is drawn in between collides, a third of 22 us (at 8 MiB less than a tenth)
    ck_assert_uint_lt(3 * adaptive_sum_ps, 12 * ideal_ps * 4);
}
END_TEST

int main(void) {
    TCase *same = tcase_create("same");
    tcase_add_test(same, every_scenario_does_what_it_is_for);
    tcase_add_loop_test(same, a_run_repeats, 0, SCENARIOS);
    tcase_add_loop_test(same, the_window_is_no_part_of_the_result, 0, SCENARIOS);
    tcase_add_loop_test(same, the_window_is_no_part_of_an_unfinished_result, 0, SCENARIOS);
    tcase_add_loop_test(same, threads_are_no_part_of_the_result, 0, SCENARIOS);
    tcase_add_loop_test(same, threads_are_no_part_of_an_unfinished_result, 0, SCENARIOS);
    tcase_add_test(same, with_one_path_all_policies_are_the_same);
    TCase *different = tcase_create("different");
    tcase_add_test(different, seeds_draw_other_paths);
    tcase_add_loop_test(different, a_flow_with_all_times_doubled_takes_exactly_twice_as_long, 0, 8);
    tcase_add_loop_test(different, an_incast_with_all_times_doubled_takes_exactly_twice_as_long, 0, 2);
    tcase_add_test(different, adaptive_paths_never_lose_to_hashed_ones_on_a_permutation);
    Suite *suite = suite_create("invariance");
    suite_add_tcase(suite, same);
    suite_add_tcase(suite, different);
    return run_suite(suite);
}
