// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/model.h"

#include "base/error_id.h"

#include <string.h>

enum {
    FP8_BLOCK = 128, /* elements that share a scale (DeepSeek-V3 technical report, arXiv 2412.19437, 3.3) */
    FP8_SCALE_BYTES = 4,
    NVFP4_BLOCK = 16, /* NVFP4: one E4M3 scale per 16 elements (NVIDIA, Introducing NVFP4) */
};

/* Megatron-MoE-ModelZoo and the models' own config.json on Hugging Face. */
static const struct model_preset presets[] = {
    {"deepseek-v3", 61, 58, 7168, 256, 8, 8, 4, "Megatron-MoE-ModelZoo model_configs (e865051); arXiv 2412.19437"},
    {"gpt-oss-20b", 24, 24, 2880, 32, 4, 1, 1,
     "mlcommons/training small_llm_moe_pretraining gpt_oss_20B yaml (aa344c7)"},
    {"kimi-k2", 61, 60, 7168, 384, 8, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"qwen3-235b-a22b", 94, 94, 4096, 128, 8, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"qwen3-30b-a3b", 48, 48, 2048, 128, 8, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"qwen3-next-80b-a3b", 48, 48, 2048, 512, 10, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"mixtral-8x7b", 32, 32, 4096, 8, 2, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"mixtral-8x22b", 56, 56, 6144, 8, 2, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"deepseek-v2", 60, 59, 5120, 160, 6, 8, 3, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"deepseek-v2-lite", 27, 26, 2048, 64, 6, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
    {"qwen2-57b-a14b", 28, 28, 3584, 64, 8, 1, 1, "Megatron-MoE-ModelZoo model_configs (e865051)"},
};

enum { N_PRESETS = sizeof presets / sizeof presets[0] };

const struct model_preset *model_presets(uint32_t *count) {
    *count = N_PRESETS;
    return presets;
}

const struct model_preset *model_find(const char *name) {
    for (uint32_t i = 0; i < N_PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

static uint32_t given_or(uint32_t given, uint32_t otherwise) {
    return given ? given : otherwise;
}

static bool set_unknown(const char *name, struct error *error) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_VALUE_NAME, "there is no model preset `%s`", name);
    char names[ERROR_MESSAGE_SIZE / 2] = "";
    for (uint32_t i = 0; i < N_PRESETS; i++) {
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, presets[i].name, sizeof names - strlen(names) - 1);
    }
    error_hint(error, "presets: %s", names);
    return false;
}

bool model_resolve(const struct experiment_model *given, struct experiment_model *resolved, struct error *error) {
    static const struct model_preset nothing = {.groups = 1, .groups_kept = 1};
    const struct model_preset *preset = given->preset[0] ? model_find(given->preset) : &nothing;
    if (!preset) {
        return set_unknown(given->preset, error);
    }
    *resolved = *given;
    resolved->hidden = given_or(given->hidden, preset->hidden);
    resolved->experts = given_or(given->experts, preset->experts);
    resolved->top_k = given_or(given->top_k, preset->top_k);
    resolved->groups = given_or(given->groups, preset->groups);
    resolved->groups_kept = given_or(given->groups_kept, preset->groups_kept);
    if (!resolved->hidden || !resolved->experts || !resolved->top_k) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_MODEL,
                  "without a model preset hidden, experts and top_k must all be given");
        return false;
    }
    return true;
}

static uint32_t blocks(uint32_t elements, uint32_t block) {
    return (elements + block - 1) / block;
}

uint32_t model_token_bytes(enum experiment_type type, uint32_t hidden) {
    switch (type) {
    case EXPERIMENT_TYPE_FP8:
        return hidden + FP8_SCALE_BYTES * blocks(hidden, FP8_BLOCK);
    case EXPERIMENT_TYPE_BF16:
        return 2 * hidden;
    case EXPERIMENT_TYPE_NVFP4:
        return blocks(hidden, 2) + blocks(hidden, NVFP4_BLOCK);
    }
    BUG("token type %d", (int)type);
}
