// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which NIC each GPU has, what crosses each rail, and what a GPU on a wrong rail costs.
 */
#ifndef MOEFABRIC_COMMAND_RAIL_REPORT_H
#define MOEFABRIC_COMMAND_RAIL_REPORT_H

#include "command/plan.h"
#include "fabric/fabric.h"
#include "results/json.h"

#include <stdio.h>

/**
 * Prints the GPUs of each rail, and of a mixture-of-experts plan the bytes that each rail's NICs send and receive in each phase, largest ÷ mean. Up to
 * 16 rails; of more only the GPUs' rule and the balance. Nothing where the fabric has no rails.
 */
void rail_report_print(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                       const struct plan *plan);

/** Warns of each GPU that uses another's NIC (fabric.crossed_gpus): the rail that it is on, and what of its traffic leaves its rail for that. */
void rail_report_doubt(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                       const struct plan *plan);

/** Adds a member `nics` with rail, leaf and leaf port of every GPU's NIC, where the fabric has rails. */
void rail_report_json(struct json *json, const struct fabric *fabric);

#endif
