// SPDX-License-Identifier: GPL-3.0-or-later
/* What kernels that take time do to plans: when they send, and when their phases end. */
#include "base/rate.h"
#include "config/experiment.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/kernel.h"
#include "workload/moe.h"
#include "workload/pattern.h"

#include <check.h>

enum { LATENCY_PS = 1000 };

static const struct experiment_model small_model = {.hidden = 128, .experts = 32, .top_k = 4};

START_TEST(ideal_kernels_take_nothing_and_others_share_rates_and_the_map_out_over_sms) {
    struct experiment experiment = {
        .topology.gpu = {.base_latency_ps = 7, .routing_map_ps = 20, .sm_copy_bytes_per_s = 25e9}, .traffic.sms = 10};
    const struct kernel ideal = kernel_of(&experiment, 1001);
    ck_assert_uint_eq(kernel_before_ps(&ideal), 0);
    ck_assert_uint_eq(ideal.copy_ps_per_byte, 0);
    experiment.traffic.kernel = EXPERIMENT_KERNEL_PLATFORM;
    const struct kernel kernel = kernel_of(&experiment, 1001);
    ck_assert_uint_eq(kernel_before_ps(&kernel), 7 + 101 * 20);               // the busiest SM has 101 pairs
    ck_assert_uint_eq(rate_long_time_ps(kernel.copy_ps_per_byte, 250), 1000); // 250 GB/s
    ck_assert_uint_eq(kernel.reduce_ps_per_byte, 0);
}
END_TEST

START_TEST(patterns_start_after_the_base_latency_and_hand_messages_to_the_nic_one_after_the_other) {
    struct error error;
    const struct experiment_traffic traffic = {.pattern = EXPERIMENT_PATTERN_ALL_TO_ALL, .bytes = 1};
    const struct kernel kernel = {.base_latency_ps = 5000, .message_ps = 100, .floor_ps = 9999};
    struct pattern *pattern =
        pattern_create(&traffic, &(struct moe_placement){.n_ranks = 8, .ranks_per_domain = 4}, 1, &error);
    pattern_set_kernel(pattern, &kernel);
    const struct traffic plan = pattern_traffic(pattern);
    struct instant_run run = instant_run(&plan, LATENCY_PS, 0, 0);
    uint32_t handed[8] = {0};
    ck_assert_uint_eq(run.count, 56);
    for (uint32_t i = 0; i < run.count; i++) {
        const struct instant_message *sent = &run.messages[i];
        handed[sent->source] += sent->message.route == TRAFFIC_FABRIC;
        ck_assert_uint_eq(sent->message.start_ps, 5000 + UINT64_C(100) * handed[sent->source]);
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        ck_assert_uint_eq(handed[rank], 4);
        ck_assert_uint_eq(pattern_times(pattern, rank).end_ps, 9999); // 6400 without the floor
    }
    instant_free(&run);
    pattern_free(pattern);
}
END_TEST

static struct moe *make(enum experiment_algorithm algorithm, const struct kernel *kernel) {
    struct error error;
    const struct experiment_traffic traffic = {.algorithm = algorithm,
                                               .dispatch = true,
                                               .combine = true,
                                               .dispatch_type = EXPERIMENT_TYPE_BF16,
                                               .combine_type = EXPERIMENT_TYPE_BF16,
                                               .tokens_per_gpu = 40,
                                               .chunk_tokens = 8};
    struct moe *moe = moe_create(&small_model, &traffic, &(struct moe_placement){.n_ranks = 8, .ranks_per_domain = 4},
                                 false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    moe_set_kernel(moe, kernel);
    return moe;
}

static struct instant_run run(struct moe *moe) {
    const struct traffic plan = moe_traffic(moe);
    struct instant_run done = instant_run(&plan, LATENCY_PS, 0, 0);
    ck_assert(moe_finished(moe));
    return done;
}

START_TEST(direct_copies_are_handed_to_the_nic_as_a_message_each) {
    const struct kernel kernel = {.base_latency_ps = 3000, .map_ps = 500, .message_ps = 10};
    struct moe *moe = make(EXPERIMENT_ALGORITHM_DIRECT, &kernel);
    struct instant_run done = run(moe);
    uint64_t handed[8] = {0};
    uint32_t fabric = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        const struct traffic_message *sent = &done.messages[i].message;
        uint64_t *before = &handed[done.messages[i].source];
        if (moe_describe_tag(sent->tag).kind != MOE_TAG_DISPATCH) {
            continue;
        }
        ck_assert_uint_eq(sent->start_ps, 3500 + (sent->route == TRAFFIC_FABRIC ? 10 * (*before + 1) : 0));
        *before += sent->route == TRAFFIC_FABRIC ? sent->bytes / sent->unit_bytes : 0;
        fabric += sent->route == TRAFFIC_FABRIC;
    }
    ck_assert_uint_eq(fabric, 32);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Tokens of a rank's own node for itself, and parts of chunks for their forwarder. */
static uint64_t stay_at_home(const struct moe_counts *counts) {
    uint64_t tokens = 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        tokens += counts->copies[(uint64_t)rank * counts->row + moe_counts_index(counts, rank)];
        const uint32_t other = 1 - moe_counts_domain(counts, rank);
        for (uint32_t chunk = 0; chunk < moe_counts_chunks(counts, rank, other); chunk++) {
            const uint32_t number = moe_counts_chunk_number(counts, rank, other, chunk);
            tokens += moe_counts_part(counts, number, moe_counts_position(counts, rank));
        }
    }
    return tokens;
}

