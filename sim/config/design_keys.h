// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key table of fabrics that are worked out. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_DESIGN_KEYS_H
#define MOEFABRIC_CONFIG_DESIGN_KEYS_H

#include "config/key.h"

enum { DESIGN_KEYS = 7 };

/** Keys of the section `design`; base struct experiment_design. */
extern const struct key design_keys[DESIGN_KEYS];

#endif
