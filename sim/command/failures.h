// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From the failures of a configuration to those of links: names are looked up, flaps spelt out.
 */
#ifndef MOEFABRIC_COMMAND_FAILURES_H
#define MOEFABRIC_COMMAND_FAILURES_H

#include "base/error.h"
#include "config/experiment.h"
#include "fabric/fabric.h"
#include "fabric/failure.h"

/** Fills a list, to be freed by failures_fini. False with *error (nothing to free) if a name is unknown or names something that cannot fail. */
bool failures_init(struct failure_list *list, const struct experiment *experiment, const struct fabric *fabric,
                   struct error *error);

/** Frees what the list holds. */
void failures_fini(struct failure_list *list);

/** Whether failures_init would succeed: to be asked before anything is simulated. */
bool failures_check(const struct experiment *experiment, const struct fabric *fabric, struct error *error);

#endif
