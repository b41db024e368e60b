// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Results as one web page: tables, charts and a picture of the fabric in a single file that needs no network.
 */
#ifndef MOEFABRIC_REPORT_REPORT_H
#define MOEFABRIC_REPORT_REPORT_H

#include "base/error.h"
#include "results/load.h"

#include <stdbool.h>
#include <stdint.h>

/** A result and the name that the page shows for it. */
struct report_result {
    const char *name;
    const struct load *load;
};

/**
 * Writes the page of n results. Charts are drawn by D3 (d3js.org), which is built into the program and copied into the page with its licence.
 * The file appears under its name when it is complete; on failure *error is set (exit code 4) and an older file is untouched.
 */
bool report_write(const struct report_result *results, uint32_t n, const char *path, struct error *error);

#endif
