// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The series of a run, read back. Part of load.h.
 */
#ifndef MOEFABRIC_RESULTS_LOAD_SERIES_H
#define MOEFABRIC_RESULTS_LOAD_SERIES_H

#include "results/series.h"

#include <hdf5.h>
#include <stdint.h>

/**
 * Reads the group `series` of a run with n_links links; what it needs is taken off *budget_bytes. NULL, with the name of the dataset or
 * attribute at fault in *wrong, if something is missing, of the wrong type or size, names no link, or does not fit the budget.
 */
struct series *load_series(hid_t group, uint32_t n_links, uint64_t *budget_bytes, const char **wrong);

#endif
