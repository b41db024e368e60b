// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the page shows, as JSON: small enough for a page, whatever the size of the run.
 */
#ifndef MOEFABRIC_REPORT_REPORT_DATA_H
#define MOEFABRIC_REPORT_REPORT_DATA_H

#include "results/json.h"
#include "results/load.h"

/**
 * Writes one result as an object: the comparison as `compare --json` prints it; the devices and links of the fabric; and for each policy the
 * distributions over all seeds, and from its first run the phases of each rank, what each link of the fabric did, the traffic matrices,
 * the load of experts, the slowest flows, and the series if they were recorded. Large tables are put together in blocks (report_blocks.h).
 */
void report_data(const char *name, const struct load *load, struct json *json);

#endif
