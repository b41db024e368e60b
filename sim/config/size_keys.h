// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of sizing. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_SIZE_KEYS_H
#define MOEFABRIC_CONFIG_SIZE_KEYS_H

#include "config/key.h"

enum { SIZE_KEYS = 20 };

/** Keys of the section `size`; base struct experiment_size. */
extern const struct key size_keys[SIZE_KEYS];

#endif
