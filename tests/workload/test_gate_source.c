// SPDX-License-Identifier: GPL-3.0-or-later
/* Gates whose popularity varies or is measured, forced balance and capacities. EXPERT_FREQUENCY_CSV is the example's path. */
#include "base/memory.h"
#include "run_suite.h"
#include "workload/expert_load_csv.h"
#include "workload/gate_source.h"
#include "workload/moe_summary.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERTS = 64, TOP_K = 6 };

static struct gate_parameters parameters_of(enum experiment_gate kind, uint32_t tokens) {
    return (struct gate_parameters){.kind = kind,
                                    .experts = EXPERTS,
                                    .top_k = TOP_K,
                                    .tokens = tokens,
                                    .ranks = 4,
                                    .seed = 5,
                                    .zipf_exponent = 1,
                                    .routing = {.alpha = 1}};
}

static struct gate *make(const struct gate_parameters *parameters) {
    struct error error = {0};
    struct gate *gate = gate_create(parameters, &error);
    ck_assert_msg(gate != NULL, "%s", error.message);
    return gate;
}

/* Counts the picks of a source's tokens first … until - 1; returns how many were dropped. */
static uint32_t tally(const struct gate *gate, uint32_t source, uint32_t first, uint32_t until, uint32_t *seen) {
    struct gate_source walk = {0};
    uint32_t repeated = 0;
    gate_source_open(&walk, gate, 5, source);
    for (uint32_t token = first; token < until; token++) {
        uint32_t picks[GATE_LARGEST_TOP_K];
        const uint32_t n = gate_source_draw(&walk, token, picks);
        for (uint32_t i = 0; i < n; i++) {
            seen[picks[i]]++;
            for (uint32_t j = 0; j < i; j++) {
                repeated += picks[i] == picks[j];
            }
        }
    }
    ck_assert_uint_eq(repeated, 0);
    const uint32_t dropped = walk.dropped;
    gate_source_close(&walk);
    return dropped;
}

START_TEST(balanced_gate_loads_every_expert_alike) {
    const struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_BALANCED, 3200);
    struct gate *gate = make(&parameters);
    for (uint32_t source = 0; source < 3; source++) {
        uint32_t seen[EXPERTS] = {0};
        tally(gate, source, 0, 3200, seen); /* rounds of 32 tokens */
        for (uint32_t i = 0; i < EXPERTS; i++) {
            ck_assert_uint_eq(seen[i], 3200 * TOP_K / EXPERTS);
        }
        tally(gate, source, 32, 37, seen); /* within a round every expert is at most a turn ahead */
        for (uint32_t i = 0; i < EXPERTS; i++) {
            ck_assert_uint_le(seen[i] - 3200 * TOP_K / EXPERTS, 1);
        }
    }
    gate_free(gate);
}
END_TEST

/* Which experts go together is drawn anew: over many rounds every pair meets about equally often. */
START_TEST(balanced_gate_pairs_experts_by_chance) {
    enum { TOKENS = 64000 };
    const struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_BALANCED, TOKENS);
    struct gate *gate = make(&parameters);
    struct gate_source walk = {0};
    uint32_t together[EXPERTS] = {0}, with_first = 0;
    gate_source_open(&walk, gate, 5, 0);
    for (uint32_t token = 0; token < TOKENS; token++) {
        uint32_t picks[TOP_K];
        bool first = false;
        gate_source_draw(&walk, token, picks);
        for (uint32_t i = 0; i < TOP_K; i++) {
            first = first || picks[i] == 0;
        }
        for (uint32_t i = 0; first && i < TOP_K; i++) {
            together[picks[i]]++;
        }
        with_first += first;
    }
    gate_source_close(&walk);
    const double expected = (double)with_first * (TOP_K - 1) / (EXPERTS - 1);
    for (uint32_t i = 1; i < EXPERTS; i++) {
        ck_assert_double_eq_tol(together[i], expected, 8 * sqrt(expected)); /* picks of a round depend on each other */
    }
    gate_free(gate);
}
END_TEST

