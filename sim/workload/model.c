// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/model.h"

#include "base/error_id.h"
#include "config/experiment_preset.h"

#include <string.h>

enum {
    FP8_BLOCK = 128, /* elements that share a scale (DeepSeek-V3 technical report, arXiv 2412.19437, 3.3) */
    FP8_SCALE_BYTES = 4,
    NVFP4_BLOCK = 16, /* NVFP4: one E4M3 scale per 16 elements (NVIDIA, Introducing NVFP4) */
};

static bool set_unknown(const char *name, struct error *error) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_VALUE_NAME, "there is no model preset `%s`", name);
    char names[ERROR_MESSAGE_SIZE / 2] = "";
    for (uint32_t i = 0; experiment_preset_names[i] != NULL; i++) {
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, experiment_preset_names[i], sizeof names - strlen(names) - 1);
    }
    error_hint(error, "presets: %s", names);
    return false;
}

bool model_resolve(const struct experiment_model *given, struct experiment_model *resolved, struct error *error) {
    *resolved = *given;
    if (!experiment_preset_fill(resolved)) {
        return set_unknown(given->preset, error);
    }
    if (!resolved->hidden || !resolved->experts || !resolved->top_k) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_MODEL_INCOMPLETE,
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
