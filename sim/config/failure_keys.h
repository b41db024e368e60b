// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of failures over time. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_FAILURE_KEYS_H
#define MOEFABRIC_CONFIG_FAILURE_KEYS_H

#include "config/key.h"

/** Keys of an item of the list `failures`; base struct experiment_failure. */
extern const struct key failure_keys[8];

#endif
