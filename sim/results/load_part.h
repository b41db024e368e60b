// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pieces of a result file that nobody vouches for. Part of load.h.
 */
#ifndef MOEFABRIC_RESULTS_LOAD_PART_H
#define MOEFABRIC_RESULTS_LOAD_PART_H

#include "results/column.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/** Opens what a name leads to, to be closed by the caller; H5I_INVALID_HID if there is nothing of the kind. */
hid_t load_part_open(hid_t parent, const char *name, H5I_type_t kind);

/** Whether a group surely has nothing of a name; false, too, if that cannot be read. What cannot be opened and is not absent is damaged. */
bool load_part_is_absent(hid_t group, const char *name);

/** A number attribute; false if it is not there or no number. */
bool load_part_number(hid_t object, const char *name, uint64_t *value);

/** A text attribute of variable length, to be freed by the caller; NULL if it is not there or no such text. */
char *load_part_text(hid_t object, const char *name);

/** Whether a dataset holds what a column of this type can be read from: texts of fixed length, whole numbers, or others; all of it in this very file. */
bool load_part_is_of_type(hid_t dataset, enum column_type type);

/** Opens an HDF5 file, without the lock that some network file systems do not have. */
hid_t load_part_file(const char *path);

#endif
