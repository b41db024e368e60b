// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An all-to-all beside matrix multiplications: a kind of checks that runs no network.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_CONTENTION_H
#define MOEFABRIC_COMMAND_VALIDATE_CONTENTION_H

#include "command/validate_kind.h"

/** Slow-down of either. */
extern const struct validate_kind validate_contention;

#endif
