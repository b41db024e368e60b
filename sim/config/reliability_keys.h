// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Key tables of what interrupts training, and of checkpoints. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_RELIABILITY_KEYS_H
#define MOEFABRIC_CONFIG_RELIABILITY_KEYS_H

#include "config/key.h"

enum { RELIABILITY_KEYS_FAILURES = 17, RELIABILITY_KEYS_CHECKPOINT = 6 };

/** Keys of section `training.failures`; base struct experiment_interruptions. */
extern const struct key reliability_keys_failures[RELIABILITY_KEYS_FAILURES];

/** Keys of section `training.checkpoint`; base struct experiment_checkpoint. */
extern const struct key reliability_keys_checkpoint[RELIABILITY_KEYS_CHECKPOINT];

#endif
