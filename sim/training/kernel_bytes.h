// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a layer's kernels beside matrices read and write: normalisation, residuals, conversion of numbers, activation, permutation of tokens. They take as long
 * as the memory takes.
 *
 * Each kernel by itself reads its inputs and writes its outputs, BF16; matrices in 8 or 4 bits read theirs converted by rows and by columns, for the
 * backward pass. Fused, a residual, its normalisation and conversion are one kernel (arXiv:2412.19437, section 3.5.1 names the last two), activation and conversion come with
 * the matrices before them, and tokens are permuted by the kernels that exchange them.
 */
#ifndef MOEFABRIC_TRAINING_KERNEL_BYTES_H
#define MOEFABRIC_TRAINING_KERNEL_BYTES_H

#include "training/training_step.h"

/** Bytes of memory of one token, forward. */
struct kernel_bytes {
    double before;  /**< in kernels that every token passes once */
    double experts; /**< in those of tokens at their experts, all experts of a token together */
};

/** Of a layer, under the setup's kernels; 0 if matrices are all that counts. */
struct kernel_bytes kernel_bytes_of(const struct training_setup *setup, enum model_layer layer);

#endif
