// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/decode_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_decode, member), .size = sizeof(((struct experiment_decode *)0)->member)

const struct key decode_keys[DECODE_KEYS] = {
    {"context", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777216", "0",
     .doc = "Tokens that a sequence has behind it; 0 = no decoding is described. A GPU decodes traffic.tokens_per_gpu "
            "sequences at once, of each of two micro-batches where they overlap.",
     FIELD(context_tokens)},
    {"overlap", KEY_FLAG, .fallback = "true",
     .doc = "Two micro-batches take turns: while one exchanges, the other computes (DeepSeek-V3, arXiv:2412.19437, "
            "section 3.4.2). false: a layer computes, dispatches, computes and combines.",
     FIELD(overlap)},
    {"memory_efficiency", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.8",
     .doc = "Share of the memory's peak rate at which weights and cached keys and values are read (estimate).",
     FIELD(memory_efficiency)},
    {"weight_bytes", KEY_REAL, QUANTITY_REAL, "0.25", "8", "1",
     .doc = "Bytes of a parameter in memory: FP8 as DeepSeek-V3 is published.", FIELD(weight_bytes)},
    {"cache_bytes", KEY_REAL, QUANTITY_REAL, "0.25", "8", "2",
     .doc = "Bytes of a cached element of keys and values: BF16.", FIELD(cache_bytes)},
};
