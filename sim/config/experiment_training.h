// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Section `training` of a configuration as typed values: the step around a layer, and what goes wrong in it.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_TRAINING_H
#define MOEFABRIC_CONFIG_EXPERIMENT_TRAINING_H

#include "config/experiment_place.h"

#include <stdbool.h>
#include <stdint.h>

enum { EXPERIMENT_GPUS_SIZE = 256 }; /* a list of GPUs, as gpu_list.h reads it */

/** Where rates of failures are from (training/failure_rates.h). */
enum experiment_failure_source {
    EXPERIMENT_FAILURE_SOURCE_NONE, /**< nothing fails */
    EXPERIMENT_FAILURE_SOURCE_LLAMA3,
    EXPERIMENT_FAILURE_SOURCE_RSC1,
    EXPERIMENT_FAILURE_SOURCE_RSC2,
    EXPERIMENT_FAILURE_SOURCES
};

/** Section `training.failures`: how often what interrupts training, and what follows. Durations in seconds. */
struct experiment_interruptions {
    enum experiment_failure_source rates;
    double gpu_mtbf_s, nic_mtbf_s, host_mtbf_s, nvlink_switch_mtbf_s, link_mtbf_s, leaf_mtbf_s, spine_mtbf_s,
        software_mtbf_s;   /**< of one each (software: of a GPU's share); 0 = as rates say */
    bool reroute;          /**< what fails above the leaves is routed around: nothing is interrupted */
    uint32_t host_gpus;    /**< GPUs that go out with their host */
    uint32_t warm_spares;  /**< GPUs that stand by, in whole hosts */
    double detection_s;    /**< until the job knows */
    double restart_s;      /**< from there to the first step */
    double warm_restart_s; /**< the same on a warm spare */
    double repair_s;       /**< until what failed can be used again */
    uint32_t runs;         /**< that are simulated */
    struct experiment_place place;
};

/** Section `training.stragglers`: GPUs that compute slower than others. */
struct experiment_stragglers {
    char slow_gpus[EXPERIMENT_GPUS_SIZE]; /**< of those that train, as gpu_list.h reads it; empty = none */
    double slow_gpu_clock;                /**< share of their clock that is left */
    double clock_deviation;               /**< standard deviation of all clocks, as a share */
    uint64_t seed;                        /**< of that */
    struct experiment_place place;        /**< of slow_gpus */
};

/** Section `training.checkpoint`. Durations in seconds. */
struct experiment_checkpoint {
    double interval_s; /**< of computing between two; 0 = the optimum */
    bool asynchronous; /**< GPUs wait for the copy to host memory alone */
    double bytes;      /**< of one; 0 = weights and optimiser */
    uint64_t storage_bytes_per_s;
    uint64_t copy_bytes_per_s; /**< of a GPU to its host */
    double cost_s;             /**< that training stands still for one; 0 = from bytes and rates */
    struct experiment_place place;
};

enum experiment_gpu {
    EXPERIMENT_GPU_H100,
    EXPERIMENT_GPU_H800,
    EXPERIMENT_GPU_H200,
    EXPERIMENT_GPU_B200,
    EXPERIMENT_GPU_GB200,
    EXPERIMENT_GPU_GB300,
    EXPERIMENT_GPU_B300,
};

/** What matrices are multiplied in. */
enum experiment_precision {
    EXPERIMENT_PRECISION_BF16,
    EXPERIMENT_PRECISION_FP8,
    EXPERIMENT_PRECISION_MXFP8,
    EXPERIMENT_PRECISION_NVFP4,
    EXPERIMENT_PRECISIONS
};

enum experiment_schedule {
    EXPERIMENT_SCHEDULE_1F1B,
    EXPERIMENT_SCHEDULE_INTERLEAVED,
    EXPERIMENT_SCHEDULE_1F1B_OVERLAP, /**< interleaved, one micro-batch's all-to-all behind another's computing */
};

/** How GPUs that share a sequence come by each other's keys and values (Megatron-Core's cp_comm_type). */
enum experiment_context_exchange {
    EXPERIMENT_CONTEXT_RING,       /**< passed on around the group behind the computing of scores */
    EXPERIMENT_CONTEXT_ALL_GATHER, /**< gathered before */
    EXPERIMENT_CONTEXT_ALL_TO_ALL, /**< whole sequences of a share of the heads */
};

/** What GPUs that follow each other have in common, beyond groups that share a layer. */
enum experiment_group_order {
    EXPERIMENT_GROUP_ORDER_DATA_PIPELINE, /**< copies of a stage follow each other, then stages */
    EXPERIMENT_GROUP_ORDER_PIPELINE_DATA, /**< stages of a copy follow each other, then copies */
};

