// SPDX-License-Identifier: GPL-3.0-or-later
/* Set-ups of a mixture-of-experts layer that test_moe.c runs all its cases on. */
#ifndef MOEFABRIC_TESTS_WORKLOAD_MOE_SETUPS_H
#define MOEFABRIC_TESTS_WORKLOAD_MOE_SETUPS_H

#include "config/experiment.h"
#include "workload/moe_placement.h"

#include <stdbool.h>

/* One set-up of the grid below. */
struct setup {
    const char *name;
    struct experiment_model model;
    struct experiment_traffic traffic;
    struct moe_placement placement;
    bool early_pacing;
};

#define SMALL_MODEL                                                                                                    \
    { .hidden = 256, .experts = 32, .top_k = 4 }
#define TRAFFIC(...)                                                                                                   \
    {                                                                                                                  \
        .dispatch = true, .combine = true, .dispatch_type = EXPERIMENT_TYPE_FP8, .combine_type = EXPERIMENT_TYPE_BF16, \
        .jitter_ps = 50000, .expert_time_ps = 7000, __VA_ARGS__                                                        \
    }
#define DIRECT .algorithm = EXPERIMENT_ALGORITHM_DIRECT
#define TWO_HOP .algorithm = EXPERIMENT_ALGORITHM_TWO_HOP
#define PXN .algorithm = EXPERIMENT_ALGORITHM_PXN, .chunk_bytes = 1024
#define NCCL .algorithm = EXPERIMENT_ALGORITHM_NCCL_P2P, .chunk_bytes = 1024
#define PAIRWISE .algorithm = EXPERIMENT_ALGORITHM_PAIRWISE
#define HYBRID .algorithm = EXPERIMENT_ALGORITHM_HYBRID_EP
#define BACKWARD                                                                                                       \
    .combine_backward = true, .dispatch_backward = true, .combine_backward_type = EXPERIMENT_TYPE_FP8,                 \
    .dispatch_backward_type = EXPERIMENT_TYPE_BF16, .turn_time_ps = 3000, .expert_backward_time_ps = 9000
#define ON(ranks, domain)                                                                                              \
    { .n_ranks = (ranks), .ranks_per_domain = (domain) }
#define PACKED .group_placement = EXPERIMENT_GROUP_PLACEMENT_PACKED
/* 5, 2, 6 and 3 GPUs of 4 domains of 6 */
#define PARTS .expert_parallelism = 8, .gpus = "0-4, 6-7, 12-17, 18, 20-21"
/* 4 of each domain, not the same */
#define EQUAL_PARTS .expert_parallelism = 8, .gpus = "0-3, 7-10, 12-15, 20-23"
#define STRIDED .group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED

