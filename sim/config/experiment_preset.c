// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_preset.h"

#include <stddef.h>
#include <string.h>

/* One list makes the names and the figures: name, hidden, experts, top_k, groups, groups_kept,
 * intermediate of an expert (moe_ffn_hidden_size).
 * NVIDIA Megatron-MoE-ModelZoo model_configs (e865051); gpt-oss-20b: mlcommons/training small_llm_moe_pretraining (aa344c7). */
#define PRESETS(X)                                                                                                     \
    X("deepseek-v3", 7168, 256, 8, 8, 4, 2048)                                                                         \
    X("gpt-oss-20b", 2880, 32, 4, 1, 1, 2880)                                                                          \
    X("kimi-k2", 7168, 384, 8, 1, 1, 2048)                                                                             \
    X("qwen3-235b-a22b", 4096, 128, 8, 1, 1, 1536)                                                                     \
    X("qwen3-30b-a3b", 2048, 128, 8, 1, 1, 768)                                                                        \
    X("qwen3-next-80b-a3b", 2048, 512, 10, 1, 1, 512)                                                                  \
    X("mixtral-8x7b", 4096, 8, 2, 1, 1, 14336)                                                                         \
    X("mixtral-8x22b", 6144, 8, 2, 1, 1, 16384)                                                                        \
    X("deepseek-v2", 5120, 160, 6, 8, 3, 1536)                                                                         \
    X("deepseek-v2-lite", 2048, 64, 6, 1, 1, 1408)                                                                     \
    X("qwen2-57b-a14b", 3584, 64, 8, 1, 1, 2560)

#define NAME(name, hidden, experts, top_k, groups, groups_kept, intermediate) name,
#define MODEL(name, hidden, experts, top_k, groups, groups_kept, intermediate)                                         \
    {name, hidden, experts, top_k, groups, groups_kept, intermediate},

const char *const experiment_preset_names[] = {PRESETS(NAME) NULL};
static const struct experiment_model models[] = {PRESETS(MODEL)};

static void fill(uint32_t *value, uint32_t preset) {
    if (*value == 0) {
        *value = preset;
    }
}

bool experiment_preset_fill(struct experiment_model *model) {
    static const struct experiment_model without = {.groups = 1, .groups_kept = 1};
    const struct experiment_model *preset = model->preset[0] == '\0' ? &without : NULL;
    for (size_t i = 0; i < sizeof models / sizeof models[0] && preset == NULL; i++) {
        preset = strcmp(models[i].preset, model->preset) == 0 ? &models[i] : NULL;
    }
    if (preset == NULL) {
        return false;
    }
    fill(&model->hidden, preset->hidden);
    fill(&model->experts, preset->experts);
    fill(&model->top_k, preset->top_k);
    fill(&model->groups, preset->groups);
    fill(&model->groups_kept, preset->groups_kept);
    fill(&model->intermediate, preset->intermediate);
    return true;
}
