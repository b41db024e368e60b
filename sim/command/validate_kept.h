// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Checks of what traffic keeps of its rate where links fail: the configuration with its failures against the same without.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_KEPT_H
#define MOEFABRIC_COMMAND_VALIDATE_KEPT_H

#include "command/validate_kind.h"

/** Kind kept_rate. */
extern const struct validate_kind validate_kept_rate;

#endif
