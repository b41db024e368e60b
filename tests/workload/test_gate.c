// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "run_suite.h"
#include "workload/gate.h"
#include "workload/portable_math.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERTS = 256, TOP_K = 8 };

static struct gate *make(struct gate_parameters parameters) {
    struct error error;
    parameters.experts = parameters.experts ? parameters.experts : EXPERTS;
    parameters.top_k = parameters.top_k ? parameters.top_k : TOP_K;
    struct gate *gate = gate_create(&parameters, &error);
    ck_assert_msg(gate != NULL, "%s", error.message);
    return gate;
}

/* Draws tokens and counts how often each expert was picked. Picks must differ from each other. */
static void tally(const struct gate *gate, uint32_t tokens, uint32_t experts, uint32_t top_k, uint32_t *seen) {
    uint32_t picks[GATE_LARGEST_TOP_K], wrong = 0;
    for (uint32_t token = 0; token < tokens; token++) {
        gate_draw(gate, gate_token_stream(7, 3, token), picks);
        for (uint32_t i = 0; i < top_k; i++) {
            for (uint32_t j = 0; j < i; j++) {
                wrong += picks[i] == picks[j];
            }
            wrong += picks[i] >= experts;
            seen[picks[i] % experts]++;
        }
    }
    ck_assert_uint_eq(wrong, 0);
}

/* Picks of one token exclude each other, so the counts vary less than multinomial ones: by (1 - k/E) E/(E-1), which the statistic is divided by. */
static double uniform_p(const uint32_t *seen, uint32_t experts, uint32_t top_k, uint32_t tokens) {
    const double expected = (double)tokens * top_k / experts;
    double statistic = 0;
    for (uint32_t expert = 0; expert < experts; expert++) {
        statistic += (seen[expert] - expected) * (seen[expert] - expected) / expected;
    }
    statistic /= (1 - (double)top_k / experts) * experts / (experts - 1.0);
    const double below = gsl_cdf_chisq_P(statistic, experts - 1);
    return 2 * (below < 0.5 ? below : 1 - below); /* both tails: too even is as wrong as too uneven */
}

START_TEST(marginals_are_uniform_where_experts_are_equal) {
    const struct gate_parameters all[] = {
        {.kind = EXPERIMENT_GATE_UNIFORM},
        {.kind = EXPERIMENT_GATE_UNIFORM, .experts = 8, .top_k = 7},
        {.kind = EXPERIMENT_GATE_UNIFORM, .experts = 512, .top_k = 10},
        {.kind = EXPERIMENT_GATE_ZIPF, .zipf_exponent = 0},
        {.kind = EXPERIMENT_GATE_GROUP_LIMITED, .groups = 1, .groups_kept = 1},
        {.kind = EXPERIMENT_GATE_NODE_LIMITED, .groups = 1, .groups_kept = 1},
        {.kind = EXPERIMENT_GATE_HOT_EXPERT, .hot_expert_factor = 1, .hot_expert = 9},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const uint32_t experts = all[i].experts ? all[i].experts : EXPERTS, tokens = 200000;
        const uint32_t top_k = all[i].top_k ? all[i].top_k : TOP_K;
        uint32_t *seen = memory_allocate(experts, sizeof *seen);
        struct gate *gate = make(all[i]);
        tally(gate, tokens, experts, top_k, seen);
        const double p = uniform_p(seen, experts, top_k, tokens);
        ck_assert_msg(p > 1e-4, "gate %zu: p = %g", i, p);
        gate_free(gate);
        free(seen);
    }
}
END_TEST

