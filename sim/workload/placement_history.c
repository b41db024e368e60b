// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_history.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

struct placement_history *placement_history_draw(const struct gate *gate, uint32_t experts, uint32_t top_k,
                                                 uint32_t n_ranks, uint32_t tokens, uint64_t seed) {
    struct placement_history *history = memory_allocate(1, sizeof *history);
    *history = (struct placement_history){.experts = experts, .top_k = top_k, .tokens = tokens};
    history->picks = memory_allocate((size_t)tokens * top_k, sizeof *history->picks);
    for (uint32_t token = 0; token < tokens; token++) {
        const uint32_t source = token % n_ranks, number = token / n_ranks;
        const struct gate_token which = {
            .stream = hash_stream(seed, HASH_PURPOSE_HISTORY, source, number), .source = source, .token = number};
        gate_draw_token(gate, &which, history->picks + (size_t)token * top_k);
    }
    return history;
}

void placement_history_free(struct placement_history *history) {
    if (history) {
        free(history->picks);
        free(history);
    }
}

double *placement_history_load(const struct placement_history *history) {
    double *load = memory_allocate(history->experts, sizeof *load);
    for (size_t i = 0; i < (size_t)history->tokens * history->top_k; i++) {
        load[history->picks[i]]++;
    }
    return load;
}

float *placement_history_pairs(const struct placement_history *history) {
    float *pairs = memory_allocate((size_t)history->experts * history->experts, sizeof *pairs);
    for (uint32_t token = 0; token < history->tokens; token++) {
        const uint32_t *picks = history->picks + (size_t)token * history->top_k;
        for (uint32_t i = 0; i < history->top_k; i++) {
            for (uint32_t j = 0; j < history->top_k; j++) {
                pairs[(size_t)picks[i] * history->experts + picks[j]] += i != j;
            }
        }
    }
    return pairs;
}
