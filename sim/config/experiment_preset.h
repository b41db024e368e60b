// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Published models by name: the router's figures that a configuration's section `model` starts from.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_PRESET_H
#define MOEFABRIC_CONFIG_EXPERIMENT_PRESET_H

#include "config/experiment.h"

/** NULL-terminated names of all presets. */
extern const char *const experiment_preset_names[];

/** Fills every value of a model that is 0 from its preset; without preset groups and groups_kept become 1. False if there is no such preset: nothing is filled then. */
bool experiment_preset_fill(struct experiment_model *model);

#endif
