// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Published models by name: the figures that a configuration's section `model` starts from, each with its source.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_PRESET_H
#define MOEFABRIC_CONFIG_EXPERIMENT_PRESET_H

#include "config/experiment.h"

#include <stdio.h>

/** A published model. Figures that its source does not give are 0. */
struct experiment_preset {
    const char *name;
    uint32_t layers, moe_layers;  /**< all, and those with experts; 0 of these: a dense model */
    uint32_t hidden;              /**< elements of a token */
    uint32_t experts, top_k;      /**< routed ones; 0: dense */
    uint32_t ffn_hidden;          /**< of an expert; dense: of the feed-forward layer */
    uint32_t shared_hidden;       /**< of the expert that all tokens use */
    uint32_t groups, groups_kept; /**< of experts, in the router; 1 = no groups */
    uint32_t sequence_tokens;     /**< of the reference's training */
    const char *source;           /**< publication or repository with its commit */
};

/** NULL-terminated names of all presets. */
extern const char *const experiment_preset_names[];

/** The preset of a name, or NULL. */
const struct experiment_preset *experiment_preset_find(const char *name);

/** Is it a recommender: embedding tables and matrices, no layers of a transformer? Then `hidden` is the width of a table's row, `layers` are those that cross, and a sample counts as a token. */
bool experiment_preset_is_recommender(const struct experiment_preset *preset);

/** Fills every value of a model that is 0 from its preset; without preset groups and groups_kept become 1. False if there is no such preset: nothing is filled then. */
bool experiment_preset_fill(struct experiment_model *model);

/** Prints the figures of a preset and where they are from. False if there is no preset of this name. */
bool experiment_preset_explain(FILE *stream, const char *name);

#endif
