// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Loads of GPUs and nodes after EPLB has placed and replicated experts of given loads.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_EPLB_H
#define MOEFABRIC_COMMAND_VALIDATE_EPLB_H

#include "command/validate_kind.h"

/** Expert loads in, one figure of the placement out (workload/placement_eplb.h); no simulation, no configuration. */
extern const struct validate_kind validate_eplb;

#endif