START_TEST(limited_gates_load_experts_evenly_on_average) {
    const struct gate_parameters all[] = {
        {.kind = EXPERIMENT_GATE_GROUP_LIMITED, .groups = 8, .groups_kept = 4},
        {.kind = EXPERIMENT_GATE_NODE_LIMITED, .groups = 8, .groups_kept = 4},
    };
    for (size_t i = 0; i < 2; i++) {
        uint32_t seen[EXPERTS] = {0};
        struct gate *gate = make(all[i]);
        const uint32_t tokens = 200000;
        tally(gate, tokens, EXPERTS, TOP_K, seen);
        const double expected = (double)tokens * TOP_K / EXPERTS;
        for (uint32_t expert = 0; expert < EXPERTS; expert++) {
            ck_assert_double_eq_tol(seen[expert], expected, 5.5 * sqrt(expected));
        }
        gate_free(gate);
    }
}
END_TEST

START_TEST(hot_expert_has_its_factor_and_the_others_are_equal) {
    const double factors[] = {0, 0.5, 1, 5, 32};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        struct gate *gate = make((struct gate_parameters){
            .kind = EXPERIMENT_GATE_HOT_EXPERT, .hot_expert_factor = factors[i], .hot_expert = 100});
        uint32_t seen[EXPERTS] = {0};
        const uint32_t tokens = 100000;
        tally(gate, tokens, EXPERTS, TOP_K, seen);
        const double mean = (double)tokens * TOP_K / EXPERTS, hot = factors[i] * mean;
        ck_assert_double_eq_tol(seen[100], hot, 5 * sqrt(hot * (1 - hot / tokens)) + 1e-9);
        const double rest = (tokens * (double)TOP_K - hot) / (EXPERTS - 1);
        for (uint32_t expert = 0; expert < EXPERTS; expert++) {
            if (expert != 100) {
                ck_assert_double_eq_tol(seen[expert], rest, 5.5 * sqrt(rest));
            }
        }
        gate_free(gate);
    }
}
END_TEST

/* With one pick a token zipf counts are multinomial with the known weights. */
START_TEST(zipf_follows_its_weights) {
    const double exponents[] = {0.5, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        const uint32_t tokens = 400000;
        uint32_t seen[32] = {0};
        struct gate *gate = make((struct gate_parameters){
            .kind = EXPERIMENT_GATE_ZIPF, .experts = 32, .top_k = 1, .zipf_exponent = exponents[i], .seed = i});
        tally(gate, tokens, 32, 1, seen);
        double statistic = 0, sum = 0, largest = 0;
        for (uint32_t expert = 0; expert < 32; expert++) {
            const double weight = gate_zipf_weight(gate, expert);
            statistic += (seen[expert] - tokens * weight) * (seen[expert] - tokens * weight) / (tokens * weight);
            sum += weight;
            largest = fmax(largest, weight);
        }
        double harmonic = 0;
        for (int place = 1; place <= 32; place++) {
            harmonic += pow(place, -exponents[i]);
        }
        ck_assert_double_eq_tol(sum, 1, 1e-12);
        ck_assert_double_eq_tol(largest, 1 / harmonic, 1e-12);
        ck_assert_double_gt(gsl_cdf_chisq_Q(statistic, 31), 1e-4);
        gate_free(gate);
    }
}
END_TEST

/* Of three experts, two are picked: the pair {a, b} has probability w_a w_b (1/(1 - w_a) + 1/(1 - w_b)). With s = 8 nearly all picks go the exact way. */
START_TEST(zipf_picks_without_replacement_in_both_ways) {
    const double exponents[] = {1, 8};
    for (size_t i = 0; i < 2; i++) {
        const uint32_t tokens = 400000;
        struct gate *gate = make((struct gate_parameters){
            .kind = EXPERIMENT_GATE_ZIPF, .experts = 3, .top_k = 2, .zipf_exponent = exponents[i]});
        uint32_t left_out[3] = {0}, picks[2];
        for (uint32_t token = 0; token < tokens; token++) {
            gate_draw(gate, gate_token_stream(1, 2, token), picks);
            left_out[(3 - picks[0] - picks[1]) % 3]++; /* a repeated pick would upset the law below */
        }
        for (uint32_t out = 0; out < 3; out++) {
            const double a = gate_zipf_weight(gate, (out + 1) % 3), b = gate_zipf_weight(gate, (out + 2) % 3);
            const double expected = tokens * a * b * (1 / (1 - a) + 1 / (1 - b));
            ck_assert_double_eq_tol(left_out[out], expected, 5 * sqrt(expected) + 1);
        }
        gate_free(gate);
    }
}
END_TEST

