// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of decoding. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_DECODE_KEYS_H
#define MOEFABRIC_CONFIG_DECODE_KEYS_H

#include "config/key.h"

enum { DECODE_KEYS = 5 };

/** Keys of the section `decode`; base struct experiment_decode. */
extern const struct key decode_keys[DECODE_KEYS];

#endif
