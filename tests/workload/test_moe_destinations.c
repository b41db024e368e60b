// SPDX-License-Identifier: GPL-3.0-or-later
/* Byte and destination counts of the generator against published definitions. MOE_DESTINATIONS_CSV is the table's path. */
#include "run_suite.h"
#include "workload/moe_summary.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { TOKENS = 4096 };

static const double tolerance = 0.015;

struct row {
    char name[32];
    unsigned nodes, gpus, experts, top_k, kept;
    double nodes_per_token, ranks_per_token, logical_mb[2], wire_mb[2],
        nvl_mb[2]; /* [0] FP8 dispatch, [1] BF16 combine */
};

/* Means over ranks of what a plan says. */
struct measured {
    double nodes_per_token, ranks_per_token, logical_mb[2], wire_mb[2], nvl_mb[2];
};

static struct measured measure(uint32_t nodes, uint32_t gpus, uint32_t experts, uint32_t top_k, uint32_t tokens,
                               enum experiment_gate gate, uint32_t kept) {
    const struct experiment_model model = {.preset = "deepseek-v3", .experts = experts, .top_k = top_k};
    const struct experiment_traffic traffic = {.tokens_per_gpu = tokens,
                                               .gate = gate,
                                               .nodes_kept = kept,
                                               .algorithm = EXPERIMENT_ALGORITHM_TWO_HOP,
                                               .dispatch_type = EXPERIMENT_TYPE_FP8,
                                               .combine_type = EXPERIMENT_TYPE_BF16,
                                               .dispatch = true,
                                               .combine = true,
                                               .chunk_tokens = 64};
    const struct moe_placement placement = {.n_ranks = nodes * gpus, .ranks_per_domain = gpus};
    struct error error;
    struct moe *moe = moe_create(&model, &traffic, &placement, false, 1, &error);
    ck_assert_msg(moe != NULL, "%s", error.message);
    struct measured measured = {0};
    const double ranks = placement.n_ranks;
    for (uint32_t rank = 0; rank < placement.n_ranks; rank++) {
        measured.nodes_per_token += (double)moe_plan_counts(moe)->domains_sent[rank] / tokens / ranks;
        measured.ranks_per_token += (double)moe_plan_counts(moe)->ranks_received[rank] / tokens / ranks;
        for (int way = 0; way < 2; way++) {
            const struct moe_summary_logical logical =
                moe_summary_logical(moe, rank, way ? MOE_SUMMARY_COMBINE : MOE_SUMMARY_DISPATCH);
            measured.logical_mb[way] += (double)logical.domains_bytes / 1e6 / ranks;
            measured.wire_mb[way] += (double)logical.fabric_wire_bytes / 1e6 / ranks;
            measured.nvl_mb[way] += (double)logical.ranks_bytes / 1e6 / ranks;
        }
    }
    moe_free(moe);
    return measured;
}

static void expect(const char *name, const char *what, double measured, double published) {
    ck_assert_msg(fabs(measured - published) <= tolerance * published, "%s %s: %g, published %g", name, what, measured,
                  published);
}

static int read_rows(struct row *rows, int limit) {
    FILE *file = fopen(MOE_DESTINATIONS_CSV, "r");
    ck_assert_ptr_nonnull(file);
    char line[512];
    int count = 0;
    while (count < limit && fgets(line, sizeof line, file)) {
        struct row *row = &rows[count];
        count += sscanf(line, "%31[^,],%u,%u,%u,%u,%u,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", row->name, &row->nodes,
                        &row->gpus, &row->experts, &row->top_k, &row->kept, &row->nodes_per_token,
                        &row->ranks_per_token, &row->logical_mb[0], &row->logical_mb[1], &row->wire_mb[0],
                        &row->wire_mb[1], &row->nvl_mb[0], &row->nvl_mb[1]) == 14;
    }
    fclose(file);
    return count;
}

START_TEST(node_limited_and_uniform_gates_give_the_oracle_rows) {
    struct row rows[16];
    const int count = read_rows(rows, 16);
    ck_assert_int_eq(count, 7);
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        const enum experiment_gate gate = row->kept ? EXPERIMENT_GATE_NODE_LIMITED : EXPERIMENT_GATE_UNIFORM;
        const struct measured measured =
            measure(row->nodes, row->gpus, row->experts, row->top_k, TOKENS, gate, row->kept);
        expect(row->name, "nodes a token", measured.nodes_per_token, row->nodes_per_token);
        expect(row->name, "ranks a token", measured.ranks_per_token, row->ranks_per_token);
        for (int way = 0; way < 2; way++) {
            expect(row->name, "RDMA logical MB", measured.logical_mb[way], row->logical_mb[way]);
            expect(row->name, "RDMA wire MB", measured.wire_mb[way], row->wire_mb[way]);
            expect(row->name, "NVL MB", measured.nvl_mb[way], row->nvl_mb[way]);
        }
    }
}
END_TEST

/* DeepSeek's own rule (8 groups scored by the sum of the top 2, 4 kept): nodes and ranks a token at EP16, EP32 and EP64. */
START_TEST(group_limited_gate_gives_deepseeks_destinations) {
    const double published[3][2] = {{1.969, 5.73}, {3.124, 6.85}, {3.964, 7.49}};
    for (uint32_t i = 0; i < 3; i++) {
        const struct measured measured = measure(2U << i, 8, 256, 8, 2048, EXPERIMENT_GATE_GROUP_LIMITED, 0);
        expect("group-limited", "nodes a token", measured.nodes_per_token, published[i][0]);
        expect("group-limited", "ranks a token", measured.ranks_per_token, published[i][1]);
    }
}
END_TEST

/* DeepEP low-latency: every copy is a message of 7408 bytes (FP8), 7.586 MB a GPU at 128 tokens; on NVLink + RDMA at EP16 half of it leaves the node. */
START_TEST(direct_copies_have_the_low_latency_byte_counts) {
    const struct experiment_model model = {.preset = "deepseek-v3"};
    const struct experiment_traffic traffic = {.tokens_per_gpu = 128,
                                               .algorithm = EXPERIMENT_ALGORITHM_DIRECT,
                                               .dispatch_type = EXPERIMENT_TYPE_FP8,
                                               .combine_type = EXPERIMENT_TYPE_BF16,
                                               .dispatch = true,
                                               .combine = true};
    const struct moe_placement placement = {.n_ranks = 16, .ranks_per_domain = 8};
    enum { SEEDS = 32 };
    double wire = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct moe *moe = moe_create(&model, &traffic, &placement, false, seed, NULL);
        ck_assert_uint_eq(moe_summary_logical(moe, 5, MOE_SUMMARY_DISPATCH).copies_bytes, 7585792);
        ck_assert_uint_eq(moe_summary_logical(moe, 5, MOE_SUMMARY_COMBINE).copies_bytes, 14680064);
        for (uint32_t rank = 0; rank < 16; rank++) {
            wire += (double)moe_summary_logical(moe, rank, MOE_SUMMARY_DISPATCH).fabric_wire_bytes / 16 / SEEDS;
        }
        moe_free(moe);
    }
    ck_assert_double_eq_tol(wire / 1e6, 3.793, 0.0055 * 3.793); /* four standard errors of 32 × 16384 copies */
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moe_destinations");
    TCase *cases = tcase_create("moe_destinations");
    tcase_add_test(cases, node_limited_and_uniform_gates_give_the_oracle_rows);
    tcase_add_test(cases, group_limited_gate_gives_deepseeks_destinations);
    tcase_add_test(cases, direct_copies_have_the_low_latency_byte_counts);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
