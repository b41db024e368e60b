// SPDX-License-Identifier: GPL-3.0-or-later
/* Making a plan: what is refused, how tags are packed, and the load of a hot expert. */
#include "run_suite.h"
#include "workload/moe_summary.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(tags_survive_packing) {
    const uint32_t domains[] = {0, 1, 77, MOE_TAG_LARGEST_DOMAINS - 1};
    const uint32_t chunks[] = {0, 1, 4711, MOE_TAG_LARGEST_CHUNKS - 1};
    for (enum moe_tag_kind kind = 0; kind < MOE_TAG_KINDS; kind++) {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                const bool backward = (i + j) % 2 != 0;
                const struct moe_tag tag = moe_describe_tag(moe_tag_pack(kind, backward, domains[i], chunks[j]));
                ck_assert_int_eq(tag.backward, backward);
                ck_assert_int_eq(tag.kind, kind);
                ck_assert_uint_eq(tag.domain, domains[i]);
                ck_assert_uint_eq(tag.chunk, chunks[j]);
            }
        }
    }
    ck_assert_str_eq(moe_tag_kind_name(MOE_TAG_DISPATCH_FORWARD), "dispatch_forward");
}
END_TEST

/* 256 experts on 256 GPUs, one at 5 × the mean: its rank is the hot one, and its NIC takes 3/4 of 5 × 16 copies a token of a GPU. */
START_TEST(hot_expert_is_incast_at_one_port) {
    const struct experiment_model model = {.preset = "deepseek-v3"};
    const struct experiment_traffic traffic = {.tokens_per_gpu = 512,
                                               .gate = EXPERIMENT_GATE_HOT_EXPERT,
                                               .hot_expert_factor = 5,
                                               .hot_expert = 130,
                                               .algorithm = EXPERIMENT_ALGORITHM_DIRECT,
                                               .dispatch_type = EXPERIMENT_TYPE_FP8,
                                               .dispatch = true};
    const struct moe_placement placement = {.n_ranks = 256, .ranks_per_domain = 64};
    struct moe *moe = moe_create(&model, &traffic, &placement, false, 1, NULL);
    const struct moe_summary_balance ranks = moe_summary_rank_balance(moe);
    const struct moe_summary_balance experts = moe_summary_expert_balance(moe);
    ck_assert_uint_eq(ranks.index, 130);
    ck_assert_uint_eq(experts.index, 130);
    ck_assert_double_eq_tol(ranks.mean, 512 * 8, 1e-9);
    ck_assert_double_eq_tol((double)ranks.largest / ranks.mean, 5, 0.12);
    ck_assert_uint_eq(moe_summary_rank_tokens(moe, 130), moe_summary_expert_tokens(moe, 0, 130));
    const struct moe_summary_extent extent = moe_summary_extent(moe, MOE_SUMMARY_DISPATCH);
    ck_assert_double_eq_tol((double)extent.largest.fabric_received.bytes / 1e6, 114, 2.5);
    ck_assert_uint_eq(extent.total.fabric_received.bytes, extent.total.fabric_sent.bytes);
    moe_free(moe);
}
END_TEST

static void expect_refusal(struct experiment_traffic traffic, struct moe_placement placement, bool pacing,
                           const char *part) {
    const struct experiment_model model = {.hidden = 256, .experts = 32, .top_k = 4};
    struct error error = {0};
    ck_assert_ptr_null(moe_create(&model, &traffic, &placement, pacing, 0, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
}

START_TEST(contradictions_are_refused) {
    const struct experiment_traffic good = {.tokens_per_gpu = 8,
                                            .algorithm = EXPERIMENT_ALGORITHM_TWO_HOP,
                                            .chunk_tokens = 4,
                                            .dispatch = true,
                                            .combine = true};
    struct experiment_traffic bad = good;
    const struct moe_placement placement = {.n_ranks = 16, .ranks_per_domain = 4};
    bad.dispatch = bad.combine = false;
    expect_refusal(bad, placement, false, "no phase");
    expect_refusal(good, placement, true, "exchange_counts");
    bad = good;
    bad.tokens_per_gpu = 0;
    expect_refusal(bad, placement, false, "tokens a GPU");
    bad = good;
    bad.expert_parallelism = 5;
    expect_refusal(bad, placement, false, "groups of 5");
    bad.expert_parallelism = 3;
    expect_refusal(bad, (struct moe_placement){.n_ranks = 12, .ranks_per_domain = 4}, false, "spread evenly");
    bad.expert_parallelism = 4;
    expect_refusal(bad, (struct moe_placement){.n_ranks = 12, .ranks_per_domain = 6}, false, "whole NVLink domains");
    bad.algorithm = EXPERIMENT_ALGORITHM_DIRECT;
    bad.expert_parallelism = 8;
    bad.group_placement = EXPERIMENT_GROUP_PLACEMENT_RANDOM;
    bad.algorithm = EXPERIMENT_ALGORITHM_TWO_HOP;
    expect_refusal(bad, placement, false, "each of its NVLink domains");
    bad.algorithm = EXPERIMENT_ALGORITHM_DIRECT;
    bad.group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED;
    expect_refusal(bad, (struct moe_placement){.n_ranks = 24, .ranks_per_domain = 6}, false, "strided groups");
    bad = good;
    bad.chunk_tokens = 0;
    expect_refusal(bad, placement, false, "tokens a chunk");
    bad.chunk_tokens = 1;
    bad.tokens_per_gpu = 1 << 16;
    expect_refusal(bad, placement, false, "too many");
    bad = good;
    bad.gate = EXPERIMENT_GATE_NODE_LIMITED;
    expect_refusal(bad, placement, false, "keep so many");
    bad.nodes_kept = 4;
    bad.node_gpus = 3;
    expect_refusal(bad, placement, false, "nodes of 3");
    bad = good;
    bad.algorithm = EXPERIMENT_ALGORITHM_PXN;
    bad.expert_parallelism = 8;
    snprintf(bad.gpus, sizeof bad.gpus, "0-7");
    expect_refusal(bad, (struct moe_placement){.n_ranks = MOE_TAG_LARGEST_DOMAINS + 8, .ranks_per_domain = 1}, false,
                   "8200 domains of a cluster are too many");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moe_create");
    TCase *cases = tcase_create("moe_create");
    tcase_add_test(cases, tags_survive_packing);
    tcase_add_test(cases, hot_expert_is_incast_at_one_port);
    tcase_add_test(cases, contradictions_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
