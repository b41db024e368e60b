// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The traffic of a configuration as text, for other simulators (tools/peers).
 */
#ifndef MOEFABRIC_BENCH_WORK_H
#define MOEFABRIC_BENCH_WORK_H

#include "config/experiment.h"

#include <stdio.h>

/**
 * Prints `hosts H per_leaf P spines S`, then a line `source destination bytes` a message, in the order in which each host
 * posts them. False if the configuration is no pattern on a leaf-spine fabric without NVLink (said on stderr).
 */
bool bench_work_print(FILE *stream, const struct experiment *experiment);

#endif
