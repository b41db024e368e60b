// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Dimension scales of a result file: what the rows and columns of its datasets are, for xarray, netCDF and h5py.
 *
 * Written after the HDF5 Dimension Scale Specification (support.hdfgroup.org, H5DS) attribute by attribute, as the library's own
 * H5DSattach_scale of HDF5 1.10 writes padding that it has not set, so that files of one run would differ. Part of the store.
 */
#ifndef MOEFABRIC_RESULTS_STORE_AXIS_H
#define MOEFABRIC_RESULTS_STORE_AXIS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

enum { STORE_AXIS_USERS = 64, STORE_AXIS_DIMENSIONS = 2 };

/** A dataset that has an axis as one of its dimensions. */
struct store_axis_user {
    hobj_ref_t dataset;
    uint32_t dimension;
};

/** An axis being written. Ended by store_axis_end; a struct store_axis in which all is zero needs no end. */
struct store_axis {
    hid_t scale; /**< dataset of its coordinates */
    hobj_ref_t reference;
    struct store_axis_user users[STORE_AXIS_USERS];
    uint32_t n_users;
};

/** Makes a dataset of one dimension that stands in a group the coordinates of an axis of its name. False if HDF5 failed. */
bool store_axis_begin(struct store_axis *axis, hid_t group, const char *name);

/** Writes from + i × step for i below n as a dataset, and begins an axis of it. False if HDF5 failed. */
bool store_axis_count(struct store_axis *axis, hid_t group, const char *name, const char *units, const char *long_name,
                      uint64_t from, uint64_t step, uint64_t n);

/** Says of a dataset in a group that these are its axes, one a dimension, at most STORE_AXIS_DIMENSIONS. False if HDF5 failed. */
bool store_axis_attach(struct store_axis *const *axes, int n_dimensions, hid_t group, const char *name);

/** Notes at the axis who uses it, and closes it. False if HDF5 failed. */
bool store_axis_end(struct store_axis *axis);

#endif