START_TEST(dirichlet_shares_are_drawn_and_met) {
    enum { TOKENS = 100000 };
    struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_DIRICHLET, TOKENS);
    const double alphas[] = {0.05, 1, 100};
    double before = HUGE_VAL;
    for (int a = 0; a < 3; a++) {
        parameters.routing.alpha = alphas[a];
        struct gate *gate = make(&parameters);
        uint32_t seen[EXPERTS] = {0};
        double statistic = 0, largest = 0;
        uint32_t tested = 0;
        tally(gate, 2, 0, TOKENS, seen);
        for (uint32_t i = 0; i < EXPERTS; i++) {
            const double share = gate_share(gate, 2, 0, i), variance = TOKENS * share * (1 - share);
            largest = fmax(largest, share);
            tested += variance > 25;
            statistic += variance > 25 ? pow(seen[i] - TOKENS * share, 2) / variance * (1 - share) : 0;
        }
        ck_assert_msg(gsl_cdf_chisq_Q(statistic, tested) > 1e-4, "alpha %g: %g of %u", alphas[a], statistic, tested);
        ck_assert_double_lt(largest, before); /* a larger alpha is more even */
        before = largest;
        gate_free(gate);
    }
}
END_TEST

/* Mean and variance of a share of a Dirichlet law with k = 1: 1/n, and (1/n)(1 - 1/n) / (n alpha + 1). */
START_TEST(dirichlet_popularities_have_their_variance) {
    enum { SEEDS = 2000 };
    struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_DIRICHLET, 1);
    parameters.top_k = 1;
    const double alphas[] = {0.3, 2};
    for (int a = 0; a < 2; a++) {
        double mean = 0, square = 0;
        parameters.routing.alpha = alphas[a];
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            parameters.seed = seed;
            struct gate *gate = make(&parameters);
            const double share = gate_share(gate, 0, 0, 7);
            mean += share / SEEDS;
            square += share * share / SEEDS;
            gate_free(gate);
        }
        const double p = 1.0 / EXPERTS, variance = p * (1 - p) / (EXPERTS * alphas[a] + 1);
        ck_assert_double_eq_tol(mean, p, 5 * sqrt(variance / SEEDS));
        ck_assert_double_eq_tol(square - mean * mean, variance, 0.25 * variance);
    }
}
END_TEST

START_TEST(layers_have_popularities_of_their_own) {
    const enum experiment_gate kinds[] = {EXPERIMENT_GATE_ZIPF, EXPERIMENT_GATE_DIRICHLET};
    for (int k = 0; k < 2; k++) {
        struct gate_parameters parameters = parameters_of(kinds[k], 100);
        uint32_t seen[2][EXPERTS] = {{0}};
        for (uint32_t layer = 0; layer < 2; layer++) {
            parameters.routing.layer = layer;
            struct gate *gate = make(&parameters);
            tally(gate, 0, 0, 100, seen[layer]);
            gate_free(gate);
        }
        ck_assert_mem_ne(seen[0], seen[1], sizeof seen[0]);
    }
}
END_TEST

/* Distance of two loads: 0 the same, 1 nothing in common. */
static double distance(const uint32_t *left, const uint32_t *right) {
    double apart = 0, sum = 0;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        apart += fabs((double)left[i] - right[i]);
        sum += left[i] + right[i];
    }
    return apart / sum;
}

START_TEST(sources_of_a_domain_prefer_the_same_experts) {
    enum { TOKENS = 20000 };
    const enum experiment_gate kinds[] = {EXPERIMENT_GATE_ZIPF, EXPERIMENT_GATE_DIRICHLET};
    for (int k = 0; k < 2; k++) {
        double apart[3];
        for (int s = 0; s < 3; s++) {
            struct gate_parameters parameters = parameters_of(kinds[k], TOKENS);
            uint32_t seen[8][EXPERTS] = {{0}};
            parameters.routing.domains = 2;
            parameters.routing.domain_ranks = 2;
            parameters.routing.domain_strength = 0.5 * s;
            struct gate *gate = make(&parameters);
            for (uint32_t source = 0; source < 8; source++) {
                tally(gate, source, 0, TOKENS, seen[source]);
            }
            gate_free(gate);
            ck_assert_double_lt(distance(seen[0], seen[1]), 0.02); /* of one domain: only chance differs */
            ck_assert_double_lt(distance(seen[0], seen[4]), 0.02);
            ck_assert_double_lt(distance(seen[2], seen[7]), 0.02);
            apart[s] = distance(seen[0], seen[2]);
        }
        ck_assert_double_lt(apart[0], 0.02); /* strength 0: no domain has anything of its own */
        ck_assert_double_gt(apart[1], 0.1);
        ck_assert_double_gt(apart[2], 1.5 * apart[1]);
    }
}
END_TEST

