// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/placement_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_placement, member), .size = sizeof(((struct experiment_placement *)0)->member)

const char *const placement_keys_kinds[] = {"contiguous",  "round_robin", "domain_packed", "spread", "eplb",
                                            "eplb_global", "affinity",    "file",          NULL};
static const char *const weight_types[] = {"fp8", "bf16", "nvfp4", NULL};
static const char *const replica_choices[] = {"nearest", "even", NULL};

const struct key placement_keys[PLACEMENT_KEYS] = {
    {"kind", KEY_CHOICE, .fallback = "contiguous", .names = placement_keys_kinds,
     .doc = "moe: which experts a GPU of an expert-parallel group holds. contiguous: consecutive ones; round_robin: "
            "dealt out to GPUs in turn; domain_packed: consecutive ones in one NVLink domain, dealt out to its GPUs; "
            "spread: dealt out to NVLink domains in turn; eplb: by load with replicas, groups of experts packed onto "
            "domains where domains divide groups (DeepSeek's EPLB, github.com/deepseek-ai/EPLB d52c72d), eplb_global: "
            "the same without groups and domains; affinity: experts that tokens pick together in one domain; file: as "
            "`file` says.",
     FIELD(kind)},
    {"file", KEY_TEXT,
     .doc = "file: CSV with the columns layer, expert, replica and rank (within the group), or YAML (.yaml): `layers` "
            "maps "
            "each layer to the ranks of its experts in order, as `{layers: {0: [3, [0, 2], 1]}}` with two replicas of "
            "expert 1. Looked up beside the configuration; `moefabric place` writes such files.",
     FIELD(file)},
    {"layer", KEY_QUANTITY, QUANTITY_COUNT, "0", "65535", "0", .doc = "file: the layer whose placement is taken.",
     FIELD(layer)},
    {"redundant_experts", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536", "0",
     .doc = "eplb, eplb_global, affinity: replicas of experts beyond the first of each (DeepSeek-V3 serves with 32, "
            "open-infra-index day 6). Experts and these together are divided over the GPUs of a group.",
     FIELD(redundant_experts)},
    {"replica_choice", KEY_CHOICE, .fallback = "nearest", .names = replica_choices,
     .doc = "Which replica of an expert a token goes to. nearest: on its own GPU, else in its NVLink domain, else any "
            "(SGLang, srt/eplb/expert_location.py); even: any. Among several a hash of the token decides.",
     FIELD(replica_choice)},
    {"history_tokens", KEY_QUANTITY, QUANTITY_COUNT, "1", "16777216", "65536",
     .doc = "eplb, eplb_global, affinity: earlier tokens of all GPUs together, from which loads and joint choices are "
            "known: of the same gate as the run's tokens, but others (EPLB leaves open how loads are foreseen and "
            "names averages of history; the number is our choice).",
     FIELD(history_tokens)},
    {"expert_flops", KEY_REAL, QUANTITY_REAL, "0", "1e18", "1.1e15",
     .doc = "place: floating-point operations a second that a GPU reaches in the experts' grouped matrix products "
            "(DeepGEMM README, FP8 on H800: 1093 to 1297 TFLOPS); 0 = time in experts is not weighed.",
     FIELD(expert_flops)},
    {"weight_type", KEY_CHOICE, .fallback = "fp8", .names = weight_types,
     .doc = "place: number format of experts' weights, 3 × hidden × intermediate elements each, when replicas move "
            "(DeepSeek-V3: FP8, with its scales).",
     FIELD(weight_type)},
};