/** Keys of `training` whose mistakes can be found later, when the model or the groups are known. */
enum experiment_training_key {
    EXPERIMENT_TRAINING_GPUS,
    EXPERIMENT_TRAINING_GLOBAL_BATCH,
    EXPERIMENT_TRAINING_LAYOUT,
    EXPERIMENT_TRAINING_PRECISION,
    EXPERIMENT_TRAINING_EXPERT_PRECISION,
    EXPERIMENT_TRAINING_ATTENTION_PRECISION,
    EXPERIMENT_TRAINING_LOGITS_PRECISION,
    EXPERIMENT_TRAINING_KEYS
};

/** training.gradient_collective, in the order of its names. */
enum experiment_collective {
    EXPERIMENT_COLLECTIVE_RINGS,
    EXPERIMENT_COLLECTIVE_HIERARCHICAL,
    EXPERIMENT_COLLECTIVE_NVLS,
    EXPERIMENT_COLLECTIVE_SHARP,
};

/** training.kernels, in the order of its names. */
enum experiment_kernels {
    EXPERIMENT_KERNELS_MATRICES,
    EXPERIMENT_KERNELS_SEPARATE,
    EXPERIMENT_KERNELS_FUSED,
    EXPERIMENT_KERNELS_FUSED_PERMUTE,
};

/** training.router, in the order of its names. */
enum experiment_router { EXPERIMENT_ROUTER_MATRICES, EXPERIMENT_ROUTER_CUDA_CORES, EXPERIMENT_ROUTER_TENSOR_CORES };

/** training.recompute, in the order of its names. */
enum experiment_recompute { EXPERIMENT_RECOMPUTE_NONE, EXPERIMENT_RECOMPUTE_OPERATORS, EXPERIMENT_RECOMPUTE_LAYERS };

/** training.expert_buffers, in the order of its names. */
enum experiment_expert_buffers { EXPERIMENT_EXPERT_BUFFERS_PAGED, EXPERIMENT_EXPERT_BUFFERS_WORST_CASE };

/** Section `training`: the step around the layer that is simulated. */
struct experiment_training {
    uint32_t gpus; /**< that train; 0 = those of the cluster */
    enum experiment_gpu gpu;
    uint32_t tensor_parallelism, context_parallelism, pipeline_parallelism, virtual_stages;
    enum experiment_context_exchange context_exchange;
    enum experiment_group_order group_order;
    bool overlap_tensor;      /**< collectives of tensor parallelism behind the matrices that need them */
    uint32_t sequence_tokens; /**< 0 = the preset's */
    uint32_t micro_batch;     /**< sequences */
    uint32_t global_batch;    /**< sequences of a step; 0 = no training described */
    enum experiment_schedule schedule;
    char pipeline_layout[256]; /**< layers of each virtual stage, comma-separated; auto */
    enum experiment_precision precision, expert_precision;
    double matrix_efficiency, attention_efficiency, expert_efficiency; /**< share of the peak */
    uint64_t launch_ps;                                                /**< of a kernel, by the host */
    uint32_t kernels_per_layer;                                        /**< forward */
    uint64_t kernel_gap_ps;                                            /**< from a kernel to the next */
    bool cuda_graphs;
    enum experiment_precision attention_precision; /**< of scores and values */
    enum experiment_precision logits_precision;    /**< of the output layer */
    bool overlap_gradients;                        /**< behind the backward passes that are left */
    uint32_t gradient_bytes, parameter_bytes;      /**< of an element on the network */
    uint64_t step_overhead_ps;                     /**< data, logging: on every GPU at the end */
    enum experiment_collective gradient_collective;
    enum experiment_kernels kernels;
    enum experiment_router router;
    enum experiment_recompute recompute;
    enum experiment_expert_buffers expert_buffers;
    bool memory_refuses;            /**< a step that does not fit is a mistake; else it is noted */
    bool overlap_parameters;        /**< gathered behind the next forward passes, but for what those need first */
    uint32_t optimiser_state_bytes; /**< of an element that is trained */
    double memory_efficiency;       /**< share of the memory's rate */
    uint64_t copied_tables_bytes;   /**< a recommender: smaller tables are on every GPU */
    uint64_t host_sync_ps;          /**< of a layer with experts, without graphs */
    uint64_t rank_skew_ps;          /**< the last GPU of an expert-parallel group comes so much later to an exchange */
    bool notify;                    /**< each exchange has a kernel before it that waits for the group too */
    bool contention;                /**< computing, exchanges and gradients at once slow each other */
    uint32_t gradient_sms;          /**< that kernels of gradients keep */
    bool defer_weight_gradients;    /**< computed where exchanges leave a GPU idle */
    uint32_t steps;                 /**< to the target; 0 = not known */
    uint32_t evaluation_batch;      /**< sequences that an evaluation takes forward; 0 = none */
    uint32_t evaluation_every;      /**< steps from one to the next */
    struct experiment_place place;  /**< of the section */
    struct experiment_place key_places[EXPERIMENT_TRAINING_KEYS];
    struct experiment_stragglers stragglers;
    struct experiment_interruptions failures;
    struct experiment_checkpoint checkpoint;
};

#endif
