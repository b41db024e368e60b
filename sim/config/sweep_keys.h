// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of sweeps. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_SWEEP_KEYS_H
#define MOEFABRIC_CONFIG_SWEEP_KEYS_H

#include "config/key.h"

enum { SWEEP_KEYS = 5 };

/** Keys of the section `sweep`; base struct experiment_sweep. */
extern const struct key sweep_keys[SWEEP_KEYS];

#endif
