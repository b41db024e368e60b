// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Arrays of numbers in NumPy's format, from memory (numpy/lib/format.py, NEP 1): versions 1, 2 and 3, either byte order.
 *
 * The header is a Python dictionary with exactly the keys descr, fortran_order and shape. Whole and real numbers of 1 to 8 bytes are read; structures,
 * objects, texts, complex numbers and Fortran order (the first index runs fastest) are refused.
 */
#ifndef MOEFABRIC_WORKLOAD_NPY_H
#define MOEFABRIC_WORKLOAD_NPY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_LARGEST_DIMENSIONS = 8 };

/** An array, in memory that someone else owns. */
struct npy {
    uint32_t n_dimensions;
    uint64_t shape[NPY_LARGEST_DIMENSIONS];
    uint64_t count;      /**< product of shape */
    char kind;           /**< 'i' signed, 'u' unsigned, 'f' real, 'b' truth */
    uint32_t item_bytes; /**< 1, 2, 4 or 8 */
    bool big_endian;
    const unsigned char *data; /**< first number */
};

/** Reads the header of size bytes and checks that all numbers are there. name stands for the file in messages, which give the offset in bytes. */
bool npy_parse(const char *name, const void *bytes, size_t size, struct npy *array, struct error *error);

/** Number `index` of the array in its order; whole numbers beyond 2^53 are rounded. index is below count. */
double npy_value(const struct npy *array, uint64_t index);

#endif
