// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate_source.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b > 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A new order of experts (Fisher-Yates from the inside out, which reads no place before it has written it). */
static void shuffle(struct gate_source *walk, uint32_t round) {
    const struct gate_parameters *parameters = gate_parameters(walk->gate);
    const uint64_t stream = hash_stream(walk->seed, HASH_PURPOSE_BALANCE, walk->source, round);
    for (uint32_t i = 0; i < parameters->experts; i++) {
        const uint32_t other = hash_below(hash_draw(stream, i), i + 1);
        walk->order[i] = walk->order[other];
        walk->order[other] = i;
    }
    walk->round = round;
}

/* Within a round consecutive places of a circle, so a token's experts differ; a round ends where all have been dealt equally often. */
static void deal(struct gate_source *walk, uint32_t token, uint32_t *picks) {
    const struct gate_parameters *parameters = gate_parameters(walk->gate);
    const uint32_t experts = parameters->experts, top_k = parameters->top_k;
    const uint32_t tokens_of_round = experts / common_divisor(experts, top_k);
    if (walk->round != token / tokens_of_round) {
        shuffle(walk, token / tokens_of_round);
    }
    const uint64_t first = (uint64_t)(token % tokens_of_round) * top_k;
    for (uint32_t i = 0; i < top_k; i++) {
        picks[i] = walk->order[(first + i) % experts];
    }
}

void gate_source_open(struct gate_source *walk, const struct gate *gate, uint64_t seed, uint32_t source) {
    const struct gate_parameters *parameters = gate_parameters(gate);
    const double factor = parameters->routing.capacity_factor;
    walk->gate = gate;
    walk->seed = seed;
    walk->source = source;
    walk->dropped = 0;
    walk->round = UINT32_MAX;
    if (parameters->kind == EXPERIMENT_GATE_BALANCED && !walk->order) {
        walk->order = memory_allocate(parameters->experts, sizeof *walk->order);
    }
    if (factor > 0) {
        const double capacity = ceil(factor * parameters->tokens * parameters->top_k / parameters->experts);
        walk->capacity = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
        walk->taken = walk->taken ? walk->taken : memory_allocate(parameters->experts, sizeof *walk->taken);
        memset(walk->taken, 0, parameters->experts * sizeof *walk->taken);
    }
}

/* Keeps the picks whose experts have room, in their order. */
static uint32_t keep(struct gate_source *walk, uint32_t *picks, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (walk->taken[picks[i]] < walk->capacity) {
            walk->taken[picks[i]]++;
            picks[kept++] = picks[i];
        }
    }
    walk->dropped += n - kept;
    return kept;
}

uint32_t gate_source_draw(struct gate_source *walk, uint32_t token, uint32_t *picks) {
    const struct gate_parameters *parameters = gate_parameters(walk->gate);
    if (parameters->kind == EXPERIMENT_GATE_BALANCED) {
        deal(walk, token, picks);
    } else {
        const struct gate_token which = {
            .stream = gate_token_stream(walk->seed, walk->source, token), .source = walk->source, .token = token};
        gate_draw_token(walk->gate, &which, picks);
    }
    return walk->capacity > 0 ? keep(walk, picks, parameters->top_k) : parameters->top_k;
}

void gate_source_close(struct gate_source *walk) {
    free(walk->order);
    free(walk->taken);
}
