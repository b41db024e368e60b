// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The group `series` of a run in the result file. Part of the store; layout: results/README.md.
 */
#ifndef MOEFABRIC_RESULTS_STORE_SERIES_H
#define MOEFABRIC_RESULTS_STORE_SERIES_H

#include "results/series.h"

#include <hdf5.h>

/** Writes the series of a run below its group. False if HDF5 failed. */
bool store_series_put(hid_t run, const struct series *series);

#endif
