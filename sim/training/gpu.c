// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/gpu.h"

/* Data sheets print peaks with 2:4 sparsity; dense is half of that but where they print both. Tensor cores scale blocks (MXFP8, NVFP4) from Blackwell on. */
static const struct gpu gpus[] = {
    [EXPERIMENT_GPU_H100] = {"h100",
                             {989.5, 1979, 0, 0},
                             80,
                             "NVIDIA H100 data sheet, SXM5: 1,979 and 3,958 TFLOPS with sparsity"},
    [EXPERIMENT_GPU_H800] = {"h800",
                             {989.5, 1979, 0, 0},
                             80,
                             "as H100 SXM5, with NVLink of 400 GB/s (arXiv:2412.19437, section 3.1)"},
    [EXPERIMENT_GPU_H200] = {"h200",
                             {989.5, 1979, 0, 0},
                             141,
                             "NVIDIA H200 data sheet, SXM: 1,979 and 3,958 TFLOPS with sparsity"},
    [EXPERIMENT_GPU_B200] = {"b200",
                             {2250, 4500, 4500, 9000},
                             180,
                             "NVIDIA HGX B200: 36, 72 and 144 PFLOPS with sparsity for 8 GPUs"},
    [EXPERIMENT_GPU_GB200] = {"gb200",
                              {2500, 5000, 5000, 10000},
                              186,
                              "NVIDIA GB200 NVL72: 360, 720 and 1,440 PFLOPS with sparsity for 72 GPUs"},
    [EXPERIMENT_GPU_GB300] =
        {"gb300",
         {2500, 5000, 5000, 15000},
         279,
         "NVIDIA GB300 NVL72: 360 and 720 PFLOPS with sparsity, NVFP4 1,080 PFLOPS dense, for 72 GPUs"},
};

const struct gpu *gpu_find(enum experiment_gpu gpu) {
    return &gpus[gpu];
}