START_TEST(tokens_that_stay_at_home_are_copied_there) {
    const struct kernel kernel = {0};
    struct moe *moe = make(EXPERIMENT_ALGORITHM_TWO_HOP, &kernel);
    struct instant_run done = run(moe);
    uint64_t units = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        units += done.messages[i].message.local_units;
        ck_assert(done.messages[i].message.local_units == 0 || done.messages[i].message.route == TRAFFIC_NVLINK);
    }
    ck_assert_uint_gt(units, 0);
    ck_assert_uint_eq(units, stay_at_home(moe_plan_counts(moe)));
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Bytes that a rank's SMs read in a combine: what it gathers for others, its own node's results, and chunks that come back. */
static uint64_t read_in_combine(const struct moe_counts *counts, uint32_t rank, uint64_t unit_bytes) {
    uint64_t tokens = 0;
    const uint32_t own = moe_counts_domain(counts, rank), other = 1 - own;
    const uint32_t mate = moe_counts_mate(counts, rank, other);
    for (uint32_t index = 0; index < counts->row; index++) {
        tokens += counts->copies[(uint64_t)rank * counts->row + index];
        for (uint32_t chunk = 0; chunk < moe_counts_chunks(counts, mate, own); chunk++) {
            tokens += moe_counts_part(counts, moe_counts_chunk_number(counts, mate, own, chunk), index);
        }
    }
    return (tokens + counts->crossing[(uint64_t)rank * counts->group_domains + other]) * unit_bytes;
}

START_TEST(a_combine_ends_when_all_that_came_is_summed_up) {
    const struct kernel kernel = {.base_latency_ps = 3000,
                                  .reduce_ps_per_byte = rate_ps_per_byte(UINT64_C(8000000000))};
    struct moe *moe = make(EXPERIMENT_ALGORITHM_TWO_HOP, &kernel);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < 8; rank++) {
        const struct moe_phase_times times = moe_phase_times(moe, rank);
        const uint64_t bytes = read_in_combine(moe_plan_counts(moe), rank, UINT64_C(2) * small_model.hidden);
        const uint64_t read_ps = times.begin_ps[MOE_PHASE_COMBINE] + 3000 + 1000 * bytes; // 1 GB/s
        ck_assert_uint_ge(times.end_ps[MOE_PHASE_COMBINE], read_ps);
        ck_assert_uint_le(times.end_ps[MOE_PHASE_COMBINE],
                          read_ps + read_ps / 5); // the last chunks come when the other ranks have summed them up
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("kernel");
    TCase *cases = tcase_create("kernel");
    tcase_add_test(cases, ideal_kernels_take_nothing_and_others_share_rates_and_the_map_out_over_sms);
    tcase_add_test(cases, patterns_start_after_the_base_latency_and_hand_messages_to_the_nic_one_after_the_other);
    tcase_add_test(cases, direct_copies_are_handed_to_the_nic_as_a_message_each);
    tcase_add_test(cases, tokens_that_stay_at_home_are_copied_there);
    tcase_add_test(cases, a_combine_ends_when_all_that_came_is_summed_up);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
