// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kind `phase`: how long a dispatch, a combine or a pattern takes, and its bandwidth by the definitions of publications.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_PHASE_H
#define MOEFABRIC_COMMAND_VALIDATE_PHASE_H

#include "command/validate_kind.h"

extern const struct validate_kind validate_phase;

#endif
