// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What section `gate` contradicts, and where its file is.
 */
#ifndef MOEFABRIC_CONFIG_GATE_CHECK_H
#define MOEFABRIC_CONFIG_GATE_CHECK_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** Reports what a gate lacks or cannot be; pattern moe. */
void gate_check(const struct experiment *experiment, const struct contradiction_scope *scope);

/** Sets routing->path from routing->file: relative names start at the folder of the configuration of this name. */
void gate_check_set_path(struct experiment_routing *routing, const char *configuration);

#endif
