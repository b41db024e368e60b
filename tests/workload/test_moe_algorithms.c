// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Each algorithm on a layer that can be counted by hand: 2 domains of 2 GPUs (0, 1 | 2, 3), an expert on each, and every token goes to all four. So every
 * GPU has as many copies for every GPU as it has tokens. Each message takes 1000 ps, so times say what waited for what.
 */
#include "base/memory.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/model.h"
#include "workload/moe_summary.h"

#include <check.h>

enum { LATENCY_PS = 1000, HIDDEN = 256, UNIT = 2 * HIDDEN /* BF16 */ };

static const struct experiment_model model = {.hidden = HIDDEN, .experts = 4, .top_k = 4};

#define BF16(...)                                                                                                      \
    {                                                                                                                  \
        .dispatch = true, .combine = true, .dispatch_type = EXPERIMENT_TYPE_BF16,                                      \
        .combine_type = EXPERIMENT_TYPE_BF16, __VA_ARGS__                                                              \
    }

static struct moe *make(const struct experiment_traffic *traffic, uint32_t n_ranks, uint32_t domain) {
    struct error error;
    const struct moe_placement placement = {.n_ranks = n_ranks, .ranks_per_domain = domain};
    struct experiment_model sized = model;
    sized.experts = sized.top_k = n_ranks;
    struct moe *moe = moe_create(&sized, traffic, &placement, false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    return moe;
}

static struct instant_run run(struct moe *moe) {
    const struct traffic traffic = moe_traffic(moe);
    struct instant_run done = instant_run(&traffic, LATENCY_PS, 0, 1);
    ck_assert(moe_finished(moe));
    return done;
}

/** What to look for; UINT32_MAX: any. */
struct wanted {
    enum moe_tag_kind kind;
    uint32_t source, destination, domain, chunk;
    bool backward;
};

#define ANY UINT32_MAX

static bool matches(const struct instant_message *sent, const struct wanted *wanted) {
    const struct moe_tag tag = moe_describe_tag(sent->message.tag);
    return tag.kind == wanted->kind && (wanted->source == ANY || wanted->source == sent->source) &&
           (wanted->destination == ANY || wanted->destination == sent->message.destination) &&
           (wanted->domain == ANY || wanted->domain == tag.domain) &&
           (wanted->chunk == ANY || wanted->chunk == tag.chunk) && tag.backward == wanted->backward;
}

/** How many there are; *first gets one of them. */
static uint32_t find(const struct instant_run *done, struct wanted wanted, const struct instant_message **first) {
    uint32_t count = 0;
    for (uint32_t i = done->count; i > 0; i--) {
        if (matches(&done->messages[i - 1], &wanted)) {
            *first = &done->messages[i - 1];
            count++;
        }
    }
    return count;
}

static const struct instant_message *only(const struct instant_run *done, struct wanted wanted) {
    const struct instant_message *found = NULL;
    ck_assert_uint_eq(find(done, wanted, &found), 1);
    return found;
}

static void expect_side(struct moe_summary_side side, uint64_t messages, uint64_t copies) {
    ck_assert_uint_eq(side.messages, messages);
    ck_assert_uint_eq(side.bytes, copies * UNIT);
}

/* 4 copies a destination in chunks of 2. GPU 0: 2 chunks for 1 and 2 chunks for 3, both over NVLink to 1; 2 chunks for 2 by its own NIC; 2 of 1's for 2. */
START_TEST(pxn_goes_over_the_gpu_on_the_rail_of_the_destination) {
    const struct experiment_traffic traffic =
        BF16(.algorithm = EXPERIMENT_ALGORITHM_PXN, .tokens_per_gpu = 4, .chunk_bytes = 2 * UNIT);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase <= MOE_SUMMARY_COMBINE; phase++) {
            const struct moe_summary_volume volume = moe_summary_volume(moe, rank, phase);
            expect_side(volume.nvlink_sent, 4, 8);
            expect_side(volume.nvlink_received, 4, 8);
            expect_side(volume.fabric_sent, 4, 8);
            expect_side(volume.fabric_received, 4, 8);
        }
    }
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        if (sent->message.route == TRAFFIC_FABRIC) {
            ck_assert_uint_eq(sent->source % 2, sent->message.destination % 2); // no rail is left
        }
    }
    for (uint32_t chunk = 0; chunk < 2; chunk++) { // each chunk follows when it has come itself
        const struct instant_message *first = only(&done, (struct wanted){MOE_TAG_DISPATCH, 0, 1, 1, chunk, false});
        const struct instant_message *second =
            only(&done, (struct wanted){MOE_TAG_DISPATCH_FORWARD, 1, 3, 0, chunk, false});
        ck_assert_uint_eq(first->message.bytes, 2 * UNIT);
        ck_assert_uint_eq(second->message.bytes, 2 * UNIT);
        ck_assert_uint_eq(second->posted_ps, first->delivered_ps);
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Data 1000 ps, acknowledgement 1000 ps: a step every 2000 ps. */
START_TEST(pairwise_goes_on_when_a_step_is_sent_and_received) {
    const struct experiment_traffic traffic = BF16(.algorithm = EXPERIMENT_ALGORITHM_PAIRWISE, .tokens_per_gpu = 4);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (uint32_t step = 1; step < 4; step++) {
            const uint32_t to = (rank + step) % 4;
            const struct instant_message *data =
                only(&done, (struct wanted){MOE_TAG_DISPATCH, rank, to, ANY, 0, false});
            ck_assert_uint_eq(data->message.bytes, 4 * UNIT);
            ck_assert_uint_eq(data->posted_ps, (step - 1) * 2 * LATENCY_PS);
            only(&done, (struct wanted){MOE_TAG_ACKNOWLEDGE, to, rank, 0, 0, false});
            only(&done, (struct wanted){MOE_TAG_ACKNOWLEDGE, to, rank, 1, 0, false}); // of combine
        }
        ck_assert_uint_eq(moe_phase_times(moe, rank).end_ps[MOE_PHASE_DISPATCH], 5 * LATENCY_PS);
        const struct moe_summary_volume control = moe_summary_volume(moe, rank, MOE_SUMMARY_COUNTS);
        ck_assert_uint_eq(control.fabric_sent.messages + control.nvlink_sent.messages, 2 * 3);
    }
    ck_assert_uint_eq(done.count, 4 * 2 * (3 + 3));
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* One expert, on GPU 0: step 1 of GPU 1 is to GPU 2, with nothing; it goes on at once, and GPU 0 waits for nobody that it sends to. */
START_TEST(pairwise_skips_empty_parts) {
    const struct experiment_traffic traffic = {.dispatch = true,
                                               .dispatch_type = EXPERIMENT_TYPE_BF16,
                                               .algorithm = EXPERIMENT_ALGORITHM_PAIRWISE,
                                               .gate = EXPERIMENT_GATE_ZIPF,
                                               .zipf_exponent = 8,
                                               .tokens_per_gpu = 1};
    struct error error;
    const struct moe_placement placement = {.n_ranks = 4, .ranks_per_domain = 2};
    const struct experiment_model one = {.hidden = HIDDEN, .experts = 4, .top_k = 1};
    struct moe *moe = moe_create(&one, &traffic, &placement, false, 1, &error);
    ck_assert_ptr_nonnull(moe);
    struct instant_run done = run(moe);
    uint64_t copies = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        if (moe_describe_tag(sent->message.tag).kind == MOE_TAG_DISPATCH) {
            ck_assert_uint_eq(sent->message.bytes, UNIT);
            copies++;
            // nobody waits for an acknowledgement before its only message; it may wait for what it receives
            ck_assert_uint_le(sent->posted_ps, 2 * LATENCY_PS);
        }
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        copies += moe_plan_counts(moe)->copies[rank * 4 + rank];
    }
    ck_assert_uint_eq(copies, 4);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* 10 chunks a peer: 8 leave at once, 2 when the first buffers are given back after 2000 ps; after 4000 ps the next peer has its turn. */
START_TEST(nccl_sends_to_a_few_peers_with_8_chunks_under_way) {
    static const uint32_t order[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
    const struct experiment_traffic traffic =
        BF16(.algorithm = EXPERIMENT_ALGORITHM_NCCL_P2P, .channels = 1, .tokens_per_gpu = 10, .chunk_bytes = UNIT);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (uint32_t turn = 0; turn < 3; turn++) {
            for (uint32_t chunk = 0; chunk < 10; chunk++) {
                const struct instant_message *sent =
                    only(&done, (struct wanted){MOE_TAG_DISPATCH, rank, order[rank][turn], ANY, chunk, false});
                ck_assert_uint_eq(sent->posted_ps, (turn * 4 + (chunk < 8 ? 0 : 2)) * LATENCY_PS);
                ck_assert_uint_eq(sent->message.bytes, UNIT);
            }
        }
    }
    ck_assert_uint_eq(done.count, 4 * 2 * 2 * 30);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Deltas of 8 ranks of one domain are 0, 1, 3, 6, 2, 7, 5, 4; of 6 those of 8 that are below 6. Two peers at a time. */
START_TEST(nccl_walks_peers_in_the_order_of_its_schedule) {
    static const uint32_t deltas[2][7] = {{1, 3, 6, 2, 7, 5, 4}, {1, 3, 2, 5, 4}};
    const uint32_t n_ranks = _i == 0 ? 8 : 6;
    const struct experiment_traffic traffic =
        BF16(.algorithm = EXPERIMENT_ALGORITHM_NCCL_P2P, .channels = 2, .tokens_per_gpu = 1, .chunk_bytes = UNIT);
    struct moe *moe = make(&traffic, n_ranks, n_ranks);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        for (uint32_t turn = 0; turn + 1 < n_ranks; turn++) {
            const uint32_t to = (rank + deltas[_i][turn]) % n_ranks;
            const struct instant_message *sent =
                only(&done, (struct wanted){MOE_TAG_DISPATCH, rank, to, ANY, 0, false});
            ck_assert_uint_eq(sent->posted_ps, turn / 2 * 2 * LATENCY_PS);
        }
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* 4 tokens in chunks of 2. GPU 0: 2 messages of 2 for GPU 1, 2 chunks of 2 to GPU 2, and 2 parts of 2 of GPU 2's tokens for GPU 1. */
START_TEST(hybrid_ep_has_chunks_on_both_levels) {
    const struct experiment_traffic traffic = BF16(.algorithm = EXPERIMENT_ALGORITHM_HYBRID_EP, .tokens_per_gpu = 4,
                                                   .chunk_tokens = 2, .exchange_counts = true);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase <= MOE_SUMMARY_COMBINE; phase++) {
            const struct moe_summary_volume volume = moe_summary_volume(moe, rank, phase);
            expect_side(volume.nvlink_sent, 4, 8);
            expect_side(volume.fabric_sent, 2, 4);
        }
        // a map has 4 × 4 bytes: one for the mate, one for the neighbour, and the mate's for the neighbour
        const struct moe_summary_volume maps = moe_summary_volume(moe, rank, MOE_SUMMARY_COUNTS);
        ck_assert_uint_eq(maps.fabric_sent.messages, 1);
        ck_assert_uint_eq(maps.fabric_sent.bytes, 16);
        ck_assert_uint_eq(maps.nvlink_sent.messages, 2);
        ck_assert_uint_eq(maps.nvlink_received.bytes, 32);
        ck_assert_uint_eq(moe_phase_times(moe, rank).counts_done_ps, 2 * LATENCY_PS);
    }
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        const struct instant_message *near = only(&done, (struct wanted){MOE_TAG_DISPATCH, 0, 1, 0, chunk, false});
        ck_assert_uint_eq(near->message.bytes, 2 * UNIT);
        const struct instant_message *far = only(&done, (struct wanted){MOE_TAG_DISPATCH, 2, 0, 0, chunk, false});
        const struct instant_message *part =
            only(&done, (struct wanted){MOE_TAG_DISPATCH_FORWARD, 0, 1, 1, chunk, false});
        ck_assert_uint_eq(part->posted_ps, far->delivered_ps);
        ck_assert_uint_eq(part->message.bytes, 2 * UNIT);
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* A byte for each of 2^20 tokens and 2^12 experts. */
START_TEST(a_routing_map_may_have_more_than_32_bits_of_bytes) {
    const struct experiment_model large = {.hidden = HIDDEN, .experts = 1 << 12, .top_k = 1};
    const struct experiment_traffic traffic = BF16(.algorithm = EXPERIMENT_ALGORITHM_HYBRID_EP, .chunk_tokens = 64,
                                                   .tokens_per_gpu = 1 << 20, .exchange_counts = true);
    const struct moe_placement placement = {.n_ranks = 2, .ranks_per_domain = 1};
    struct error error;
    struct moe *moe = moe_create(&large, &traffic, &placement, false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    ck_assert_uint_eq(moe_summary_volume(moe, 0, MOE_SUMMARY_COUNTS).fabric_sent.bytes, UINT64_C(1) << 32);
    moe_free(moe);
}
END_TEST

/* What was dispatched goes out again as gradients, what was combined comes back again; nobody is asked for counts a second time. */
START_TEST(the_backward_pass_repeats_the_forward_pass_without_counts) {
    const struct experiment_traffic traffic =
        BF16(.algorithm = (enum experiment_algorithm)_i, .combine_backward = true, .dispatch_backward = true,
             .combine_backward_type = EXPERIMENT_TYPE_FP8, .dispatch_backward_type = EXPERIMENT_TYPE_NVFP4,
             .turn_time_ps = 500, .expert_time_ps = 70, .expert_backward_time_ps = 140, .exchange_counts = true,
             .tokens_per_gpu = 6, .chunk_tokens = 2, .chunk_bytes = 1, .channels = 2);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    const uint32_t header = _i == EXPERIMENT_ALGORITHM_DIRECT ? 16 : 0;
    const uint64_t units[] = {UNIT + header, UNIT, HIDDEN + 2 * 4 + header, HIDDEN / 2 + HIDDEN / 16};
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct moe_phase_times times = moe_phase_times(moe, rank);
        for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
            const enum moe_summary_phase name = MOE_SUMMARY_DISPATCH + phase, before = MOE_SUMMARY_DISPATCH + phase % 2;
            const struct moe_summary_volume volume = moe_summary_volume(moe, rank, name);
            const struct moe_summary_volume forward = moe_summary_volume(moe, rank, before);
            ck_assert_uint_eq(moe_summary_unit_bytes(moe, name), units[phase]);
            ck_assert_uint_eq(volume.fabric_sent.bytes / units[phase], forward.fabric_sent.bytes / units[phase % 2]);
            ck_assert_uint_eq(volume.nvlink_sent.messages, forward.nvlink_sent.messages);
            ck_assert_uint_eq(volume.nvlink_received.bytes / units[phase],
                              forward.nvlink_received.bytes / units[phase % 2]);
        }
        ck_assert_uint_eq(times.begin_ps[MOE_PHASE_COMBINE_BACKWARD], times.end_ps[MOE_PHASE_COMBINE] + 500);
        ck_assert_uint_eq(times.begin_ps[MOE_PHASE_DISPATCH_BACKWARD], times.end_ps[MOE_PHASE_COMBINE_BACKWARD] + 140);
    }
    const struct instant_message *counts = NULL;
    find(&done, (struct wanted){MOE_TAG_COUNTS, ANY, ANY, ANY, ANY, false}, &counts);
    ck_assert_ptr_nonnull(counts);
    for (uint32_t i = 0; i < done.count; i++) {
        if (moe_describe_tag(done.messages[i].message.tag).kind == MOE_TAG_COUNTS) {
            ck_assert_uint_le(done.messages[i].posted_ps, LATENCY_PS);
        }
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Copies that reach their expert's GPU: every token's four of them, wherever they went before. */
START_TEST(every_copy_arrives_once) {
    const struct experiment_traffic traffic =
        BF16(.algorithm = (enum experiment_algorithm)_i, .tokens_per_gpu = 5, .chunk_tokens = 2,
             .chunk_bytes = 2 * UNIT, .channels = 2, .exchange_counts = true);
    struct moe *moe = make(&traffic, 4, 2);
    struct instant_run done = run(moe);
    const bool by_domain = experiment_algorithm_by_domain(traffic.algorithm);
    uint64_t arrived[4] = {0};
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        const struct moe_tag tag = moe_describe_tag(sent->message.tag);
        const bool copies = tag.kind == MOE_TAG_DISPATCH || tag.kind == MOE_TAG_DISPATCH_FORWARD;
        const bool passes = traffic.algorithm == EXPERIMENT_ALGORITHM_PXN && tag.kind == MOE_TAG_DISPATCH &&
                            tag.domain != sent->source / 2;
        arrived[sent->message.destination] += copies && !passes ? sent->message.bytes : 0;
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        ck_assert_uint_eq(arrived[rank], (uint64_t)3 * 5 * moe_summary_unit_bytes(moe, MOE_SUMMARY_DISPATCH));
    }
    /* over the fabric: 2 remote GPUs for each copy, or a remote domain for each token */
    const struct moe_summary_extent extent = moe_summary_extent(moe, MOE_SUMMARY_DISPATCH);
    ck_assert_uint_eq(extent.total.fabric_sent.bytes,
                      (uint64_t)4 * 5 * (by_domain ? 1 : 2) * moe_summary_unit_bytes(moe, MOE_SUMMARY_DISPATCH));
    instant_free(&done);
    moe_free(moe);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moe_algorithms");
    TCase *cases = tcase_create("by hand");
    tcase_add_test(cases, pxn_goes_over_the_gpu_on_the_rail_of_the_destination);
    tcase_add_test(cases, pairwise_goes_on_when_a_step_is_sent_and_received);
    tcase_add_test(cases, pairwise_skips_empty_parts);
    tcase_add_test(cases, nccl_sends_to_a_few_peers_with_8_chunks_under_way);
    tcase_add_loop_test(cases, nccl_walks_peers_in_the_order_of_its_schedule, 0, 2);
    tcase_add_test(cases, hybrid_ep_has_chunks_on_both_levels);
    tcase_add_test(cases, a_routing_map_may_have_more_than_32_bits_of_bytes);
    tcase_add_loop_test(cases, the_backward_pass_repeats_the_forward_pass_without_counts, 0, EXPERIMENT_ALGORITHMS);
    tcase_add_loop_test(cases, every_copy_arrives_once, 0, EXPERIMENT_ALGORITHMS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
