// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of traffic beside the measured one. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_BACKGROUND_KEYS_H
#define MOEFABRIC_CONFIG_BACKGROUND_KEYS_H

#include "config/key.h"

/** Keys of an item of the list `background`; base struct experiment_background. */
extern const struct key background_keys[10];

#endif
