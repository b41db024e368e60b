// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The kind of check `rail_alltoall`: an all-to-all of which one rail is simulated, alone or beside other traffic.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_RAIL_H
#define MOEFABRIC_COMMAND_VALIDATE_RAIL_H

#include "command/validate_kind.h"

/** Bus bandwidth of an all-to-all over whole nodes from one rail of them, or the share of it that is kept beside a background. */
extern const struct validate_kind validate_rail_alltoall;

#endif
