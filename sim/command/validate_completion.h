// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The time in which the messages of a configuration complete.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_COMPLETION_H
#define MOEFABRIC_COMMAND_VALIDATE_COMPLETION_H

#include "command/validate_kind.h"

/** Packets of any configuration with one policy: a statistic of its messages' completion times, as mean over its seeds. */
extern const struct validate_kind validate_completion;

#endif
