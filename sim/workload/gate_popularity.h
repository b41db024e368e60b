// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Popularity of experts as it varies: over domains of sources, over micro-batches, over layers.
 *
 * A variant is one popularity of all experts. A source's domain and a token's micro-batch say which variant it follows.
 *
 * - zipf, dirichlet: every (layer, domain, state) has a draw of its own (HASH_PURPOSE_POPULARITY). With several domains a domain's popularity is
 *   (1 - strength) × a draw common to all + strength × its own. States follow each other by a Markov chain over micro-batches: a state
 *   stays with probability persistence, else the next is new; the chain is the same for all ranks.
 * - measured: the loads of a layer; domains are columns, states are steps.
 *
 * Dirichlet: independent gamma numbers of one shape, divided by their sum (Devroye, Non-Uniform Random Variate Generation, 1986, XI.4); gamma numbers by
 * Marsaglia and Tsang (ACM Transactions on Mathematical Software 26(3), 2000), computed in logarithms so that small shapes do not underflow.
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_POPULARITY_H
#define MOEFABRIC_WORKLOAD_GATE_POPULARITY_H

#include "workload/gate.h"

#include <stdint.h>

/** All variants of a gate. Owns its arrays. */
struct gate_popularity {
    uint32_t n_variants, n_states, n_domains; /**< variant = domain × n_states + state */
    uint32_t experts;
    uint32_t domain_ranks; /**< consecutive sources of one domain */
    uint32_t n_batches;    /**< micro-batches of a source's tokens */
    uint32_t tokens;       /**< of a source */
    uint32_t *state;       /**< [n_batches] */
    double *weights;       /**< [n_variants × experts] zipf, dirichlet: of sum 1 */
    double *
        shares; /**< [n_variants × experts] dirichlet, measured: probability that a token picks the expert, of sum top_k */
};

/** Draws or reads the popularities of gates zipf, dirichlet and measured. NULL with *error if a file is wrong or does not fit. Freed by gate_popularity_free. */
struct gate_popularity *gate_popularity_create(const struct gate_parameters *parameters, struct error *error);

/** Frees it; NULL is allowed. */
void gate_popularity_free(struct gate_popularity *popularity);

/** The variant that a token of a source follows. */
static inline uint32_t gate_popularity_variant(const struct gate_popularity *popularity, uint32_t source,
                                               uint32_t token) {
    if (popularity->n_variants == 1) {
        return 0;
    }
    const uint32_t batch =
        (uint32_t)((uint64_t)(token % popularity->tokens) * popularity->n_batches / popularity->tokens);
    return source / popularity->domain_ranks % popularity->n_domains * popularity->n_states + popularity->state[batch];
}

#endif
