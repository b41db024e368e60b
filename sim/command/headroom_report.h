// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What PFC headroom the ports of a fabric have, and whether that is enough.
 */
#ifndef MOEFABRIC_COMMAND_HEADROOM_REPORT_H
#define MOEFABRIC_COMMAND_HEADROOM_REPORT_H

#include "config/topology.h"
#include "fabric/fabric.h"

#include <stdio.h>

/** Prints a table: for each kind of port of switches with PFC, its headroom, and the most that can come after a pause. Nothing without PFC. */
void headroom_report_print(FILE *stream, const struct topology *topology, const struct fabric *fabric);

/** Prints a note, with the arithmetic, for each kind of port whose fixed headroom is below what can come after a pause. */
void headroom_report_doubt(FILE *stream, const struct topology *topology, const struct fabric *fabric);

#endif