/* ---- the limited gates against the rules as published, with explicit scores ---- */

static int better(const double *scores, const uint8_t *usable, uint32_t count) {
    int best = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (usable[i] && (best < 0 || scores[i] > scores[best])) {
            best = (int)i;
        }
    }
    return best;
}

/* kind: sum of the top two of uniform scores (DeepSeek), or maximum of |N(0,1)| + 1 (DeepEP). */
static void published_rule(enum experiment_gate kind, uint64_t stream, uint32_t groups, uint32_t kept,
                           uint32_t *picks) {
    double scores[EXPERTS], group_scores[64];
    uint8_t usable[EXPERTS] = {0}, free_groups[64];
    const uint32_t size = EXPERTS / groups;
    for (uint32_t group = 0; group < groups; group++) {
        double first = -1, second = -1;
        for (uint32_t e = group * size; e < (group + 1) * size; e++) {
            const double uniform = hash_unit(hash_draw(stream, e)) + 0x1p-54;
            scores[e] = kind == EXPERIMENT_GATE_GROUP_LIMITED ? uniform : fabs(gsl_cdf_ugaussian_Pinv(uniform)) + 1;
            second = scores[e] > first ? first : fmax(second, scores[e]);
            first = fmax(first, scores[e]);
        }
        group_scores[group] = kind == EXPERIMENT_GATE_GROUP_LIMITED ? first + second : first;
        free_groups[group] = 1;
    }
    for (uint32_t i = 0; i < kept; i++) {
        const int group = better(group_scores, free_groups, groups);
        free_groups[group] = 0;
        memset(usable + (uint32_t)group * size, 1, size);
    }
    for (uint32_t i = 0; i < TOP_K; i++) {
        picks[i] = (uint32_t)better(scores, usable, EXPERTS);
        usable[picks[i]] = 0;
    }
}

/* Mean number of different values of expert / divisor. */
static double distinct(const uint32_t *picks, uint32_t divisor) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < TOP_K; i++) {
        uint32_t j = 0;
        while (j < i && picks[j] / divisor != picks[i] / divisor) {
            j++;
        }
        count += j == i;
    }
    return count;
}

static void compare_with_published_rule(enum experiment_gate kind, uint32_t groups, uint32_t kept) {
    enum { TOKENS = 40000 };
    struct gate *gate = make((struct gate_parameters){.kind = kind, .groups = groups, .groups_kept = kept});
    const uint32_t divisors[] = {128, 64, 32, 16, 8, 4};
    double ours[6] = {0}, theirs[6] = {0};
    for (uint32_t token = 0; token < TOKENS; token++) {
        uint32_t picks[TOP_K];
        gate_draw(gate, gate_token_stream(1, 0, token), picks);
        for (int i = 0; i < 6; i++) {
            ours[i] += distinct(picks, divisors[i]) / TOKENS;
        }
        published_rule(kind, hash_stream(5, HASH_PURPOSE_TEST, token, 0), groups, kept, picks);
        for (int i = 0; i < 6; i++) {
            theirs[i] += distinct(picks, divisors[i]) / TOKENS;
        }
    }
    for (int i = 0; i < 6; i++) {
        ck_assert_msg(fabs(ours[i] / theirs[i] - 1) < 0.006, "groups %u keep %u, blocks of %u: %g, published rule %g",
                      groups, kept, divisors[i], ours[i], theirs[i]);
    }
    gate_free(gate);
}

