// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of section `placement`.
 */
#ifndef MOEFABRIC_CONFIG_PLACEMENT_KEYS_H
#define MOEFABRIC_CONFIG_PLACEMENT_KEYS_H

#include "config/key.h"

enum { PLACEMENT_KEYS = 8 };

/** Keys of a struct experiment_placement. */
extern const struct key placement_keys[PLACEMENT_KEYS];

/** Names of placements, in the order of enum experiment_placement_kind; ended by NULL. */
extern const char *const placement_keys_kinds[];

#endif