START_TEST(micro_batches_keep_their_popularity_as_often_as_asked) {
    enum { BATCHES = 1000, TOKENS = 2 * BATCHES };
    const double persistences[] = {0, 0.8, 1};
    for (int p = 0; p < 3; p++) {
        struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_DIRICHLET, TOKENS);
        uint32_t kept = 0;
        parameters.routing.micro_batches = BATCHES;
        parameters.routing.persistence = persistences[p];
        struct gate *gate = make(&parameters);
        for (uint32_t batch = 1; batch < BATCHES; batch++) {
            kept += gate_share(gate, 0, 2 * batch, 3) == gate_share(gate, 0, 2 * batch - 1, 3);
            ck_assert_double_eq(gate_share(gate, 0, 2 * batch, 3), gate_share(gate, 1, 2 * batch + 1, 3));
        }
        ck_assert_double_eq_tol(kept, persistences[p] * (BATCHES - 1), 5 * sqrt(BATCHES * 0.16));
        gate_free(gate);
    }
}
END_TEST

START_TEST(capacity_drops_what_comes_late_and_counts_it) {
    enum { TOKENS = 1000 };
    const double factors[] = {0.5, 1, 1.5, 64};
    for (int f = 0; f < 4; f++) {
        struct gate_parameters parameters = parameters_of(EXPERIMENT_GATE_ZIPF, TOKENS);
        uint32_t free_seen[EXPERTS] = {0}, seen[EXPERTS] = {0}, lost = 0;
        struct gate *dropless = make(&parameters);
        ck_assert_uint_eq(tally(dropless, 1, 0, TOKENS, free_seen), 0);
        gate_free(dropless);
        parameters.routing.capacity_factor = factors[f];
        struct gate *gate = make(&parameters);
        const uint32_t dropped = tally(gate, 1, 0, TOKENS, seen);
        const uint32_t capacity = (uint32_t)ceil(factors[f] * TOKENS * TOP_K / EXPERTS);
        for (uint32_t i = 0; i < EXPERTS; i++) {
            ck_assert_uint_eq(seen[i], free_seen[i] < capacity ? free_seen[i] : capacity);
            lost += free_seen[i] - seen[i];
        }
        ck_assert_uint_eq(dropped, lost);
        ck_assert_int_eq(dropped > 0, factors[f] < 60);
        gate_free(gate);
    }
}
END_TEST

START_TEST(plan_sends_only_what_was_not_dropped) {
    struct experiment_model model = {.hidden = 128, .experts = EXPERTS, .top_k = TOP_K};
    struct experiment_traffic traffic = {.tokens_per_gpu = 500,
                                         .gate = EXPERIMENT_GATE_ZIPF,
                                         .zipf_exponent = 1,
                                         .dispatch = true,
                                         .dispatch_type = EXPERIMENT_TYPE_BF16,
                                         .routing = {.capacity_factor = 1}};
    const struct moe_placement placement = {.n_ranks = 8, .ranks_per_domain = 4};
    struct moe *moe = moe_create(&model, &traffic, &placement, false, 1, NULL);
    const struct moe_counts *counts = moe_plan_counts(moe);
    uint64_t sent = 0, taken = 0, dropped = 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        taken += moe_summary_rank_tokens(moe, rank);
        sent += moe_summary_logical(moe, rank, MOE_SUMMARY_DISPATCH).copies_bytes;
        dropped += counts->dropped[rank];
    }
    ck_assert_uint_gt(dropped, 0);
    ck_assert_uint_eq(taken + dropped, 8 * 500 * TOP_K);
    ck_assert_uint_eq(sent, taken * moe_summary_unit_bytes(moe, MOE_SUMMARY_DISPATCH));
    moe_free(moe);
}
END_TEST

/* ---- measured frequencies ---- */

