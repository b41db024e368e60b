// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/gpu.h"

#include <stddef.h>

/* FP32: the same data sheets; NVL72 5,760 TFLOPS and HGX B200 and B300 600 TFLOPS in all. Data sheets print peaks with 2:4 sparsity; dense is half of that but where they print both. Tensor cores scale blocks (MXFP8, NVFP4) from Blackwell on. */
static const struct gpu gpus[] = {
    [EXPERIMENT_GPU_H100] = {"h100",
                             {989.5, 1979, 0, 0},
                             67,
                             80,
                             3.35,
                             132,
                             700,
                             "NVIDIA H100 data sheet, SXM5: 1,979 and 3,958 TFLOPS with sparsity, 3.35 TB/s, 700 W; "
                             "132 SMs: NVIDIA H100 white paper"},
    [EXPERIMENT_GPU_H800] =
        {"h800",
         {989.5, 1979, 0, 0},
         67,
         80,
         3.35,
         132,
         700,
         "as H100 SXM5, with NVLink of 400 GB/s (arXiv:2412.19437, section 3.1); 132 SMs: the same, section 3.2.2"},
    [EXPERIMENT_GPU_H200] =
        {"h200",
         {989.5, 1979, 0, 0},
         67,
         141,
         4.8,
         132,
         700,
         "NVIDIA H200 data sheet, SXM: 1,979 and 3,958 TFLOPS with sparsity, 4.8 TB/s, 700 W; SMs as H100"},
    [EXPERIMENT_GPU_B200] =
        {"b200",
         {2250, 4500, 4500, 9000},
         75,
         180,
         7.75,
         148,
         1000,
         "NVIDIA HGX B200: 36, 72 and 144 PFLOPS with sparsity, 62 TB/s for 8 GPUs; 148 SMs: as CUDA reports"},
    [EXPERIMENT_GPU_GB200] =
        {"gb200",
         {2500, 5000, 5000, 10000},
         80,
         186,
         8,
         148,
         1200,
         "NVIDIA GB200 NVL72: 360, 720 and 1,440 PFLOPS with sparsity, 576 TB/s for 72 GPUs; SMs as B200"},
    [EXPERIMENT_GPU_GB300] = {"gb300",
                              {2500, 5000, 5000, 15000},
                              80,
                              279,
                              8,
                              148,
                              1400,
                              "NVIDIA GB300 NVL72: 360 and 720 PFLOPS with sparsity, NVFP4 1,080 PFLOPS dense, 576 "
                              "TB/s for 72 GPUs; SMs as B200, NVIDIA prints 160 of a whole Blackwell Ultra"},
    [EXPERIMENT_GPU_B300] =
        {"b300",
         {2250, 4500, 4500, 13125},
         75,
         270,
         8,
         148,
         1100,
         "NVIDIA HGX B300: 36 and 72 PFLOPS with sparsity, NVFP4 105 PFLOPS dense for 8 GPUs, 8 TB/s each; "
         "270 GB: as submitted to MLPerf (mlcommons/training_results_v5.1, B300-SXM-270GB); SMs as B200; power: "
         "distributors, no primary figure seen"},
};

const char *const gpu_names[] = {"h100", "h800", "h200", "b200", "gb200", "gb300", "b300", NULL};

double gpu_element_bytes(enum experiment_precision precision) {
    static const double bytes[EXPERIMENT_PRECISIONS] = {2, 1, 1, 0.5};
    return bytes[precision];
}

const struct gpu *gpu_find(enum experiment_gpu gpu) {
    return &gpus[gpu];
}