START_TEST(group_limited_matches_the_published_rule) {
    compare_with_published_rule(EXPERIMENT_GATE_GROUP_LIMITED, 8, 4);
    compare_with_published_rule(EXPERIMENT_GATE_GROUP_LIMITED, 4, 1);
    compare_with_published_rule(EXPERIMENT_GATE_GROUP_LIMITED, 64, 3);
}
END_TEST

START_TEST(node_limited_matches_the_published_rule) {
    compare_with_published_rule(EXPERIMENT_GATE_NODE_LIMITED, 8, 4);
    compare_with_published_rule(EXPERIMENT_GATE_NODE_LIMITED, 4, 1);
    compare_with_published_rule(EXPERIMENT_GATE_NODE_LIMITED, 32, 4);
}
END_TEST

START_TEST(limited_gates_stay_within_the_groups_kept) {
    const enum experiment_gate kinds[] = {EXPERIMENT_GATE_GROUP_LIMITED, EXPERIMENT_GATE_NODE_LIMITED};
    for (int i = 0; i < 2; i++) {
        struct gate *gate = make((struct gate_parameters){.kind = kinds[i], .groups = 64, .groups_kept = 2});
        for (uint32_t token = 0; token < 5000; token++) {
            uint32_t picks[TOP_K];
            gate_draw(gate, gate_token_stream(1, 0, token), picks);
            ck_assert_double_eq(distinct(picks, 4), 2); /* 8 picks fill two groups of 4 */
            ck_assert_double_eq(distinct(picks, 1), 8);
        }
        gate_free(gate);
    }
}
END_TEST

START_TEST(token_depends_on_its_name_alone) {
    struct gate *gate =
        make((struct gate_parameters){.kind = EXPERIMENT_GATE_GROUP_LIMITED, .groups = 8, .groups_kept = 4});
    struct gate *other =
        make((struct gate_parameters){.kind = EXPERIMENT_GATE_GROUP_LIMITED, .groups = 8, .groups_kept = 4});
    uint32_t first[TOP_K], again[TOP_K], next[TOP_K];
    gate_draw(gate, gate_token_stream(1, 2, 3), first);
    gate_draw(gate, gate_token_stream(1, 2, 4), next);
    gate_draw(other, gate_token_stream(1, 2, 3), again);
    ck_assert_mem_eq(first, again, sizeof first);
    ck_assert_mem_ne(first, next, sizeof first);
    gate_free(gate);
    gate_free(other);
}
END_TEST

/* The same bits on every machine and compiler. A value changes only when the traffic of a seed is changed on purpose. */
START_TEST(draws_are_the_same_on_every_machine) {
    const struct {
        struct gate_parameters parameters;
        uint64_t digest;
    } known[] = {
        {{.kind = EXPERIMENT_GATE_UNIFORM}, UINT64_C(0xf8571f4cc92723f)},
        {{.kind = EXPERIMENT_GATE_ZIPF, .zipf_exponent = 1.1}, UINT64_C(0x83e028803522fca3)},
        {{.kind = EXPERIMENT_GATE_HOT_EXPERT, .hot_expert_factor = 5}, UINT64_C(0xa7c1b2b758288555)},
        {{.kind = EXPERIMENT_GATE_GROUP_LIMITED, .groups = 8, .groups_kept = 4}, UINT64_C(0xa00448b07e63c2ac)},
        {{.kind = EXPERIMENT_GATE_NODE_LIMITED, .groups = 8, .groups_kept = 4}, UINT64_C(0xecfc82c3f563d0a6)},
        {{.kind = EXPERIMENT_GATE_DIRICHLET, .routing.alpha = 0.5}, UINT64_C(0x290ed09cc73b43aa)},
        {{.kind = EXPERIMENT_GATE_DIRICHLET, .routing.alpha = 0.02}, UINT64_C(0xac6e2cd2916d2ce3)},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct gate *gate = make(known[i].parameters);
        uint64_t digest = 0;
        for (uint32_t token = 0; token < 10000; token++) {
            uint32_t picks[TOP_K];
            gate_draw(gate, gate_token_stream(1, 2, token), picks);
            for (uint32_t j = 0; j < TOP_K; j++) {
                digest = hash_mix(digest + picks[j]);
            }
        }
        ck_assert_msg(digest == known[i].digest, "gate %zu: %#llx", i, (unsigned long long)digest);
        gate_free(gate);
    }
}
END_TEST

