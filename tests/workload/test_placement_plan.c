// SPDX-License-Identifier: GPL-3.0-or-later
/* Plans whose experts sit elsewhere, and have replicas. */
#include "base/hash.h"
#include "workload/model.h"
#include "workload/moe_plan.h"
#include "workload/moe_summary.h"
#include "workload/placement_choose.h"
#include "workload/placement_near.h"

#include "instant.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

static struct experiment experiment_of(enum experiment_algorithm algorithm, enum experiment_placement_kind kind) {
    return (struct experiment){.model = {.hidden = 256, .experts = 32, .top_k = 4, .groups = 4, .groups_kept = 4},
                               .traffic = {.tokens_per_gpu = 64,
                                           .gate = EXPERIMENT_GATE_ZIPF,
                                           .zipf_exponent = 1.1,
                                           .algorithm = algorithm,
                                           .chunk_tokens = 16,
                                           .dispatch = true,
                                           .combine = true,
                                           .exchange_counts = true},
                               .placement = {.kind = kind, .history_tokens = 4096}};
}

static const struct moe_placement ranks = {.n_ranks = 16, .ranks_per_domain = 4};

static struct moe *make(const struct experiment *experiment, struct placement **experts) {
    struct moe_placement placement = ranks;
    struct error error = {0};
    ck_assert_msg(placement_choose(experiment, &ranks, 1, experts, &error), "%s", error.message);
    placement.experts = *experts;
    placement.even_replicas = experiment->placement.replica_choice == EXPERIMENT_REPLICA_EVEN;
    struct moe *moe = moe_create(&experiment->model, &experiment->traffic, &placement, false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    return moe;
}

START_TEST(contiguous_said_aloud_is_the_same_traffic) {
    for (int algorithm = 0; algorithm < 2; algorithm++) {
        struct experiment experiment = experiment_of(algorithm, EXPERIMENT_PLACEMENT_CONTIGUOUS);
        struct placement *none, *experts;
        struct moe *plain = make(&experiment, &none);
        ck_assert_ptr_null(none);
        const struct placement_shape shape = {
            .experts = 32, .groups = 4, .replicas = 32, .ranks = 16, .domain_ranks = 4};
        experts = placement_rule(EXPERIMENT_PLACEMENT_CONTIGUOUS, &shape, NULL);
        struct moe_placement placement = ranks;
        placement.experts = experts;
        struct moe *said = moe_create(&experiment.model, &experiment.traffic, &placement, false, 1, NULL);
        ck_assert(moe_summary_digest(plain) == moe_summary_digest(said));
        moe_free(plain);
        moe_free(said);
        placement_free(experts);
    }
}
END_TEST

/* The rank that a token's copy must go to, found the long way. */
static uint32_t destination(const struct experiment *experiment, const struct placement *experts, uint64_t seed,
                            uint32_t source, uint32_t token, uint32_t expert) {
    uint32_t near[64], count = 0, best = 3;
    const bool even = experiment->placement.replica_choice == EXPERIMENT_REPLICA_EVEN;
    for (uint32_t i = experts->first[expert]; i < experts->first[expert + 1]; i++) {
        const uint32_t rank = experts->rank[i];
        const uint32_t far = even ? 0 : rank == source ? 0 : rank / 4 == source / 4 ? 1 : 2;
        count = far < best ? 0 : count;
        best = far < best ? far : best;
        if (far == best) {
            near[count++] = rank;
        }
    }
    const uint64_t stream = hash_stream(seed, HASH_PURPOSE_REPLICA, source, token);
    return near[count == 1 ? 0 : hash_below(hash_draw(stream, expert), count)];
}

/* Every kind of placement, both algorithms, with and without replicas, both choices: copies at each rank and tokens that cross domains. */
static void compare_counts(const struct experiment *experiment) {
    struct placement *experts;
    struct moe *moe = make(experiment, &experts);
    const struct moe_counts *counts = moe_plan_counts(moe);
    struct moe_counts_shape shape;
    struct gate *gate = moe_prepare(&experiment->model, &experiment->traffic, &ranks, 1, &shape, NULL);
    uint64_t rank_tokens[16] = {0}, crossing = 0, counted = 0;
    uint32_t picks[GATE_LARGEST_TOP_K];
    for (uint32_t source = 0; source < 16; source++) {
        for (uint32_t token = 0; token < 64; token++) {
            unsigned domains = 0;
            gate_draw(gate, gate_token_stream(shape.seed, source, token), picks);
            for (int i = 0; i < 4; i++) {
                const uint32_t rank = destination(experiment, experts, shape.seed, source, token, picks[i]);
                rank_tokens[rank]++;
                domains |= 1U << rank / 4;
            }
            crossing += (uint64_t)__builtin_popcount(domains & ~(1U << source / 4));
        }
    }
    for (uint32_t rank = 0; rank < 16; rank++) {
        ck_assert_uint_eq(moe_summary_rank_tokens(moe, rank), rank_tokens[rank]);
    }
    for (uint32_t i = 0; counts->shape.two_hop && i < 16 * counts->group_domains; i++) {
        counted += counts->crossing[i];
    }
    ck_assert_uint_eq(counted, counts->shape.two_hop ? crossing : 0);
    ck_assert_uint_eq(counts->experts_per_rank, experts->largest_slots);
    for (uint32_t expert = 0; expert < 32; expert++) {
        ck_assert_uint_eq(counts->expert_rank[expert], experts->rank[experts->first[expert]]);
    }
    gate_free(gate);
    moe_free(moe);
    placement_free(experts);
}

START_TEST(copies_go_where_the_placement_says) {
    for (int kind = EXPERIMENT_PLACEMENT_ROUND_ROBIN; kind < EXPERIMENT_PLACEMENT_FILE; kind++) {
        for (int variant = 0; variant < 8; variant++) {
            struct experiment experiment = experiment_of(variant & 1, (enum experiment_placement_kind)kind);
            experiment.placement.redundant_experts =
                experiment_placement_learns(&experiment.placement) && variant & 2 ? 16 : 0;
            experiment.placement.replica_choice = variant & 4 ? EXPERIMENT_REPLICA_EVEN : EXPERIMENT_REPLICA_NEAREST;
            compare_counts(&experiment);
        }
    }
}
END_TEST

START_TEST(a_plan_with_replicas_runs_to_its_end) {
    for (int algorithm = 0; algorithm < 2; algorithm++) {
        struct experiment experiment = experiment_of(algorithm, EXPERIMENT_PLACEMENT_EPLB);
        struct placement *experts;
        experiment.placement.redundant_experts = 16;
        struct moe *moe = make(&experiment, &experts);
        struct traffic traffic = moe_traffic(moe);
        struct instant_run run = instant_run(&traffic, 0, 1000, 5);
        ck_assert(moe_finished(moe));
        instant_free(&run);
        moe_free(moe);
        placement_free(experts);
    }
}
END_TEST

/* Hot experts have replicas, so the fullest rank is less full. */
START_TEST(replicas_by_load_even_out_ranks) {
    struct experiment plain = experiment_of(EXPERIMENT_ALGORITHM_DIRECT, EXPERIMENT_PLACEMENT_CONTIGUOUS);
    plain.traffic.tokens_per_gpu = 1024;
    struct experiment balanced = plain;
    struct placement *none, *experts;
    balanced.placement.kind = EXPERIMENT_PLACEMENT_EPLB_GLOBAL;
    balanced.placement.redundant_experts = 16;
    balanced.placement.replica_choice = EXPERIMENT_REPLICA_EVEN;
    struct moe *before = make(&plain, &none), *after = make(&balanced, &experts);
    const struct moe_summary_balance uneven = moe_summary_rank_balance(before), even = moe_summary_rank_balance(after);
    ck_assert(uneven.mean == even.mean);
    ck_assert_double_gt((double)uneven.largest / uneven.mean, 2);
    ck_assert_double_lt((double)even.largest / even.mean, 1.15);
    moe_free(before);
    moe_free(after);
    placement_free(experts);
}
END_TEST

/* Popularity is the seed's own unless popularity_seed fixes it; tokens are other ones in any case. */
START_TEST(popularity_seed_fixes_which_experts_are_popular) {
    struct experiment experiment = experiment_of(EXPERIMENT_ALGORITHM_DIRECT, EXPERIMENT_PLACEMENT_CONTIGUOUS);
    uint32_t hottest[2][2];
    uint64_t digest[2];
    for (int fixed = 0; fixed < 2; fixed++) {
        experiment.traffic.popularity_seed = fixed ? 4 : 0;
        for (int seed = 0; seed < 2; seed++) {
            struct moe *moe =
                moe_create(&experiment.model, &experiment.traffic, &ranks, false, 10 + (uint64_t)seed, NULL);
            hottest[fixed][seed] = moe_summary_expert_balance(moe).index;
            digest[seed] = moe_summary_digest(moe);
            moe_free(moe);
        }
        ck_assert(digest[0] != digest[1]);
    }
    ck_assert_uint_ne(hottest[0][0], hottest[0][1]);
    ck_assert_uint_eq(hottest[1][0], hottest[1][1]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("placement plan");
    TCase *tests = tcase_create("placement plan");
    tcase_add_test(tests, contiguous_said_aloud_is_the_same_traffic);
    tcase_add_test(tests, copies_go_where_the_placement_says);
    tcase_add_test(tests, a_plan_with_replicas_runs_to_its_end);
    tcase_add_test(tests, replicas_by_load_even_out_ranks);
    tcase_add_test(tests, popularity_seed_fixes_which_experts_are_popular);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
