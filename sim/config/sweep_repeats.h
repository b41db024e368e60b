// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Points that a sweep or a design space has twice: the same values written again.
 */
#ifndef MOEFABRIC_CONFIG_SWEEP_REPEATS_H
#define MOEFABRIC_CONFIG_SWEEP_REPEATS_H

#include "config/sweep.h"

/** Appends to *errors each position of a dimension whose values an earlier one has, letter for letter. Values of a range all differ. */
void sweep_repeats_check(const struct sweep_dimension *dimension, struct error_list *errors);

#endif
