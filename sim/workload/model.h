// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a mixture-of-experts model asks of the network: sizes of its router and of a token.
 */
#ifndef MOEFABRIC_WORKLOAD_MODEL_H
#define MOEFABRIC_WORKLOAD_MODEL_H

#include "base/error.h"
#include "config/experiment.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Fills every value of *resolved: given values (not 0) win, the rest is the preset's (config/experiment_preset.h). Without a preset hidden, experts and top_k
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
