// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What GPUs can do at most: dense peaks by precision and memory, each from its data sheet.
 */
#ifndef MOEFABRIC_TRAINING_GPU_H
#define MOEFABRIC_TRAINING_GPU_H

#include "config/experiment.h"

/** One kind of GPU. */
struct gpu {
    const char *name;
    double tflops[EXPERIMENT_PRECISIONS]; /**< dense, by enum experiment_precision; 0 = not offered */
    double memory_gb;                     /**< 10^9 B */
    const char *source;
};

/** The GPU of a configuration's choice. */
const struct gpu *gpu_find(enum experiment_gpu gpu);

#endif