static struct gate_parameters measured_parameters(uint32_t tokens, const char *domain, uint32_t layer) {
    struct gate_parameters parameters = {
        .kind = EXPERIMENT_GATE_MEASURED, .experts = 8, .top_k = 2, .tokens = tokens, .ranks = 4, .seed = 1};
    parameters.routing.layer = layer;
    snprintf(parameters.routing.file, sizeof parameters.routing.file, "%s", EXPERT_FREQUENCY_CSV);
    snprintf(parameters.routing.domain, sizeof parameters.routing.domain, "%s", domain);
    return parameters;
}

START_TEST(measured_frequencies_are_met_in_every_layer_and_domain) {
    enum { TOKENS = 100000 };
    static const char *const names[] = {"", "prose", "code"};
    struct expert_load *load = expert_load_csv_read(EXPERT_FREQUENCY_CSV, NULL);
    for (uint32_t domain = 0; domain < 3; domain++) {
        for (uint32_t layer = 0; layer < 3; layer++) {
            const struct gate_parameters parameters = measured_parameters(TOKENS, names[domain], layer);
            const double sum = expert_load_sum(load, 0, domain, layer);
            struct gate *gate = make(&parameters);
            uint32_t seen[8] = {0};
            double statistic = 0;
            tally(gate, 3, 0, TOKENS, seen);
            for (uint32_t i = 0; i < 8; i++) {
                const double share = expert_load_row(load, 0, domain, layer)[i] / sum * 2;
                ck_assert_double_eq_tol(gate_share(gate, 3, 0, i), share, 1e-9);
                statistic += pow(seen[i] - TOKENS * share, 2) / (TOKENS * share);
            }
            ck_assert_msg(gsl_cdf_chisq_Q(statistic, 7) > 1e-4, "layer %u, %s: %g", layer, names[domain], statistic);
            gate_free(gate);
        }
    }
    expert_load_free(load);
}
END_TEST

START_TEST(sources_take_the_columns_in_turn_under_each) {
    struct gate_parameters parameters = measured_parameters(10, "each", 1);
    struct gate *each = make(&parameters);
    for (uint32_t source = 0; source < 4; source++) {
        parameters = measured_parameters(10, source % 2 ? "code" : "prose", 1);
        struct gate *one = make(&parameters);
        for (uint32_t i = 0; i < 8; i++) {
            ck_assert_double_eq(gate_share(each, source, 5, i), gate_share(one, 0, 0, i));
        }
        gate_free(one);
    }
    gate_free(each);
}
END_TEST

static void expect_refusal(struct gate_parameters parameters, const char *part) {
    struct error error = {0};
    ck_assert_ptr_null(gate_create(&parameters, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
}

START_TEST(measured_loads_that_do_not_fit_are_refused) {
    expect_refusal(measured_parameters(10, "poetry", 0), "no column `poetry`");
    expect_refusal(measured_parameters(10, "", 3), "layers 0 to 2");
    struct gate_parameters parameters = measured_parameters(10, "", 0);
    parameters.experts = 16;
    expect_refusal(parameters, "the file has 8 experts, the model 16");
    parameters = measured_parameters(10, "", 0);
    parameters.top_k = 3;
    expect_refusal(parameters, "sum to 2");
    parameters = measured_parameters(10, "", 0);
    parameters.routing.micro_batches = 2;
    expect_refusal(parameters, "need more steps than the 1");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("gate_source");
    TCase *cases = tcase_create("gate_source");
    tcase_add_test(cases, balanced_gate_loads_every_expert_alike);
    tcase_add_test(cases, balanced_gate_pairs_experts_by_chance);
    tcase_add_test(cases, dirichlet_shares_are_drawn_and_met);
    tcase_add_test(cases, dirichlet_popularities_have_their_variance);
    tcase_add_test(cases, layers_have_popularities_of_their_own);
    tcase_add_test(cases, sources_of_a_domain_prefer_the_same_experts);
    tcase_add_test(cases, micro_batches_keep_their_popularity_as_often_as_asked);
    tcase_add_test(cases, capacity_drops_what_comes_late_and_counts_it);
    tcase_add_test(cases, plan_sends_only_what_was_not_dropped);
    tcase_add_test(cases, measured_frequencies_are_met_in_every_layer_and_domain);
    tcase_add_test(cases, sources_take_the_columns_in_turn_under_each);
    tcase_add_test(cases, measured_loads_that_do_not_fit_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
