// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Key tables of what slows and interrupts training, and of checkpoints. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_RELIABILITY_KEYS_H
#define MOEFABRIC_CONFIG_RELIABILITY_KEYS_H

#include "config/key.h"

enum { RELIABILITY_KEYS_FAILURES = 17, RELIABILITY_KEYS_CHECKPOINT = 6, RELIABILITY_KEYS_STRAGGLERS = 4 };

/** Keys of section `training.failures`; base struct experiment_interruptions. */
extern const struct key reliability_keys_failures[RELIABILITY_KEYS_FAILURES];

/** Keys of section `training.stragglers`; base struct experiment_stragglers. */
extern const struct key reliability_keys_stragglers[RELIABILITY_KEYS_STRAGGLERS];

/** Keys of section `training.checkpoint`; base struct experiment_checkpoint. */
extern const struct key reliability_keys_checkpoint[RELIABILITY_KEYS_CHECKPOINT];

#endif
