// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which experts a token picks: synthetic routers, one token at a time, by counter-based draws.
 *
 * A token's picks depend on (seed, source rank, token) alone. All gates pick top_k different experts; gate_source.h adds what an expert can take.
 *
 * - uniform: every set of top_k experts is equally likely.
 * - zipf: experts are picked one after the other with probability proportional to 1 / place^s among those not yet picked;
 *   which expert has which place is drawn once (HASH_PURPOSE_POPULARITY), the same for all ranks.
 * - hot_expert: one expert is picked with probability factor × top_k / experts, so that its expected load is factor × the mean
 *   over all experts; the other picks are uniform among the others.
 * - group_limited: DeepSeek-V3's router (arXiv 2412.19437, 2.1.2; inference/model.py class Gate of github.com/deepseek-ai/DeepSeek-V3):
 *   consecutive experts form groups, a group is scored by the sum of its two highest affinities, the best groups_kept groups are kept
 *   and the top_k highest affinities among them win. Affinities are independent with the law of ln(uniform); the law matters
 *   only for sums of two: uniform, normal and sigmoid(normal) affinities change mean destinations per token by less than 0.5 %.
 * - node_limited: the benchmark gate of DeepEP (tests/legacy/test_internode.py @dd758ca): scores |N(0,1)|+1, a group is scored by its
 *   maximum, the best groups_kept are kept, then top_k. Only the order of scores matters, so experts are drawn best first.
 * - balanced: forced balance. A rank deals experts from a shuffled order, round after round; experts ÷ gcd(experts, top_k) tokens use every
 *   expert equally often, then the order is drawn anew.
 * - dirichlet: popularities are drawn (gate_popularity.h), top_k × popularity is an expert's share of tokens, 1 at most.
 * - measured: shares are measured ones (gate_measured.h).
 *   dirichlet and measured meet the shares exactly, and assume nothing else of which experts go together (gate_sample.h).
 * - trace: each token's picks are those of a recorded token (token_trace.h): rank r's token t is number r × tokens + t.
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_H
#define MOEFABRIC_WORKLOAD_GATE_H

#include "base/error.h"
#include "base/hash.h"
#include "config/experiment.h"
#include "config/experiment_split.h"

#include <stdint.h>

enum { GATE_LARGEST_TOP_K = 64, GATE_LARGEST_GROUPS = EXPERIMENT_SPLIT_LARGEST_NODES, GATE_LARGEST_EXPERTS = 65536 };

/** What a gate is made from. */
struct gate_parameters {
    enum experiment_gate kind;
    uint32_t experts, top_k;
    uint32_t groups, groups_kept; /**< group_limited, node_limited: groups divides experts */
    double zipf_exponent;         /**< s, 0 … 8 */
    double hot_expert_factor;     /**< hot_expert: load ÷ mean load, 0 … experts / top_k */
    uint32_t hot_expert;
    uint64_t seed;                     /**< of the popularity of experts */
    struct experiment_routing routing; /**< section `gate` */
    uint32_t ranks, tokens;            /**< sources, and tokens of each; 0 where no gate asks for them */
};

struct gate;

/** Prepares a gate. NULL with *error if the parameters contradict each other or a file is wrong. Freed by gate_free. */
struct gate *gate_create(const struct gate_parameters *parameters, struct error *error);

/** Frees a gate; NULL is allowed. */
void gate_free(struct gate *gate);

/** A token: its draws' stream (gate_token_stream), and where it is in its source, for gates that ask. */
struct gate_token {
    uint64_t stream;
    uint32_t source, token;
};

/**
 * Picks top_k different experts for a token. Order within picks has no meaning. May be called from several threads. Gate balanced deals a source's
 * tokens in order (gate_source.h); a token by itself picks uniformly here. Tokens beyond those of a source take popularities, and the picks of a trace,
 * from the beginning again.
 */
void gate_draw_token(const struct gate *gate, const struct gate_token *token, uint32_t *picks);

/** The same for gates whose picks depend on the stream alone: all with one popularity for all tokens. */
void gate_draw(const struct gate *gate, uint64_t stream, uint32_t *picks);

/** What the gate was made from. */
const struct gate_parameters *gate_parameters(const struct gate *gate);

/** Stream of draws of one token. */
static inline uint64_t gate_token_stream(uint64_t seed, uint32_t source, uint32_t token) {
    return hash_stream(seed, HASH_PURPOSE_GATE, source, token);
}

/** Exact probability with which a draw proposes this expert first (zipf), else 0: for tests and reports. */
double gate_zipf_weight(const struct gate *gate, uint32_t expert);

/** Probability with which a token of a source picks an expert, under dirichlet and measured; else NAN. */
double gate_share(const struct gate *gate, uint32_t source, uint32_t token, uint32_t expert);

#endif
