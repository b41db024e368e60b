// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of the training step. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_TRAINING_KEYS_H
#define MOEFABRIC_CONFIG_TRAINING_KEYS_H

#include "config/key.h"

enum { TRAINING_KEYS = 48 };

/** Keys of section `training`; base struct experiment_training. */
extern const struct key training_keys[TRAINING_KEYS];

#endif
