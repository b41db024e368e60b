// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tokens before a run, from which placements learn how loaded experts are and which of them are picked together.
 *
 * They are of the same gate as the run's tokens, with the same popularity of experts, but drawn from streams of their own: a placement never
 * sees the tokens that it will be tried on. Only a trace has no other tokens: there it learns from the run's own.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_HISTORY_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_HISTORY_H

#include "workload/gate.h"

#include <stdint.h>

/** Joint choices of tokens. Owns its array. */
struct placement_history {
    uint32_t experts, top_k, tokens;
    uint32_t *picks; /**< [tokens × top_k] */
};

/** Draws tokens, of the source ranks in turn. Freed by placement_history_free. */
struct placement_history *placement_history_draw(const struct gate *gate, uint32_t experts, uint32_t top_k,
                                                 uint32_t n_ranks, uint32_t tokens, uint64_t seed);

/** Frees it; NULL is allowed. */
void placement_history_free(struct placement_history *history);

/** (token, expert) pairs of each expert: [experts], freed with free(). */
double *placement_history_load(const struct placement_history *history);

/** Tokens that pick both of two experts: [experts × experts], the diagonal 0, freed with free(). */
float *placement_history_pairs(const struct placement_history *history);

#endif
