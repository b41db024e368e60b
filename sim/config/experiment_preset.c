// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_preset.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define ZOO "NVIDIA Megatron-MoE-ModelZoo model_configs (e865051)"
#define GPT_OSS "OpenAI gpt-oss-120b & gpt-oss-20b model card (arXiv:2508.10925)"
#define LLAMA_3(reference) "The Llama 3 herd of models (arXiv:2407.21783), table 3; mlcommons/training " reference

/* One list makes the names and the figures: name, layers, layers with experts, hidden, experts, top_k, hidden of an expert (dense: of the feed-forward
 * layer), hidden of the shared expert, groups, groups kept, tokens of a sequence, source. Missing figures are 0. */
#define PRESETS(X)                                                                                                     \
    X("deepseek-v3", 61, 58, 7168, 256, 8, 2048, 2048, 8, 4, 4096, ZOO)                                                \
    X("gpt-oss-20b", 24, 24, 2880, 32, 4, 2880, 0, 1, 1, 8192,                                                         \
      "mlcommons/training small_llm_moe_pretraining (aa344c7)")                                                        \
    X("gpt-oss-120b", 36, 36, 2880, 128, 4, 2880, 0, 1, 1, 0, GPT_OSS)                                                 \
    X("kimi-k2", 61, 60, 7168, 384, 8, 2048, 2048, 1, 1, 4096, ZOO)                                                    \
    X("qwen3-235b-a22b", 94, 94, 4096, 128, 8, 1536, 0, 1, 1, 4096, ZOO)                                               \
    X("qwen3-30b-a3b", 48, 48, 2048, 128, 8, 768, 0, 1, 1, 4096, ZOO)                                                  \
    X("qwen3-next-80b-a3b", 48, 48, 2048, 512, 10, 512, 512, 1, 1, 4096, ZOO)                                          \
    X("mixtral-8x7b", 32, 32, 4096, 8, 2, 14336, 0, 1, 1, 0, ZOO)                                                      \
    X("mixtral-8x22b", 56, 56, 6144, 8, 2, 16384, 0, 1, 1, 0, ZOO)                                                     \
    X("deepseek-v2", 60, 59, 5120, 160, 6, 1536, 3072, 8, 3, 4096, ZOO)                                                \
    X("deepseek-v2-lite", 27, 26, 2048, 64, 6, 1408, 2816, 1, 1, 4096, ZOO)                                            \
    X("qwen2-57b-a14b", 28, 28, 3584, 64, 8, 2560, 20480, 1, 1, 0, ZOO)                                                \
    X("llama-3.1-405b", 126, 0, 16384, 0, 0, 53248, 0, 1, 1, 8192,                                                     \
      LLAMA_3("retired_benchmarks/llama31_405b (275b232)"))                                                            \
    X("llama-3.1-8b", 32, 0, 4096, 0, 0, 14336, 0, 1, 1, 8192, LLAMA_3("small_llm_pretraining (2b94434)"))             \
    X("llama-2-70b-lora", 80, 0, 8192, 0, 0, 28672, 0, 1, 1, 8192,                                                     \
      "config.json of meta-llama/Llama-2-70b-hf (arXiv:2307.09288); sequence: mlcommons/training llama2_70b_lora "     \
      "(00baefa)")                                                                                                     \
    X("flux.1", 57, 0, 3072, 0, 0, 12288, 0, 1, 1, 0,                                                                  \
      "19 double and 38 single blocks: black-forest-labs/flux src/flux/util.py (1f71c43), mlcommons/training flux "    \
      "(3b3a4a6)")                                                                                                     \
    X("dlrm-dcnv2", 3, 0, 128, 0, 0, 0, 0, 1, 1, 1,                                                                    \
      "mlcommons/training recommendation_v2/torchrec_dlrm/README.MD (3e2f731): dcn_num_layers 3, embedding_dim 128")

#define NAME(name, ...) name,
#define MODEL(text, all, moe, width, n_experts, k, expert_width, shared_width, n_groups, kept, sequence, from)         \
    {.name = text,                                                                                                     \
     .layers = all,                                                                                                    \
     .moe_layers = moe,                                                                                                \
     .hidden = width,                                                                                                  \
     .experts = n_experts,                                                                                             \
     .top_k = k,                                                                                                       \
     .ffn_hidden = expert_width,                                                                                       \
     .shared_hidden = shared_width,                                                                                    \
     .groups = n_groups,                                                                                               \
     .groups_kept = kept,                                                                                              \
     .sequence_tokens = sequence,                                                                                      \
     .source = from},

const char *const experiment_preset_names[] = {PRESETS(NAME) NULL};
static const struct experiment_preset presets[] = {PRESETS(MODEL)};

const struct experiment_preset *experiment_preset_find(const char *name) {
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

bool experiment_preset_is_recommender(const struct experiment_preset *preset) {
    return strcmp(preset->name, "dlrm-dcnv2") == 0;
}

static void fill(uint32_t *value, uint32_t preset) {
    if (*value == 0) {
        *value = preset;
    }
}

bool experiment_preset_fill(struct experiment_model *model) {
    static const struct experiment_preset without = {.groups = 1, .groups_kept = 1};
    const struct experiment_preset *preset =
        model->preset[0] == '\0' ? &without : experiment_preset_find(model->preset);
    if (preset == NULL) {
        return false;
    }
    fill(&model->hidden, preset->hidden);
    fill(&model->experts, preset->experts);
    fill(&model->top_k, preset->top_k);
    fill(&model->groups, preset->groups);
    fill(&model->groups_kept, preset->groups_kept);
    fill(&model->intermediate, preset->ffn_hidden);
    return true;
}

static const char *kind_of(const struct experiment_preset *preset) {
    return experiment_preset_is_recommender(preset) ? "recommender"
           : preset->experts > 0                    ? "mixture of experts"
                                                    : "dense";
}

bool experiment_preset_explain(FILE *stream, const char *name) {
    const struct experiment_preset *preset = experiment_preset_find(name);
    if (preset == NULL) {
        return false;
    }
    fprintf(stream, "model preset `%s`: %s\n", name, kind_of(preset));
    fprintf(stream, "    layers: %" PRIu32, preset->layers);
    if (preset->experts > 0) {
        fprintf(stream, ", %" PRIu32 " of them with experts\n", preset->moe_layers);
        fprintf(stream, "    experts: %" PRIu32 ", a token picks %" PRIu32 "; hidden %" PRIu32 " of each",
                preset->experts, preset->top_k, preset->ffn_hidden);
        if (preset->shared_hidden > 0) {
            fprintf(stream, ", %" PRIu32 " of the shared one", preset->shared_hidden);
        }
        if (preset->groups > 1) {
            fprintf(stream, "\n    groups: %" PRIu32 ", a token uses %" PRIu32 " of them", preset->groups,
                    preset->groups_kept);
        }
    }
    fprintf(stream, "\n    hidden: %" PRIu32 " elements a %s\n", preset->hidden,
            experiment_preset_is_recommender(preset) ? "table's row" : "token");
    if (preset->experts == 0 && preset->ffn_hidden > 0) {
        fprintf(stream, "    feed-forward hidden: %" PRIu32 "\n", preset->ffn_hidden);
    }
    if (preset->sequence_tokens > 1) {
        fprintf(stream, "    sequence: %" PRIu32 " tokens in the reference\n", preset->sequence_tokens);
    }
    fprintf(stream, "    source: %s\n", preset->source);
    return true;
}
