// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The tokens of one source through a gate, in order: what depends on the tokens before them.
 *
 * - balanced: experts are dealt from an order that is drawn anew for each round.
 * - capacity: an expert takes ceil(factor × tokens × top_k / experts) tokens of a source, first come, first served; the rest of the copies is dropped
 *   (GShard, arXiv:2006.16668, 2.2; Megatron-Core drops by position with moe_token_drop_policy position).
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_SOURCE_H
#define MOEFABRIC_WORKLOAD_GATE_SOURCE_H

#include "workload/gate.h"

#include <stdint.h>

/** A source being walked through. Zero-initialise; ends with gate_source_close. */
struct gate_source {
    const struct gate *gate;
    uint64_t seed; /**< of its tokens */
    uint32_t source;
    uint32_t *order;   /**< balanced: [experts] */
    uint32_t round;    /**< balanced: the round that order is of; UINT32_MAX: none */
    uint32_t *taken;   /**< with a capacity: [experts] tokens of this source that each has taken */
    uint32_t capacity; /**< of an expert; 0 = dropless */
    uint32_t dropped;  /**< copies of this source so far */
};

/** Begins with a source, whose tokens are drawn with this seed; may be called again for the next one. */
void gate_source_open(struct gate_source *walk, const struct gate *gate, uint64_t seed, uint32_t source);

/** Picks the experts of the source's token; with a capacity tokens must come in order. Returns how many were not dropped. */
uint32_t gate_source_draw(struct gate_source *walk, uint32_t token, uint32_t *picks);

/** Frees what it holds. */
void gate_source_close(struct gate_source *walk);

#endif
