// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a mixture-of-experts model asks of the network: sizes of its router and of a token, for published models.
 */
#ifndef MOEFABRIC_WORKLOAD_MODEL_H
#define MOEFABRIC_WORKLOAD_MODEL_H

#include "base/error.h"
#include "config/experiment.h"

#include <stdbool.h>
#include <stdint.h>

/** A published model. */
struct model_preset {
    const char *name;             /**< as a configuration names it */
    uint32_t layers, moe_layers;  /**< transformer layers, and how many of them route to experts */
    uint32_t hidden;              /**< elements of a token */
    uint32_t experts, top_k;      /**< routed experts of a layer, and how many a token picks */
    uint32_t groups, groups_kept; /**< group-limited routing: n_group and topk_group; 1 and 1 without groups */
    const char *source;           /**< where the figures are from */
};

/** The known models; *count says how many. */
const struct model_preset *model_presets(uint32_t *count);

/** The model of that name, or NULL. */
const struct model_preset *model_find(const char *name);

/**
 * Fills every value of *resolved: given values (not 0) win, the rest is the preset's. Without a preset hidden, experts and top_k
 * must be given, groups and groups_kept default to 1. False with *error if the preset is unknown or a value is missing.
 */
bool model_resolve(const struct experiment_model *given, struct experiment_model *resolved, struct error *error);

/**
 * Bytes of one token of hidden elements, as expert-parallel kernels send it:
 * BF16 2 × hidden; FP8 1 × hidden and a 4-byte scale per 128 elements (DeepEP README and tests: 7168 × (1 + 4/128) = 7392);
 * NVFP4 hidden / 2 and a 1-byte scale per 16 elements (7168 × (1/2 + 1/16) = 4032). Started blocks count whole.
 */
uint32_t model_token_bytes(enum experiment_type type, uint32_t hidden);

#endif
