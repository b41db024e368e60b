// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What GPUs can do at most: dense peaks by precision, memory and its rate, SMs and power, each from its data sheet.
 */
#ifndef MOEFABRIC_TRAINING_GPU_H
#define MOEFABRIC_TRAINING_GPU_H

#include "config/experiment.h"

/** One kind of GPU. */
struct gpu {
    const char *name;
    double tflops[EXPERIMENT_PRECISIONS]; /**< dense, by enum experiment_precision; 0 = not offered */
    double fp32_tflops;                   /**< of CUDA cores, dense */
    double memory_gb;                     /**< 10^9 B */
    double memory_tb_per_s;               /**< peak, 10^12 B/s */
    uint32_t sms;                         /**< streaming multiprocessors */
    double power_w;                       /**< at most */
    const char *source;
};

/** Names by enum experiment_gpu, NULL-terminated. */
extern const char *const gpu_names[];

/** Bytes of a number, the scales of blocks left out. */
double gpu_element_bytes(enum experiment_precision precision);

/** The GPU of a configuration's choice. */
const struct gpu *gpu_find(enum experiment_gpu gpu);

#endif