static const struct setup setups[] = {
    {"direct, no NVLink", SMALL_MODEL, TRAFFIC(DIRECT, .tokens_per_gpu = 50), ON(16, 1), false},
    {"direct, one domain", SMALL_MODEL, TRAFFIC(DIRECT, .tokens_per_gpu = 50, .exchange_counts = true), ON(16, 16),
     false},
    {"direct, domains", SMALL_MODEL, TRAFFIC(DIRECT, .tokens_per_gpu = 33, .exchange_counts = true), ON(16, 4), false},
    {"direct, paced", SMALL_MODEL, TRAFFIC(DIRECT, .tokens_per_gpu = 33, .exchange_counts = true), ON(16, 4), true},
    {"direct, groups across domains", SMALL_MODEL,
     TRAFFIC(DIRECT, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8), ON(24, 6), true},
    {"direct, strided groups", SMALL_MODEL,
     TRAFFIC(DIRECT, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8, STRIDED), ON(24, 4), true},
    {"direct, random groups", SMALL_MODEL,
     TRAFFIC(DIRECT, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8,
             .group_placement = EXPERIMENT_GROUP_PLACEMENT_RANDOM),
     ON(24, 4), true},
    {"direct, strided hosts", SMALL_MODEL,
     TRAFFIC(DIRECT, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 4, STRIDED), ON(12, 1),
     false},
    {"direct, one token", SMALL_MODEL, TRAFFIC(DIRECT, .tokens_per_gpu = 1, .exchange_counts = true), ON(32, 4), true},
    {"direct, hot", SMALL_MODEL,
     TRAFFIC(DIRECT, .tokens_per_gpu = 40, .gate = EXPERIMENT_GATE_HOT_EXPERT, .hot_expert_factor = 8), ON(16, 2),
     false},
    {"direct, dispatch only",
     SMALL_MODEL,
     {.dispatch = true, DIRECT, .tokens_per_gpu = 10, .exchange_counts = true},
     ON(8, 2),
     false},
    {"direct, combine only", SMALL_MODEL, {.combine = true, DIRECT, .tokens_per_gpu = 10}, ON(8, 2), false},
    {"two_hop, one domain", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true), ON(16, 16), true},
    {"two_hop, domains", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true), ON(16, 4), false},
    {"two_hop, paced", SMALL_MODEL, TRAFFIC(TWO_HOP, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true),
     ON(16, 4), true},
    {"two_hop, no counts", SMALL_MODEL, TRAFFIC(TWO_HOP, .tokens_per_gpu = 77, .chunk_tokens = 10), ON(32, 8), false},
    {"two_hop, no NVLink", SMALL_MODEL, TRAFFIC(TWO_HOP, .tokens_per_gpu = 20, .chunk_tokens = 3), ON(16, 1), false},
    {"two_hop, chunk of one", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 9, .chunk_tokens = 1, .exchange_counts = true), ON(16, 2), true},
    {"two_hop, large chunks", SMALL_MODEL, TRAFFIC(TWO_HOP, .tokens_per_gpu = 700, .chunk_tokens = 300), ON(8, 2),
     false},
    {"two_hop, groups of two domains", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 21, .chunk_tokens = 4, .exchange_counts = true, .expert_parallelism = 8),
     ON(32, 4), true},
    {"two_hop, strided groups of two domains", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 21, .chunk_tokens = 4, .exchange_counts = true, .expert_parallelism = 8,
             STRIDED),
     ON(32, 4), true},
    {"two_hop, strided groups of four domains", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 40, .chunk_tokens = 8, .expert_parallelism = 8, STRIDED), ON(24, 2), false},
    {"two_hop, groups within a domain", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 21, .chunk_tokens = 4, .exchange_counts = true, .expert_parallelism = 4),
     ON(32, 8), true},
    {"two_hop, one token", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 1, .chunk_tokens = 64, .exchange_counts = true), ON(32, 4), true},
    {"two_hop, groups of one", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 5, .chunk_tokens = 4, .exchange_counts = true, .expert_parallelism = 1),
     ON(4, 2), true},
    {"two_hop, combine only",
     SMALL_MODEL,
     {.combine = true, TWO_HOP, .tokens_per_gpu = 10, .chunk_tokens = 4},
     ON(8, 2),
     false},
    {"two_hop, one expert for all", SMALL_MODEL,
     TRAFFIC(TWO_HOP, .tokens_per_gpu = 30, .chunk_tokens = 4, .gate = EXPERIMENT_GATE_ZIPF, .zipf_exponent = 4),
     ON(16, 4), false},
    {"pxn, domains", SMALL_MODEL, TRAFFIC(PXN, .tokens_per_gpu = 33, .exchange_counts = true), ON(16, 4), false},
    {"pxn, one domain, backward", SMALL_MODEL, TRAFFIC(PXN, BACKWARD, .tokens_per_gpu = 20), ON(8, 8), false},
    {"pxn, strided groups, backward", SMALL_MODEL,
     TRAFFIC(PXN, BACKWARD, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8, STRIDED), ON(24, 4),
     false},
    {"pxn, no NVLink", SMALL_MODEL, TRAFFIC(PXN, .tokens_per_gpu = 20), ON(8, 1), false},
    {"nccl_p2p, domains", SMALL_MODEL, TRAFFIC(NCCL, .channels = 3, .tokens_per_gpu = 200, .exchange_counts = true),
     ON(16, 4), false},
    {"nccl_p2p, one channel, backward", SMALL_MODEL, TRAFFIC(NCCL, BACKWARD, .channels = 1, .tokens_per_gpu = 20),
     ON(16, 8), false},
    {"nccl_p2p, groups across domains", SMALL_MODEL,
     TRAFFIC(NCCL, .channels = 4, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8), ON(24, 6),
     false},
    {"nccl_p2p, random groups", SMALL_MODEL,
     TRAFFIC(NCCL, .channels = 99, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8,
             .group_placement = EXPERIMENT_GROUP_PLACEMENT_RANDOM),
     ON(24, 4), false},
    {"pairwise, domains", SMALL_MODEL, TRAFFIC(PAIRWISE, .tokens_per_gpu = 33, .exchange_counts = true), ON(16, 4),
     false},
    {"pairwise, groups across domains, backward", SMALL_MODEL,
     TRAFFIC(PAIRWISE, BACKWARD, .tokens_per_gpu = 3, .exchange_counts = true, .expert_parallelism = 8), ON(24, 6),
     false},
    {"pairwise, hot", SMALL_MODEL,
     TRAFFIC(PAIRWISE, .tokens_per_gpu = 40, .gate = EXPERIMENT_GATE_HOT_EXPERT, .hot_expert_factor = 8), ON(16, 2),
     false},
    {"hybrid_ep, domains", SMALL_MODEL,
     TRAFFIC(HYBRID, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true), ON(16, 4), false},
    {"hybrid_ep, one domain, backward", SMALL_MODEL,
     TRAFFIC(HYBRID, BACKWARD, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true), ON(16, 16), false},
    {"hybrid_ep, strided groups, backward", SMALL_MODEL,
     TRAFFIC(HYBRID, BACKWARD, .tokens_per_gpu = 21, .chunk_tokens = 4, .exchange_counts = true,
             .expert_parallelism = 8, STRIDED),
     ON(32, 4), false},
    {"two_hop, domains, backward", SMALL_MODEL,
     TRAFFIC(TWO_HOP, BACKWARD, .tokens_per_gpu = 50, .chunk_tokens = 8, .exchange_counts = true), ON(16, 4), true},
    {"two_hop, backward only",
     SMALL_MODEL,
     {.combine_backward = true, .dispatch_backward = true, TWO_HOP, .tokens_per_gpu = 20, .chunk_tokens = 4},
     ON(16, 4),
     false},
    {"two_hop, combine and the last",
     SMALL_MODEL,
     {.combine = true, .dispatch_backward = true, TWO_HOP, .tokens_per_gpu = 20, .chunk_tokens = 4},
     ON(16, 4),
     false},
    {"direct, job on parts of domains", SMALL_MODEL,
     TRAFFIC(DIRECT, BACKWARD, PARTS, .tokens_per_gpu = 20, .exchange_counts = true), ON(24, 6), true},
    {"direct, packed", SMALL_MODEL, TRAFFIC(DIRECT, PARTS, PACKED, .tokens_per_gpu = 20, .exchange_counts = true),
     ON(24, 6), true},
    {"pxn, packed", SMALL_MODEL, TRAFFIC(PXN, BACKWARD, PARTS, PACKED, .tokens_per_gpu = 40, .exchange_counts = true),
     ON(24, 6), false},
    {"pxn, random groups", SMALL_MODEL,
     TRAFFIC(PXN, .tokens_per_gpu = 20, .exchange_counts = true, .expert_parallelism = 8,
             .group_placement = EXPERIMENT_GROUP_PLACEMENT_RANDOM),
     ON(24, 4), false},
    {"nccl_p2p, packed", SMALL_MODEL, TRAFFIC(NCCL, PARTS, PACKED, .channels = 3, .tokens_per_gpu = 40), ON(24, 6),
     false},
    {"pairwise, packed", SMALL_MODEL, TRAFFIC(PAIRWISE, PARTS, PACKED, .tokens_per_gpu = 20), ON(24, 6), false},
    {"two_hop, equal parts of domains", SMALL_MODEL,
     TRAFFIC(TWO_HOP, BACKWARD, EQUAL_PARTS, .tokens_per_gpu = 40, .chunk_tokens = 4, .exchange_counts = true),
     ON(24, 6), true},
    {"hybrid_ep, equal parts of domains", SMALL_MODEL,
     TRAFFIC(HYBRID, BACKWARD, EQUAL_PARTS, .tokens_per_gpu = 40, .chunk_tokens = 4, .exchange_counts = true),
     ON(24, 6), false},
    {"direct, domains, backward", SMALL_MODEL, TRAFFIC(DIRECT, BACKWARD, .tokens_per_gpu = 33, .exchange_counts = true),
     ON(16, 4), true},
};

#endif
