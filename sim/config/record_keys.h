// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of recorded series. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_RECORD_KEYS_H
#define MOEFABRIC_CONFIG_RECORD_KEYS_H

#include "config/key.h"

enum { RECORD_KEYS = 6 };

/** Keys of the section `record`; base struct experiment_record. */
extern const struct key record_keys[RECORD_KEYS];

#endif
