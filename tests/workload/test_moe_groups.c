// SPDX-License-Identifier: GPL-3.0-or-later
/* Where the ranks of an expert-parallel group are: one after the other, or strided over the cluster. */
#include "run_suite.h"
#include "workload/moe_plan.h"
#include "workload/moe_summary.h"

#include <check.h>

static const struct experiment_model model = {.hidden = 256, .experts = 32, .top_k = 4};

static struct moe *make(const struct experiment_traffic *traffic, struct moe_placement placement) {
    struct error error;
    struct moe *moe = moe_create(&model, traffic, &placement, false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    return moe;
}

/* Two placements of the same groups: the same tokens, other ranks. */
START_TEST(strided_groups_are_other_traffic_unless_there_is_one_group) {
    const uint64_t pinned[] = {UINT64_C(0xd404215469d93878),
                               UINT64_C(0xe668d2843fec5aa7)}; /* of consecutive groups: they must never change */
    for (uint32_t one_group = 0; one_group < 2; one_group++) {
        struct experiment_traffic traffic = {.dispatch = true,
                                             .combine = true,
                                             .dispatch_type = EXPERIMENT_TYPE_FP8,
                                             .combine_type = EXPERIMENT_TYPE_BF16,
                                             .jitter_ps = 50000,
                                             .expert_time_ps = 7000,
                                             .algorithm = EXPERIMENT_ALGORITHM_DIRECT,
                                             .tokens_per_gpu = 20,
                                             .expert_parallelism = one_group ? 0 : 8,
                                             .group_placement = EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE};
        const struct moe_placement placement = {.n_ranks = one_group ? 32 : 24, .ranks_per_domain = 4};
        struct moe *consecutive = make(&traffic, placement);
        traffic.group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED;
        struct moe *strided = make(&traffic, placement);
        ck_assert_uint_eq(moe_summary_digest(consecutive), pinned[one_group]);
        ck_assert((moe_summary_digest(consecutive) == moe_summary_digest(strided)) == one_group);
        moe_free(consecutive);
        moe_free(strided);
    }
}
END_TEST

START_TEST(strided_ranks_and_their_places_are_inverse) {
    const struct experiment_traffic traffic = {.dispatch = true,
                                               .combine = true,
                                               .dispatch_type = EXPERIMENT_TYPE_FP8,
                                               .combine_type = EXPERIMENT_TYPE_BF16,
                                               .algorithm = EXPERIMENT_ALGORITHM_TWO_HOP,
                                               .tokens_per_gpu = 1,
                                               .chunk_tokens = 1,
                                               .expert_parallelism = 8,
                                               .group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED};
    struct moe *moe = make(&traffic, (struct moe_placement){.n_ranks = 48, .ranks_per_domain = 2});
    const struct moe_counts *counts = moe_plan_counts(moe);
    /* 24 domains, 6 groups: group 1 has the domains 1, 7, 13, 19 */
    static const uint32_t group_one[] = {2, 3, 14, 15, 26, 27, 38, 39};
    for (uint32_t local = 0; local < 8; local++) {
        ck_assert_uint_eq(moe_counts_rank(counts, 1, local), group_one[local]);
    }
    for (uint32_t rank = 0; rank < 48; rank++) {
        const uint32_t group = moe_counts_group(counts, rank), local = moe_counts_local(counts, rank);
        ck_assert_uint_eq(moe_counts_rank(counts, group, local), rank);
        ck_assert_uint_eq(moe_counts_mate(counts, rank, moe_counts_domain(counts, rank)), rank);
        ck_assert_uint_eq(moe_counts_row_rank(counts, rank, moe_counts_index(counts, rank)), rank);
    }
    moe_free(moe);
}
END_TEST

/* Every rank is in one place of one group; another seed draws other groups; a token's domains are counted once each, wherever they are. */
START_TEST(random_groups_divide_the_ranks) {
    const struct moe_placement placement = {.n_ranks = 24, .ranks_per_domain = 4};
    const struct experiment_traffic traffic = {.tokens_per_gpu = 50,
                                               .expert_parallelism = 8,
                                               .group_placement = EXPERIMENT_GROUP_PLACEMENT_RANDOM,
                                               .algorithm = EXPERIMENT_ALGORITHM_DIRECT,
                                               .dispatch = true};
    struct moe *one = moe_create(&model, &traffic, &placement, false, 1, NULL);
    struct moe *other = moe_create(&model, &traffic, &placement, false, 2, NULL);
    const struct moe_counts *counts = moe_plan_counts(one);
    uint32_t members[3] = {0}, moved = 0;
    for (uint32_t rank = 0; rank < 24; rank++) {
        const uint32_t group = moe_counts_group(counts, rank), local = moe_counts_local(counts, rank);
        ck_assert_uint_eq(moe_counts_rank(counts, group, local), rank);
        members[group]++;
        moved += group != moe_counts_group(moe_plan_counts(other), rank);
        ck_assert_uint_le(counts->domains_sent[rank], 50 * 4);
    }
    ck_assert(members[0] == 8 && members[1] == 8 && members[2] == 8);
    ck_assert_uint_gt(moved, 0);
    moe_free(one);
    moe_free(other);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moe-groups");
    TCase *cases = tcase_create("moe-groups");
    tcase_add_test(cases, strided_groups_are_other_traffic_unless_there_is_one_group);
    tcase_add_test(cases, strided_ranks_and_their_places_are_inverse);
    tcase_add_test(cases, random_groups_divide_the_ranks);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