static void expect_refusal(struct gate_parameters parameters, const char *part) {
    struct error error = {0};
    ck_assert_ptr_null(gate_create(&parameters, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
}

START_TEST(contradictions_are_refused) {
    struct gate_parameters parameters = {.kind = EXPERIMENT_GATE_UNIFORM, .experts = 4, .top_k = 5};
    expect_refusal(parameters, "cannot pick so many");
    parameters = (struct gate_parameters){
        .kind = EXPERIMENT_GATE_HOT_EXPERT, .experts = 32, .top_k = 4, .hot_expert_factor = 8.1};
    expect_refusal(parameters, "at most 8 times");
    parameters.hot_expert_factor = NAN;
    expect_refusal(parameters, "at most 8 times");
    parameters.hot_expert_factor = 2;
    parameters.hot_expert = 32;
    expect_refusal(parameters, "beyond the last");
    parameters = (struct gate_parameters){
        .kind = EXPERIMENT_GATE_GROUP_LIMITED, .experts = 32, .top_k = 4, .groups = 5, .groups_kept = 2};
    expect_refusal(parameters, "evenly");
    parameters.groups = 8;
    parameters.groups_kept = 9;
    expect_refusal(parameters, "keep so many");
    parameters.top_k = 9;
    parameters.groups_kept = 2;
    expect_refusal(parameters, "more experts than the groups kept hold");
    parameters.top_k = 2;
    parameters.groups = 32;
    expect_refusal(parameters, "need two each");
    parameters = (struct gate_parameters){.kind = EXPERIMENT_GATE_ZIPF, .experts = 4, .top_k = 2, .zipf_exponent = -1};
    expect_refusal(parameters, "zipf exponent");
}
END_TEST

START_TEST(portable_logarithm_and_exponential_are_exact_enough) {
    double worst_log = 0, worst_exp = 0;
    for (int i = 0; i < 100000; i++) {
        const double unit = hash_unit(hash_draw(11, (uint64_t)i)) + 0x1p-60;
        const double power = 200 * (unit - 0.5), wide = exp(power);
        worst_log = fmax(worst_log, fabs(portable_math_log(unit) - log(unit)) / (1 + fabs(log(unit))));
        worst_log = fmax(worst_log, fabs(portable_math_log(wide) - log(wide)) / (1 + fabs(log(wide))));
        worst_exp = fmax(worst_exp, fabs(portable_math_exp(power) / wide - 1));
    }
    ck_assert_double_lt(worst_log, 1e-14);
    ck_assert_double_lt(worst_exp, 1e-13);
    ck_assert_double_eq(portable_math_log(1), 0);
    ck_assert_double_eq(portable_math_exp(0), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("gate");
    TCase *cases = tcase_create("gate");
    tcase_add_test(cases, marginals_are_uniform_where_experts_are_equal);
    tcase_add_test(cases, limited_gates_load_experts_evenly_on_average);
    tcase_add_test(cases, hot_expert_has_its_factor_and_the_others_are_equal);
    tcase_add_test(cases, zipf_follows_its_weights);
    tcase_add_test(cases, zipf_picks_without_replacement_in_both_ways);
    tcase_add_test(cases, group_limited_matches_the_published_rule);
    tcase_add_test(cases, node_limited_matches_the_published_rule);
    tcase_add_test(cases, limited_gates_stay_within_the_groups_kept);
    tcase_add_test(cases, token_depends_on_its_name_alone);
    tcase_add_test(cases, draws_are_the_same_on_every_machine);
    tcase_add_test(cases, contradictions_are_refused);
    tcase_add_test(cases, portable_logarithm_and_exponential_are_exact_enough);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
