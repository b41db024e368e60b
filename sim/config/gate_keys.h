// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Keys of section `gate`, for experiment_keys.c.
 */
#ifndef MOEFABRIC_CONFIG_GATE_KEYS_H
#define MOEFABRIC_CONFIG_GATE_KEYS_H

#include "config/key.h"

enum { GATE_KEYS = 12 };

/** Keys of section `gate`; base struct experiment_routing. */
extern const struct key gate_keys[GATE_KEYS];

#endif
