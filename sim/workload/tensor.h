// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An array of numbers in a file, NumPy .npy or HDF5, read block by block.
 */
#ifndef MOEFABRIC_WORKLOAD_TENSOR_H
#define MOEFABRIC_WORKLOAD_TENSOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_LARGEST_DIMENSIONS = 8 };

struct tensor;

/** Is this the name of such a file: .npy, .h5, .hdf5? */
bool tensor_is_named(const char *path);

/** Opens a file; of HDF5 the dataset of this name, or the only one if dataset is "". NULL with *error. Freed by tensor_close. */
struct tensor *tensor_open(const char *path, const char *dataset, struct error *error);

/** Closes it; NULL is allowed. */
void tensor_close(struct tensor *tensor);

/** Lengths of the dimensions; returns how many there are. */
uint32_t tensor_shape(const struct tensor *tensor, uint64_t shape[TENSOR_LARGEST_DIMENSIONS]);

/** Reads the block that begins at first[] and has count[] numbers in each dimension, in C order. False with *error if the file cannot be read. */
bool tensor_read(const struct tensor *tensor, const uint64_t *first, const uint64_t *count, double *values,
                 struct error *error);

#endif
