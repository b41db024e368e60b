// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pieces of a result file, in the one form that gives the same bytes everywhere. Part of the store; failures are noted there.
 */
#ifndef MOEFABRIC_RESULTS_STORE_PART_H
#define MOEFABRIC_RESULTS_STORE_PART_H

#include "results/column.h"

#include <hdf5.h>
#include <stdbool.h>

/** Type in the file and in memory: fixed byte order, so that every machine writes the same bytes. To be closed by the caller. */
hid_t store_part_type(enum column_type type, size_t size_bytes, bool in_memory);

/** Attributes are variable-length UTF-8: Python's h5py gives those, and only those, as str. */
bool store_part_text(hid_t object, const char *name, const char *text);

/** An attribute that is a whole number. */
bool store_part_number(hid_t object, const char *name, uint64_t value);

/** A group without time stamps. */
hid_t store_part_group(hid_t parent, const char *name);

/** A dataset without time stamps; chunked, shuffled and deflated unless it is a scalar (n_dimensions 0) or empty. At most 2 dimensions. */
hid_t store_part_dataset(hid_t parent, const char *name, hid_t type, int n_dimensions, const hsize_t *dimensions,
                         const hsize_t *largest_chunk);

/** Creates an HDF5 file, over what has its name: no time stamp on its root, no lock (the name is ours alone, and some network file systems have none). */
hid_t store_part_file(const char *path);

#endif
